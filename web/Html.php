<?php

declare(strict_types=1);

namespace MailQueue\Web;

/**
 * Markup that is safe to send. Text becomes markup only in escaped(), so no view can forget it.
 *
 * @phpstan-type Content self|string|int|null|list<self|string|int|null>
 */
final class Html
{
    private const VOID = ['br', 'img', 'input', 'link', 'meta'];
    /** Control characters, and those that turn the direction of the text. */
    private const STEERS = '/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x{9f}\x{61c}\x{200e}\x{200f}'
        . '\x{202a}-\x{202e}\x{2066}-\x{2069}]/u';

    private function __construct(public readonly string $markup)
    {
    }

    /**
     * An element. Attributes that are null or false are left out; true stands alone.
     *
     * @param array<string, string|int|bool|null> $attributes
     * @param Content ...$content
     */
    public static function e(string $tag, array $attributes = [], mixed ...$content): self
    {
        $markup = "<$tag";
        foreach ($attributes as $name => $value) {
            if ($value !== null && $value !== false) {
                $markup .= $value === true ? " $name" : " $name=\"" . self::escaped((string) $value)
                    . '"';
            }
        }
        return new self(in_array($tag, self::VOID, true) ? "$markup>"
            : "$markup>" . self::all(...$content)->markup . "</$tag>");
    }

    /** @param Content ...$content one after the other */
    public static function all(mixed ...$content): self
    {
        $markup = '';
        foreach ($content as $one) {
            $markup .= match (true) {
                $one instanceof self => $one->markup,
                is_array($one) => self::all(...$one)->markup,
                default => self::escaped((string) $one),
            };
        }
        return new self($markup);
    }

    public static function document(string $language, self $head, self $body): string
    {
        $html = self::e('html', ['lang' => $language], self::e('head', [], $head), $body);
        return "<!DOCTYPE html>\n$html->markup\n";
    }

    private static function escaped(string $text): string
    {
        $safe = htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE | ENT_HTML5, 'UTF-8');
        return (string) preg_replace(self::STEERS, "\u{fffd}", $safe);
    }
}
