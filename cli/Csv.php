<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** CSV (RFC 4180) as spreadsheets write it, with addresses in it. */
final class Csv
{
    private const OPEN = 'a quote in it has no end, so the lines after it are a part of it';
    private const MORE = 'it has more cells than the first line: a cell with a comma or a '
        . 'semicolon in it needs quotes';

    /**
     * The first line of a file, without a byte order mark.
     *
     * @param resource $file
     */
    public static function firstLine($file): string
    {
        return (string) preg_replace('/\A\xEF\xBB\xBF/', '', (string) fgets($file));
    }

    /**
     * The rows of a file, by the lines that they begin in. A first line with the word "address"
     * names the columns; without it there is one, the address.
     *
     * @param resource $file
     * @param string $first its first line, which has been read
     * @param list<string> $known columns whose names are these in upper or lower case
     * @return \Generator<int, array<string, string>|string> a string: why it cannot be taken
     */
    public static function rows($file, string $first, array $known): \Generator
    {
        $first = rtrim($first, "\r\n");
        $by = strcspn($first, ';') < strcspn($first, ',') ? ';' : ','; // Excel's, in many countries
        $cells = str_getcsv($first, $by, '"', '');
        $columns = count($cells);
        $names = self::names($cells, $known);
        if ($names === null) {
            $columns = PHP_INT_MAX; // of which the first is taken
            $names = ['address'];
            if ($first !== '') {
                yield 1 => self::row($names, $cells);
            }
        }
        for ($next = 2; ($cells = fgetcsv($file, null, $by, '"', '')) !== false;) {
            $line = $next;
            $next += 1 + array_sum(array_map(self::lineEnds(...), $cells));
            $isOpen = feof($file) && str_ends_with((string) end($cells), "\n");
            if ($next > $line + 1 && ($isOpen || preg_grep('/\n.*@/', $cells) !== [])) {
                yield $line => self::OPEN;
            } elseif (implode('', array_slice($cells, $columns)) !== '') {
                yield $line => self::MORE;
            } elseif ($cells !== [null] && $cells !== ['']) { // not an empty line
                yield $line => self::row($names, $cells);
            }
        }
    }

    /**
     * @param list<?string> $cells of the first line
     * @param list<string> $known
     * @return array<int, string>|null null: they are not names
     */
    private static function names(array $cells, array $known): ?array
    {
        $names = [];
        foreach ($cells as $cell) {
            $name = trim((string) $cell);
            $lower = strtolower($name);
            $names[] = in_array($lower, $known, true) ? $lower : $name;
        }
        $names = in_array('address', $names, true) ? array_diff($names, ['']) : null;
        $twice = array_keys(array_filter(array_count_values($names ?? []), fn ($n) => $n > 1));
        $twice === [] || throw new Stop("The first line names the column \"$twice[0]\" twice: "
            . 'name one of them in another way.', ExitCode::DATAERR);
        return $names;
    }

    /**
     * @param array<int, string> $names
     * @param array<int, ?string> $cells
     * @return array<string, string>
     */
    private static function row(array $names, array $cells): array
    {
        $row = [];
        foreach ($names as $i => $name) {
            $row[$name] = self::bare((string) ($cells[$i] ?? ''));
        }
        return $row;
    }

    private static function lineEnds(?string $cell): int
    {
        return substr_count((string) $cell, "\n");
    }

    /** A cell without what shielded() put before it. */
    private static function bare(string $cell): string
    {
        return (string) preg_replace('/\A\'(?=\'*[=+\-@])/', '', trim($cell));
    }

    /** A cell that no spreadsheet takes for a formula, as it does what begins with one of these. */
    private static function shielded(string $cell): string
    {
        return (string) preg_replace('/\A(?=\'*[=+\-@])/', "'", $cell);
    }

    /**
     * Writes a line.
     *
     * @param resource $file
     * @param list<string> $cells
     */
    public static function write($file, array $cells): void
    {
        fputcsv($file, array_map(self::shielded(...), $cells), ',', '"', '', "\r\n") !== false
            || throw new Stop('The file cannot be written.', ExitCode::IOERR);
    }
}
