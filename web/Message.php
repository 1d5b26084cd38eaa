<?php

declare(strict_types=1);

namespace MailQueue\Web;

/** Reads what a person wants to see of a message: its headers, its text, its HTML. */
final class Message
{
    private const DEPTH = 10;

    private ?string $text = null;
    private ?string $html = null;

    public function __construct(private readonly string $source)
    {
        $this->part($source, self::DEPTH);
    }

    /** As they are on the wire. */
    public function headers(): string
    {
        return $this->split($this->source)[0];
    }

    public function text(): ?string
    {
        return $this->text;
    }

    public function html(): ?string
    {
        return $this->html;
    }

    /** @return array{string, string} headers and body */
    private function split(string $part): array
    {
        $parts = preg_split('/\r?\n\r?\n/', $part, 2) ?: [''];
        return [$parts[0], $parts[1] ?? ''];
    }

    private function part(string $part, int $depth): void
    {
        [$head, $body] = $this->split($part);
        $type = self::header($head, 'Content-Type') ?? 'text/plain';
        $boundary = self::parameter($type, 'boundary');
        if (preg_match('~\Amultipart/~i', $type) && $boundary !== null && $depth > 0) {
            $pieces = preg_split(
                '/(?:\A|\r?\n)--' . preg_quote($boundary, '/') . '(?:--)?[ \t]*(?:\r?\n|\z)/',
                $body
            ) ?: [];
            foreach (array_slice($pieces, 1) as $piece) {
                $this->part($piece, $depth - 1);
            }
            return;
        }
        if (stripos((string) self::header($head, 'Content-Disposition'), 'attachment') === 0) {
            return;
        }
        $text = static fn (): string => self::decoded($body, $head, $type);
        if (preg_match('~\Atext/html~i', $type)) {
            $this->html ??= $text();
        } elseif (preg_match('~\Atext/~i', $type)) {
            $this->text ??= $text();
        }
    }

    private static function header(string $head, string $name): ?string
    {
        return preg_match("/^$name:[ \t]*((?:[^\r\n]|\r?\n[ \t])*)/im", $head, $match) === 1
            ? (string) preg_replace('/\r?\n/', '', trim($match[1])) : null;
    }

    private static function parameter(string $value, string $name): ?string
    {
        return preg_match("/;\s*$name\s*=\s*(?:\"([^\"]*)\"|([^\s;]+))/i", $value, $match) === 1
            ? ($match[2] ?? $match[1]) : null;
    }

    private static function decoded(string $body, string $head, string $type): string
    {
        $bytes = match (strtolower((string) self::header($head, 'Content-Transfer-Encoding'))) {
            'base64' => (string) base64_decode($body),
            'quoted-printable' => quoted_printable_decode($body),
            default => $body,
        };
        $charset = self::parameter($type, 'charset') ?? 'UTF-8';
        if (preg_match('//u', $bytes) === 1 && !preg_match('/\A(iso-2022|utf-7)/i', $charset)) {
            return $bytes;
        }
        $converted = function_exists('iconv') ? @iconv($charset, 'UTF-8//IGNORE', $bytes) : false;
        return is_string($converted) ? $converted
            : (string) preg_replace('/[^\x09\x0a\x0d -~]/', '?', $bytes);
    }
}
