<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

/** Reads values of another program's table. A date without an offset is UTC. */
final class Time
{
    private const JULIAN_1970 = 2440587.5;
    private const JULIAN_9999 = 5373484.5;
    private const DATE = '/\A(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?'
        . ' ?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?\z/i';

    /** Reads a time as UTC seconds; null: none is set; false: it cannot be read. */
    public static function read(mixed $value): int|false|null
    {
        $text = self::text($value);
        if ($text === '' || str_starts_with($text, '0000-00-00')) {
            return null;
        }
        if (is_float($value) && $value >= self::JULIAN_1970 && $value <= self::JULIAN_9999) {
            return (int) round(($value - self::JULIAN_1970) * 86400);
        }
        return is_int($value) || is_float($value) || preg_match('/\A\d+(?:\.\d*)?\z/', $text)
            ? self::scaled((int) $text) : self::date($text);
    }

    /** Takes seconds, milliseconds or microseconds; refuses what can be a date (20260131). */
    private static function scaled(int $number): int|false
    {
        return match (true) {
            $number >= 19000101 && $number <= 20991231 => false,
            abs($number) < 100_000_000_000 => $number,
            abs($number) < 10_000_000_000_000 => intdiv($number, 1000),
            $number >= 10 ** 15 && $number < 10 ** 16 => intdiv($number, 1_000_000),
            default => false,
        };
    }

    private static function date(string $text): int|false
    {
        if (!preg_match(self::DATE, $text, $part)
            || !checkdate((int) $part[2], (int) $part[3], (int) $part[1])) {
            return false;
        }
        [$hour, $minute, $second] = array_map(intval(...), array_slice($part, 4, 3)) + [0, 0, 0];
        $offset = $part[7] ?? '';
        if ($hour > 23 || $minute > 59 || $second > 59) {
            return false;
        }
        $at = gmmktime($hour, $minute, $second, (int) $part[2], (int) $part[3], (int) $part[1]);
        if ($at === false || !preg_match('/\A([+-])(\d\d):?(\d\d)?\z/', $offset, $by)) {
            return $at;
        }
        $seconds = (int) $by[2] * 3600 + (int) ($by[3] ?? 0) * 60;
        return $by[1] === '+' ? $at - $seconds : $at + $seconds;
    }

    /** Reads a whole number; null: none is set; false: it is not a whole number. */
    public static function whole(mixed $value): int|false|null
    {
        $text = self::text($value);
        if ($text === '') {
            return null;
        }
        $number = (string) (int) $text;
        $short = rtrim(rtrim($text, '0'), '.');
        return is_int($value) || $number === $text || $number === $short ? (int) $text : false;
    }

    public static function text(mixed $value): string
    {
        return match (true) {
            is_resource($value) => trim((string) stream_get_contents($value, -1, 0)), // bytea
            is_bool($value) => (string) (int) $value,
            is_scalar($value) => trim((string) $value),
            default => '',
        };
    }
}
