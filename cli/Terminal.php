<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** Output for people: columns, times, and colours on a terminal that wants them. */
final class Terminal
{
    public const BOLD = '1';
    public const RED = '31';
    public const GREEN = '32';
    public const YELLOW = '33';

    public static function paint(string $text, string $code): string
    {
        $plain = Arguments::environment('NO_COLOR') !== null || getenv('TERM') === 'dumb'
            || !stream_isatty(STDOUT);
        return $plain ? $text : "\e[{$code}m$text\e[0m";
    }

    public static function time(?int $at): string
    {
        return $at === null ? '-' : gmdate('Y-m-d H:i:s\Z', $at);
    }

    /** A number that is estimated, with two digits: "about 12,000", "about 1.2 million". */
    public static function about(int $number): string
    {
        $step = 10 ** max(0, strlen((string) $number) - 2);
        $rounded = (int) round($number / $step) * $step;
        return 'about ' . ($rounded < 1_000_000 ? number_format($rounded)
            : round($rounded / 1_000_000, 1) . ' million');
    }

    public static function span(int $seconds): string
    {
        return match (true) {
            $seconds < 120 => max(0, $seconds) . ' s',
            $seconds < 7200 => intdiv($seconds, 60) . ' min',
            $seconds < 172800 => intdiv($seconds, 3600) . ' h '
                . intdiv($seconds % 3600, 60) . ' min',
            default => intdiv($seconds, 86400) . ' days',
        };
    }

    /** Makes outside text safe: no character in it controls the terminal or the text direction. */
    public static function safe(?string $text): string
    {
        return $text === null ? '-'
            : preg_replace('/[\p{C}\p{Zl}\p{Zp}]/u', '?', $text)
            ?? (string) preg_replace('/[^ -~]/', '?', $text);
    }

    /** Makes outside text of several lines safe, line by line. */
    public static function safeLines(string $text): string
    {
        return implode("\n", array_map(self::safe(...), preg_split('/\r?\n/', $text) ?: []));
    }

    /** A word of a command, quoted for a shell if needed; it can be typed as shown. */
    public static function word(string $text): string
    {
        $octal = static fn (array $match): string => sprintf('\\%03o', ord($match[0]));
        return match (true) {
            preg_match('~\A[\w./:@+-]+\z~', $text) === 1 => $text,
            self::safe($text) === $text => escapeshellarg($text),
            default => '"$(printf \'' . preg_replace_callback(
                '/\A-|[^ -~]|[\'\\\\]/',
                $octal,
                str_replace('%', '%%', $text)
            ) . '\')"',
        };
    }

    public static function json(mixed $value, int $flags = JSON_PRETTY_PRINT): string
    {
        $text = json_encode($value, $flags | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE
            | JSON_PRESERVE_ZERO_FRACTION | JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR);
        // Escape what can steer a terminal: the same characters as mq_utf8_steers() in C.
        $steers = '/[\x7f-\x{9f}\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}]/u';
        $escaped = static fn (array $match): string => $match[0] === "\x7f" ? '\u007f'
            : trim(json_encode($match[0], JSON_THROW_ON_ERROR), '"');
        return preg_replace_callback($steers, $escaped, $text) ?? '';
    }

    /** Writes to standard error. If that is closed or full, the command goes on. */
    public static function error(string $line): void
    {
        @fwrite(STDERR, "$line\n");
    }

    /**
     * Prints a table. On a terminal, cuts the widest columns to fit.
     *
     * @param non-empty-list<non-empty-list<string>> $rows the first is the head
     * @param array<int, string> $notes a line below the row of that number
     */
    public static function table(array $rows, array $notes = []): void
    {
        $columns = self::columns(STDOUT);
        $widths = [];
        foreach (array_keys($rows[0]) as $i) {
            $widths[$i] = max([0, ...array_map(self::width(...), array_column($rows, $i))]);
        }
        $excess = array_sum($widths) + 2 * (count($widths) - 1) - $columns;
        for (; $excess > 0 && max($widths) > 8; $excess--) {
            $widths[array_search(max($widths), $widths, true)]--;
        }
        foreach ($rows as $n => $row) {
            $line = '';
            foreach ($row as $i => $cell) {
                $cell = self::cut($cell, $widths[$i]);
                $line .= $cell . str_repeat(' ', max(0, $widths[$i] - self::width($cell)) + 2);
            }
            echo $n === 0 ? self::paint(rtrim($line), self::BOLD) : rtrim($line), "\n";
            echo isset($notes[$n]) ? '      ' . self::cut($notes[$n], $columns - 6) . "\n" : '';
        }
    }

    /** On a terminal, wraps lines after an indent. $cuts: cut a word that is too long. */
    public static function wrap(string $text, int $indent, bool $cuts = true): string
    {
        $width = self::columns(STDOUT) - $indent;
        $lines = explode("\n", wordwrap($text, min($width, PHP_INT_MAX - 1)));
        $lines = $cuts ? array_map(
            static fn (string $line): string => self::cut($line, $width),
            $lines
        ) : $lines;
        return implode("\n" . str_repeat(' ', $indent), $lines);
    }

    public static function width(string $text): int
    {
        return function_exists('mb_strwidth') ? mb_strwidth($text, 'UTF-8')
            : (int) preg_match_all('/\X/u', $text);
    }

    private static function cut(string $text, int $width): string
    {
        if (self::width($text) <= $width) {
            return $text;
        }
        $kept = '';
        foreach (preg_split('//u', $text, -1, PREG_SPLIT_NO_EMPTY) ?: [] as $character) {
            if (self::width($kept . $character) >= $width) {
                break;
            }
            $kept .= $character;
        }
        return $kept . '…';
    }

    /**
     * The width of the terminal behind a stream; unlimited if the stream is not a terminal.
     *
     * @param resource $stream
     */
    public static function columns($stream): int
    {
        static $known = [];
        return $known[(int) $stream] ??= stream_isatty($stream) ? self::ask($stream) : PHP_INT_MAX;
    }

    /** @param resource $stream */
    private static function ask($stream): int
    {
        $pipes = [];
        $process = function_exists('proc_open') ? @proc_open(
            ['stty', 'size'],
            [$stream, ['pipe', 'w'], ['file', '/dev/null', 'w']],
            $pipes
        ) : false;
        $said = $process === false ? '' : (string) stream_get_contents($pipes[1]);
        $process === false || proc_close($process);
        $columns = (int) (explode(' ', trim($said))[1] ?? 0);
        return $columns > 0 ? $columns : 80;
    }

    /**
     * Reads a line that is not shown. PHP without pcntl cannot catch Ctrl+C, so a shell turns the
     * echo on again when this process closes its pipe, or ends. By then another program may own the
     * terminal; a process that ignores SIGTTOU can set it all the same.
     */
    public static function secret(string $prompt): string
    {
        $shell = "trap '' INT QUIT TERM HUP TTOU; stty -echo <&3; echo; read -r end; stty echo <&3";
        $isTerminal = stream_isatty(STDIN);
        $pipes = [];
        $guard = $isTerminal && function_exists('proc_open')
            ? @proc_open(['sh', '-c', $shell], [['pipe', 'r'], ['pipe', 'w'], 3 => STDIN], $pipes)
            : false;
        $guard === false || fgets($pipes[1]); // the echo is off
        $isTerminal && @fwrite(STDERR, $prompt);
        $line = rtrim((string) fgets(STDIN), "\r\n");
        if ($guard !== false) {
            self::error('');
            fclose($pipes[0]);
            proc_close($guard);
        }
        return $line;
    }
}
