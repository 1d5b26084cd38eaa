<?php

declare(strict_types=1);

namespace MailQueue\Cli\Move;

use MailQueue\Cli\Adopt\Names;
use MailQueue\Cli\Stop;

/**
 * Copies the suppressions, whose hashes and numbers are those of the source's key and mails: the
 * settings take the key along.
 */
final class Suppressions
{
    private const KEY = 'mailSuppressionKey';
    private const ROWS_READ = 1000;
    private const ROWS_WRITTEN = 100;
    private const COLUMNS = ['seq', 'hash', 'scope', 'reason', 'address', 'source', 'created_at'];

    public function __construct(
        private readonly Store $source,
        private readonly Store $target,
    ) {
    }

    /**
     * Refuses to replace a key by which other job tables of the target find their suppressions:
     * a config table has only one.
     */
    public function check(): void
    {
        [$source, $target] = [$this->source, $this->target];
        $key = $source->queue->config(self::KEY);
        if ($key === null || $key === $target->queue->config(self::KEY)) {
            return;
        }
        foreach ($target->otherTables() as $table) {
            $names = array_intersect_key((new Names($table))->tables(), [6 => 1, 8 => 1, 9 => 1]);
            if (array_filter($names, $target->hasRows(...)) !== []) {
                throw Stop::config("the target has another job table, $table, with suppressions, "
                    . 'recipients of campaigns or bounces. Both use one config table, and the '
                    . 'move would replace the key there by which these are found (' . self::KEY
                    . '): move into another database or schema');
            }
        }
    }

    /**
     * Puts the source's in the place of the target's, within a transaction of the target. Mail that
     * the target got itself, from the id $base on, was compared with the target's numbers.
     *
     * @return list<array{string, string, string, ?string, int}> the target's own with an address,
     *     as Internal::suppressMany() takes them
     */
    public function copy(int $base): array
    {
        $own = [];
        foreach ([$this->source, $this->target] as $store) {
            $store->lock('mailSuppressed'); // as each suppression does
        }
        $this->check(); // once more: others may have got suppressions meanwhile
        foreach ($this->target->all('SELECT address, reason, scope, source, created_at FROM '
            . "{$this->target->suppressions} WHERE address IS NOT NULL ORDER BY seq") as $row) {
            [$address, $reason, $scope, $source, $at] = $row;
            $own[] = [self::text($address), self::text($reason), self::text($scope),
                is_string($source) ? $source : null, (int) self::text($at)];
        }
        $this->target->run("DELETE FROM {$this->target->suppressions}");
        $this->copyBounces();
        $this->target->run("UPDATE {$this->target->jobs} SET cleared = NULL WHERE id >= ? "
            . 'AND cleared IS NOT NULL', [$base]);
        $list = implode(', ', self::COLUMNS);
        for ($last = 0; ; $last = (int) self::text($rows[count($rows) - 1][0])) {
            $rows = $this->source->all("SELECT $list FROM {$this->source->suppressions} "
                . "WHERE seq > $last ORDER BY seq LIMIT " . self::ROWS_READ);
            if ($rows === []) {
                return $own;
            }
            foreach (array_chunk($rows, self::ROWS_WRITTEN) as $some) {
                $this->write($list, $some);
            }
        }
    }

    /** They have hashes of the source's key; with them soft bounces go on being counted. */
    private function copyBounces(): void
    {
        $this->target->run("DELETE FROM {$this->target->bounces}");
        for ($hash = $event = PHP_INT_MIN; ;) {
            $rows = $this->source->all('SELECT hash, event, at, kind, n FROM '
                . "{$this->source->bounces} WHERE hash > $hash OR hash = $hash AND event > $event "
                . 'ORDER BY hash, event LIMIT ' . self::ROWS_WRITTEN);
            if ($rows === []) {
                return;
            }
            $values = [];
            foreach ($rows as $row) {
                [$hash, $event, $at, $n] = array_map(
                    static fn (mixed $number): int => (int) self::text($number),
                    [$row[0], $row[1], $row[2], $row[4]]
                );
                array_push($values, $hash, $event, $at, self::text($row[3]), $n);
            }
            $marks = implode(', ', array_fill(0, count($rows), '(?, ?, ?, ?, ?)'));
            $this->target->run("INSERT INTO {$this->target->bounces} (hash, event, at, kind, n) "
                . "VALUES $marks", $values);
        }
    }

    /** @param list<list<mixed>> $rows */
    private function write(string $list, array $rows): void
    {
        $values = [];
        foreach ($rows as [$seq, $hash, $scope, $reason, $address, $source, $at]) {
            array_push(
                $values,
                (int) self::text($seq),
                (int) self::text($hash),
                self::text($scope),
                self::text($reason),
                is_string($address) ? $address : null,
                is_string($source) ? $source : null,
                (int) self::text($at)
            );
        }
        $marks = implode(', ', array_fill(0, count($rows), '(?, ?, ?, ?, ?, ?, ?)'));
        $into = "INSERT INTO {$this->target->suppressions} ($list) VALUES ";
        $this->target->run("$into$marks", $values);
    }

    private static function text(mixed $value): string
    {
        return is_scalar($value) ? (string) $value : '';
    }
}
