<?php

declare(strict_types=1);

namespace MailQueue\Web;

/** The page's words in the reader's language. English texts are the keys of texts/de.php. */
final class Texts
{
    public const LANGUAGES = ['en' => 'English', 'de' => 'Deutsch'];

    /** @var array<string, string> English → the language */
    private readonly array $table;

    public function __construct(public readonly string $language)
    {
        $this->table = $language === 'en' ? [] : require __DIR__ . "/texts/$language.php";
    }

    /** The one that the reader chose, or else the browser's first that is known. */
    public static function of(Request $request): self
    {
        $wanted = $request->choice('language') ?? $request->cookie('mailqueue_language');
        $accepted = strtolower($request->server('HTTP_ACCEPT_LANGUAGE'));
        foreach ([$wanted, ...preg_split('/[,; -]+/', $accepted) ?: []] as $one) {
            if ($one !== null && isset(self::LANGUAGES[$one])) {
                return new self($one);
            }
        }
        return new self('en');
    }

    /** @param string|int $values for %s in the text */
    public function t(string $text, string|int ...$values): string
    {
        $known = $this->table[$text] ?? $text;
        return $values === [] ? $known : vsprintf($known, $values);
    }

    public function number(int|float $number, int $decimals = 0): string
    {
        return $this->language === 'de' ? number_format($number, $decimals, ',', '.')
            : number_format($number, $decimals);
    }

    /** With two digits: "about 1.2 million". */
    public function about(int $number): string
    {
        $step = 10 ** max(0, strlen((string) $number) - 2);
        $rounded = (int) round($number / $step) * $step;
        return $rounded < 1_000_000 ? $this->t('about %s', $this->number($rounded))
            : $this->t('about %s million', $this->number($rounded / 1_000_000, 1));
    }

    public function mails(int $count, bool $isEstimated = false): string
    {
        return $count === 1 ? $this->t('1 mail') : $this->t(
            '%s mails',
            $isEstimated ? $this->about($count) : $this->number($count)
        );
    }

    public function span(int $seconds): string
    {
        return match (true) {
            $seconds < 120 => $this->t('%s s', max(0, $seconds)),
            $seconds < 7200 => $this->t('%s min', intdiv($seconds, 60)),
            $seconds < 172800 => $this->t(
                '%s h %s min',
                intdiv($seconds, 3600),
                intdiv($seconds % 3600, 60)
            ),
            default => $this->t('%s days', intdiv($seconds, 86400)),
        };
    }

    public function ago(int $at): string
    {
        return $this->t('%s ago', $this->span(time() - $at));
    }

    public function time(?int $at): string
    {
        return $at === null ? '–' : gmdate('Y-m-d H:i:s\Z', $at);
    }
}
