<?php

declare(strict_types=1);

namespace MailQueue\Cli\Move;

use MailQueue\Cli\Stop;
use MailQueue\Internal;
use MailQueue\Status;
use PDO;
use PDOException;

/**
 * Reads the jobs and bodies of one database. A row is a list of strings and nulls that does not
 * depend on the database: the columns in the order of their names, then the body.
 */
final class Rows
{
    private const PIECE_ROWS = 500;
    private const PIECE_BYTES = 8 << 20;
    private const PAGE_ROWS = 5000; // of a page, which is read without bodies

    /** @var array<string, string> the queue's columns and their types */
    public readonly array $columns;
    public readonly string $reference;
    /** @var array<string, int> */
    private readonly array $places;

    public function __construct(public readonly Store $store)
    {
        $columns = Internal::columns($store->queue);
        $this->reference = array_keys($columns)[1];
        ksort($columns);
        $this->columns = $columns;
        $this->places = array_flip(array_keys($columns));
    }

    /** @param list<?string> $row */
    public function of(array $row, string $column): ?string
    {
        return $row[$this->places[$column]];
    }

    /** @return iterable<int, list<?string>> rows above $from up to $to, by id */
    public function read(int $from, int $to, bool $bodies): iterable
    {
        $store = $this->store;
        $names = array_map(static fn (string $name): string => "$store->jobs."
            . $store->quoted($name), array_keys($this->columns));
        $statement = $store->run('SELECT ' . implode(', ', $names)
            . ($bodies ? ", $store->bodies.content" : '') . " FROM $store->jobs"
            . ($bodies ? " LEFT JOIN $store->bodies ON $store->bodies.id = $store->jobs.id" : '')
            . " WHERE $store->jobs.id > $from AND $store->jobs.id <= $to ORDER BY $store->jobs.id");
        while (true) {
            try {
                $row = $statement->fetch(PDO::FETCH_NUM);
            } catch (PDOException $e) {
                throw $store->failed($e);
            }
            if (!is_array($row)) {
                return;
            }
            yield (int) $row[$this->places['id']] => $this->clean($row);
        }
    }

    /**
     * @param array<mixed> $row
     * @return list<?string>
     */
    private function clean(array $row): array
    {
        foreach ($row as $i => $value) {
            $row[$i] = is_resource($value) ? (string) stream_get_contents($value)
                : (is_scalar($value) ? (string) $value : null);
        }
        $row[$this->places['paid']] = '0'; // nothing is being sent, so nothing is paid for
        $row = array_values($row);
        if (Status::tryFrom((string) $this->of($row, 'status')) === null) {
            throw Stop::config('mail ' . $this->of($row, 'id')
                . ' has an unknown status: correct it, or delete the mail');
        }
        return $row;
    }

    /** @param list<?string> $row */
    public static function hash(array $row): string
    {
        $text = '';
        foreach ($row as $value) {
            $text .= $value === null ? 'N' : 'V' . strlen($value) . ":$value";
        }
        return hash('sha256', $text, true);
    }

    /** @return array{array<int, string>, array<string, int>} hashes by id, numbers by status */
    public function hashes(int $from, int $to, bool $bodies): array
    {
        $hashes = $counts = [];
        foreach ($this->read($from, $to, $bodies) as $id => $row) {
            $hashes[$id] = self::hash($row);
            $status = (string) $this->of($row, 'status');
            $counts[$status] = ($counts[$status] ?? 0) + 1;
        }
        return [$hashes, $counts];
    }

    /**
     * Finds how many rows fit into one transaction.
     *
     * @return array{int, bool} the last id ($from if there is no row); whether there may be more
     */
    public function piece(int $from, int $to): array
    {
        $store = $this->store;
        $rows = $store->all("SELECT id, (SELECT length(content) FROM $store->bodies "
            . "WHERE $store->bodies.id = $store->jobs.id) FROM $store->jobs WHERE id > $from "
            . "AND id <= $to ORDER BY id LIMIT " . self::PIECE_ROWS);
        $octets = 0;
        foreach ($rows as $i => [$id, $length]) {
            $octets += (int) $length;
            if ($octets >= self::PIECE_BYTES || $i + 1 === self::PIECE_ROWS) {
                return [(int) $id, true];
            }
        }
        return [$rows ? (int) $rows[count($rows) - 1][0] : $from, false];
    }

    /** The last id of the page that follows $from; at most $to. */
    public function pageEnd(int $from, int $to): int
    {
        $id = $this->store->value("SELECT id FROM {$this->store->jobs} WHERE id > $from AND "
            . "id <= $to ORDER BY id LIMIT 1 OFFSET " . (self::PAGE_ROWS - 1));
        return $id === null ? $to : (int) $id;
    }

    /** @return array<int, string> the Message-IDs, which no two mails share, by id */
    public function ids(int $from, int $to): array
    {
        $rows = $this->store->all("SELECT id, message_id FROM {$this->store->jobs} "
            . "WHERE id > $from AND id <= $to");
        return array_map(strval(...), array_column($rows, 1, 0));
    }

    public function count(int $from, int $to): int
    {
        return (int) $this->store->value("SELECT count(*) FROM {$this->store->jobs} "
            . "WHERE id > $from AND id <= $to");
    }

    public function lastId(): int
    {
        return (int) $this->store->value("SELECT max(id) FROM {$this->store->jobs}");
    }

    /** @return list<string> columns that are not the queue's */
    public function foreignColumns(): array
    {
        $store = $this->store;
        $row = $store->run("SELECT * FROM $store->jobs LIMIT 0");
        $found = [];
        for ($i = 0; $i < $row->columnCount(); $i++) {
            $name = (string) ($row->getColumnMeta($i)['name'] ?? '');
            $isOwn = in_array(strtolower($name), array_map(
                strtolower(...),
                [...array_keys($this->columns), 'claimable', 'live_of'] // generated, on MySQL
            ), true);
            $isOwn || $found[] = $name;
        }
        return $found;
    }
}
