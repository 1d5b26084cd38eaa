<?php

declare(strict_types=1);

namespace MailQueue\Cli\Move;

use MailQueue\Cli\Terminal;

/**
 * Carries the counters and the history to the target, in the transaction that ends the move there:
 * then nothing is added twice, however often a run is interrupted, and nothing is left to take back
 * if the move is cancelled before. The source keeps its own.
 */
final class History
{
    private const ROWS_READ = 1000;
    private const ROWS_WRITTEN = 50; // 700 values: some builds of SQLite take at most 999
    private const OCTETS = 190; // of a mail type and a reference on MySQL
    private const COUNTERS = ['hour', 'mail_type', 'event', 'part', 'mails', 'recipients'];
    private const LOG = ['at', 'job_id', 'reference', 'mail_type', 'subject', 'relay', 'event',
        'phase', 'attempt', 'recipients', 'uncertain', 'reply', 'ms', 'waited'];

    public function __construct(
        private readonly Store $source,
        private readonly Store $target,
    ) {
    }

    /** Adds the source's to what the target has, within a transaction of the target. */
    public function carry(): void
    {
        $this->insert($this->target->counters, self::COUNTERS, $this->counters(), $this->adding());
        $list = implode(', ', self::LOG);
        for ($last = PHP_INT_MIN; ; $last = (int) $id) {
            $rows = $this->source->all("SELECT id, $list FROM {$this->source->log} "
                . "WHERE id > $last ORDER BY id LIMIT " . self::ROWS_READ);
            if ($rows === []) {
                return;
            }
            [$id] = $rows[count($rows) - 1];
            $this->insert($this->target->log, self::LOG, array_map(
                fn (array $row): array => $this->fit(array_slice($row, 1), 2, 3),
                $rows
            ));
        }
    }

    /** @return list<list<?string>> the source's counters without its parts, each key once */
    private function counters(): array
    {
        $sums = [];
        foreach ($this->source->all('SELECT hour, mail_type, event, 0, SUM(mails), SUM(recipients) '
            . "FROM {$this->source->counters} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3") as $row) {
            $row = $this->fit($row, 1);
            $key = "$row[0] $row[2] $row[1]";
            $row[4] = (string) ((int) $row[4] + (int) ($sums[$key][4] ?? 0));
            $row[5] = (string) ((int) $row[5] + (int) ($sums[$key][5] ?? 0));
            $sums[$key] = array_values($row);
        }
        return array_values($sums);
    }

    /** The end of an INSERT that adds to a counter which is there. */
    private function adding(): string
    {
        [$begin, $new] = $this->target->kind === 'mysql'
            ? ['ON DUPLICATE KEY UPDATE', 'VALUES(%s)']
            : ['ON CONFLICT (hour, mail_type, event, part) DO UPDATE SET', 'excluded.%s'];
        $table = $this->target->counters;
        $add = static fn (string $name): string => "$name = $table.$name + " . sprintf($new, $name);
        return " $begin {$add('mails')}, {$add('recipients')}";
    }

    /**
     * @param list<string> $names
     * @param list<list<?string>> $rows
     */
    private function insert(string $table, array $names, array $rows, string $end = ''): void
    {
        $marks = '(' . implode(', ', array_fill(0, count($names), '?')) . ')';
        $into = "INSERT INTO $table (" . implode(', ', $names) . ') VALUES ';
        foreach (array_chunk($rows, self::ROWS_WRITTEN) as $some) {
            $lists = implode(', ', array_fill(0, count($some), $marks));
            $this->target->run("$into$lists$end", array_merge(...$some));
        }
    }

    /**
     * Changes texts that the target's columns cannot hold: no move is refused for an old text.
     *
     * @param list<mixed> $row
     * @param int ...$short where the reference and the mail type are
     * @return list<?string>
     */
    private function fit(array $row, int ...$short): array
    {
        foreach ($row as $i => $value) {
            $text = is_string($value) ? $value : null;
            $isUtf8 = $text === null || preg_match('/\A[^\0]*\z/u', $text) === 1;
            $row[$i] = match ($this->target->kind) {
                'pgsql' => $isUtf8 ? $text : Terminal::safe($text),
                'mysql' => $text !== null && in_array($i, $short, true)
                    ? substr($text, 0, self::OCTETS) : $text,
                default => $text,
            };
        }
        return $row;
    }

    /** Deletes the counters and the history, within a transaction. */
    public static function clear(Store $store): void
    {
        $store->run("DELETE FROM $store->counters");
        $store->run("DELETE FROM $store->log");
    }
}
