<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue;
use MailQueue\DatabaseException;

/** An error's exit code, and its text for people or as JSON. */
final class Failure
{
    public static function code(\Throwable $e): int
    {
        return match (true) {
            $e instanceof Stop => $e->getCode(),
            $e instanceof DatabaseException => match ($e->reason) {
                'cantopen', 'corrupt' => ExitCode::CANTCREAT,
                'readonly' => ExitCode::NOPERM,
                'busy', 'full', 'io', 'replaced' => ExitCode::TEMPFAIL,
                default => ExitCode::CONFIG,
            },
            // Out of memory, here or in the server.
            $e instanceof MailQueue\Exception && $e->getCode() === ExitCode::TEMPFAIL
                => ExitCode::TEMPFAIL,
            $e instanceof MailQueue\Exception, $e instanceof \ValueError => ExitCode::CONFIG,
            default => ExitCode::SOFTWARE,
        };
    }

    /** Turns "MailQueue::__construct(): Argument #2 ($table) must be" into "the table must be". */
    public static function text(\Throwable $e): string
    {
        $isName = '/^MailQueue(?:\\\\(?:Backoff|Internal))?::\w+\(\): Argument #\d+ \(\$(\w+)\) /';
        if (!$e instanceof \ValueError || !preg_match($isName, $e->getMessage(), $match)) {
            return $e->getMessage();
        }
        $words = strtolower((string) preg_replace('/[A-Z]/', ' $0', $match[1]));
        return "the $words " . substr($e->getMessage(), strlen($match[0]));
    }

    /**
     * Prints what went wrong; returns the exit code. For a report of a mail server it is TEMPFAIL:
     * other codes make the server give the report up.
     *
     * @param list<string> $argv
     */
    public static function show(string $text, int $code, array $argv): int
    {
        $isReport = self::command($argv) === 'bounce' && !stream_isatty(STDIN);
        $code = $isReport ? ExitCode::TEMPFAIL : $code;
        $text .= str_contains($text, 'Too many open files')
            ? ' (Raise the limit of open files: ulimit -n.)' : '';
        $end = array_search('--', $argv, true);
        $options = array_slice($argv, 1, is_int($end) && $end > 0 ? $end : null);
        Terminal::error(in_array('--json', $options, true)
            ? Terminal::json(['error' => $text, 'exit' => $code], 0)
            : 'mailqueue: ' . Terminal::safe(preg_replace('/[ \r\n]*\n[ \r\n]*/', ' ', $text)));
        return $code;
    }

    /**
     * The first word that is neither an option nor an option's value; null: there is none.
     *
     * @param list<string> $argv
     */
    private static function command(array $argv): ?string
    {
        for ($i = 1; isset($argv[$i]); $i++) {
            if (!str_starts_with($argv[$i], '--')) {
                return $argv[$i];
            }
            $option = preg_quote(substr($argv[$i], 2), '/');
            $i += count(preg_grep("/^$option=/", array_keys(Commands::GLOBAL)) ?: []);
        }
        return null;
    }
}
