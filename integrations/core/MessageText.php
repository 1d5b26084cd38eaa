<?php

declare(strict_types=1);

namespace MailQueue\Bridge;

/**
 * Changes the text of a complete message: takes out the header fields that are meant for the queue,
 * and cuts lines that are too long.
 *
 * @internal
 */
final class MessageText
{
    private const PREFIX = 'x-mailqueue-';
    /** header field => parameter of enqueue() */
    private const FIELDS = [
        'X-MailQueue-Type' => 'type',
        'X-MailQueue-Reference' => 'reference',
        'X-MailQueue-Priority' => 'priority',
        'X-MailQueue-Max-Attempts' => 'maxAttempts',
        'X-MailQueue-Send-At' => 'sendAt',
        'X-MailQueue-Expires-At' => 'expiresAt',
        'X-MailQueue-Relay' => 'relay',
    ];
    /** Octets of a line without its end (RFC 5322, 2.1.1). */
    private const LINE_MAX = 998;
    /** A line over LINE_MAX. The pattern matches at line starts only, which is 40 times as fast. */
    private const LONG_LINE = '/(*ANYCRLF)^[^\r\n]{999,}/m';

    /**
     * Takes the X-MailQueue- fields out of a message. Fields that a DKIM-Signature covers stay:
     * without them the signature would no longer be valid.
     *
     * @return array{string, array<string, int|string>} the message, and parameters for enqueue()
     * @throws \MailQueue\Exception for a field that is not known or has no good value
     */
    public static function takeOptions(string $message): array
    {
        $length = self::headerLength($message);
        $header = substr($message, 0, $length);
        if (stripos($header, self::PREFIX) === false) {
            return [$message, []];
        }
        $fields = preg_split('/(?<=\n|\r(?!\n))(?![ \t])/', $header) ?: [];
        $signed = self::signedFields($fields);
        $options = [];
        foreach ($fields as $number => $field) {
            [$name, $value] = explode(':', $field, 2) + ['', ''];
            $name = rtrim($name);
            if (strncasecmp($name, self::PREFIX, strlen(self::PREFIX)) === 0) {
                [$key, $value] = self::option($name, self::unfold($value));
                $options[$key] = $value;
                if (!in_array(strtolower($name), $signed, true)) {
                    unset($fields[$number]);
                }
            }
        }
        return [implode('', $fields) . substr($message, $length), $options];
    }

    /**
     * Folds header lines of more than 998 octets: at the last blank within 998 octets or, without a
     * blank, after 997. If $body is true, cuts lines of the body in the same way.
     */
    public static function cutLongLines(string $message, bool $body): string
    {
        if (!preg_match(self::LONG_LINE, $message)) {
            return $message;
        }
        $length = self::headerLength($message);
        $header = self::cut(substr($message, 0, $length), "\t");
        $rest = substr($message, $length);
        return $header . ($body ? self::cut($rest, '') : $rest);
    }

    /** Length of the header, with the line end of its last field, without the empty line. */
    private static function headerLength(string $message): int
    {
        $found = preg_match('/(?>\r\n|\r|\n)(?=[\r\n])/', $message, $end, PREG_OFFSET_CAPTURE);
        return $found ? $end[0][1] + strlen($end[0][0]) : strlen($message);
    }

    private static function unfold(string $value): string
    {
        $value = trim(str_replace(["\r", "\n"], '', $value));
        if (!str_contains($value, '=?')) {
            return $value;
        }
        return match (true) {
            function_exists('iconv_mime_decode') =>
                (string) iconv_mime_decode($value, ICONV_MIME_DECODE_CONTINUE_ON_ERROR, 'UTF-8'),
            function_exists('mb_decode_mimeheader') => mb_decode_mimeheader($value),
            default => $value,
        };
    }

    /**
     * @param list<string> $fields
     * @return list<string> names in lower case
     */
    private static function signedFields(array $fields): array
    {
        $names = [];
        foreach (preg_grep('/^dkim-signature[ \t]*:/i', $fields) ?: [] as $field) {
            if (preg_match('/[:;]\s*h\s*=([^;]*)/', $field, $covered)) {
                $list = strtolower((string) preg_replace('/\s+/', '', $covered[1]));
                array_push($names, ...explode(':', $list));
            }
        }
        return $names;
    }

    /** @return array{string, int|string} a parameter of enqueue() and its value */
    private static function option(string $name, string $value): array
    {
        $key = array_change_key_case(self::FIELDS)[strtolower($name)] ?? '';
        return [$key, match ($key) {
            'type', 'reference', 'relay' => $value,
            'priority', 'maxAttempts' => self::number($name, $value),
            'sendAt', 'expiresAt' => self::time($name, $value),
            '' => throw new \MailQueue\Exception("$name: unknown; the fields for the queue are "
                . implode(', ', array_keys(self::FIELDS))),
        }];
    }

    private static function number(string $name, string $value): int
    {
        $number = filter_var($value, FILTER_VALIDATE_INT);
        return $number !== false ? $number
            : throw new \MailQueue\Exception("$name: not a number; give a whole one");
    }

    private static function time(string $name, string $value): int
    {
        if (preg_match('/^\d+$/D', $value)) {
            return (int) $value;
        }
        $time = $value === '' ? false : date_create_immutable($value);
        return $time !== false ? $time->getTimestamp()
            : throw new \MailQueue\Exception("$name: not a time; give seconds since 1970 or a date"
                . ' as DateTimeImmutable reads it');
    }

    private static function cut(string $text, string $indent): string
    {
        $fold = static function (array $match) use ($indent): string {
            $line = $match[0];
            $lines = [];
            $prefix = '';
            $start = 0;
            while (strlen($prefix) + strlen($line) - $start > self::LINE_MAX) {
                $piece = $prefix . substr($line, $start, self::LINE_MAX - strlen($prefix));
                $blank = strrpos($piece, ' ') ?: null;
                $end = $blank ?? self::LINE_MAX - 1;
                $lines[] = substr($piece, 0, $end);
                $start += $end - strlen($prefix) + ($blank === null ? 0 : 1);
                $prefix = $indent;
            }
            $lines[] = $prefix . substr($line, $start);
            return implode("\r\n", $lines);
        };
        return (string) preg_replace_callback(self::LONG_LINE, $fold, $text);
    }
}
