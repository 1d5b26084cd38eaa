<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue;
use MailQueue\Cli\Stop;
use PDO;
use PDOStatement;

/** Checks the rows of the old table and turns them into mails of the queue. */
final class Copy
{
    /** @var array<string, int> mails by status; "sent": those that stay where they are */
    public array $counts = [];
    /** @var array<string, string> rows that stay where they are, and why */
    public array $left = [];
    public int $last = 0; // the largest id

    private readonly Row $convert;
    private readonly bool $hasId;
    private readonly string $order;
    private ?string $located = null; // the condition that finds a row by its key

    /** @param list<Column> $columns of the old table */
    public function __construct(
        private readonly Database $database,
        private readonly Names $names,
        private readonly Shape $shape,
        private readonly array $columns,
    ) {
        $this->convert = new Row($shape, $names->reference, time());
        $all = array_map(static fn (Column $c): string => strtolower($c->name), $columns);
        $this->hasId = in_array('id', $all, true);
        $this->order = $this->hasId || !in_array('next_attempt_at', $all, true) ? ''
            : ' ORDER BY ' . $database->quote('next_attempt_at');
    }

    /** Checks every row. Nothing is changed before it is known for each if it fits or stays. */
    public function check(string $table): void
    {
        $words = [];
        foreach ($this->database->rows($table, $this->order) as $key => $row) {
            try {
                $new = $this->convert->convert($row);
                $why = $new === null ? 'sent' : $this->why($row);
                if ($new === null || $why === null) {
                    $state = $new === null ? 'sent' : (string) $new['status'];
                    $this->counts[$state] = ($this->counts[$state] ?? 0) + 1;
                } else {
                    $this->left[$this->label($row, $key)] = $why;
                }
                $this->last = max($this->last, (int) ($new['id'] ?? (is_int($key) ? $key : 0)));
            } catch (Unfit $e) {
                if ($e->field !== 'status') {
                    throw Stop::config("Table $table cannot become the queue's: row "
                        . $this->label($row, $key) . ": {$e->getMessage()}. Nothing was changed.");
                }
                $words[$e->getMessage()] = ($words[$e->getMessage()] ?? 0) + 1;
            }
        }
        if ($words) {
            ksort($words);
            $list = array_map(
                static fn (string $word, int $count): string => "$word ($count)",
                array_keys($words),
                $words
            );
            throw Stop::config("Table $table cannot become the queue's: it has rows with the "
                . 'status ' . implode(', ', $list) . '. Delete those that were sent; give the '
                . 'others pending, failed, parked (not sent by itself) or sending (begun; it may '
                . 'have arrived). Nothing was changed.');
        }
        $this->unique($table);
    }

    /** @param array<string, mixed> $row */
    private function why(array $row): ?string
    {
        if ($this->shape === Shape::Jobs) {
            return null;
        }
        $message = Message::of($this->shape->read(array_change_key_case($row)));
        return is_string($message) ? $message : null;
    }

    /** @param array<string, mixed> $row */
    private function label(array $row, int|string|null $key): string
    {
        $row = array_change_key_case($row);
        $reference = Time::text($row[strtolower($this->names->reference)] ?? null);
        return (string) ($row['id'] ?? $key ?? "with the reference $reference");
    }

    private function unique(string $table): void
    {
        if ($this->shape !== Shape::Jobs) {
            return;
        }
        $quote = $this->database->quote(...);
        [$reference, $type] = [$quote($this->names->reference), $quote('mail_type')];
        $key = $this->hasId ? $quote('id') : ($this->database->isServer() ? $reference : 'rowid');
        $sql = "SELECT $reference, $type, MIN($key), MAX($key) FROM {$quote($table)} "
            . "WHERE $reference IS NOT NULL AND $reference <> '' GROUP BY $reference, $type "
            . 'HAVING COUNT(*) > 1 LIMIT 1';
        try {
            $result = $this->database->pdo->query($sql);
        } catch (\PDOException) {
            return; // no rowid: reference and type are its key
        }
        if ($result && ($pair = $result->fetch(PDO::FETCH_NUM))) {
            $shown = "(\"$pair[0]\", \"$pair[1]\")";
            throw Stop::config("Table $table cannot become the queue's: $shown is "
                . "queued more than once, in the rows $pair[2] and $pair[3] for example; "
                . 'reference and type are unique in the queue. Delete what need not be sent. '
                . 'Nothing was changed.');
        }
    }

    /** @return list<Column> what is copied as it is: the application's own, and what is new here */
    public function own(): array
    {
        $known = Row::names($this->names->reference);
        $isOwn = fn (Column $column): bool => !in_array(strtolower($column->name), $known, true)
            && $this->shape->isOwn(strtolower($column->name));
        return array_values(array_filter($this->columns, $isOwn));
    }

    /** @param list<Column> $own */
    public function addColumns(array $own): void
    {
        $ours = array_map(
            static fn (Column $column): string => strtolower($column->name),
            $this->database->columns($this->names->table)
        );
        foreach ($own as $column) {
            in_array(strtolower($column->name), $ours, true)
                || $this->database->addColumn($column);
        }
    }

    /** Mail that was stored after the old table was renamed gets ids above the old ones. */
    public function makeRoom(): void
    {
        $quote = $this->database->quote(...);
        [$table, $body] = $this->names->tables();
        $pdo = $this->database->pdo;
        $pdo->beginTransaction();
        $result = $pdo->query("SELECT MAX({$quote('id')}) FROM {$quote($table)}");
        $above = max($this->last, $result ? (int) $result->fetchColumn() : 0);
        foreach ([$table, $body] as $name) {
            $pdo->exec("UPDATE {$quote($name)} SET {$quote('id')} = {$quote('id')} + $above "
                . "WHERE {$quote('id')} <= $this->last");
        }
        $pdo->commit();
    }

    /**
     * Within the transaction.
     *
     * @param list<Column> $own
     */
    public function store(string $before, array $own): void
    {
        $queue = $this->shape === Shape::Jobs ? null : $this->names->queue($this->database->pdo);
        $statement = null;
        foreach ($this->database->rows($before, $this->order) as $key => $row) {
            $new = $this->convert->convert($row);
            if ($new === null) {
                continue;
            }
            $new['id'] ??= is_int($key) ? $key : null;
            if ($new['id'] === null) {
                unset($new['id']);
            }
            if ($queue !== null) {
                $this->storeMessage($queue, $row, $new, $key, $own, $before);
                continue;
            }
            $statement ??= $this->insert($new, $own, $before);
            $found = $own ? $this->found($row, $key) : [];
            self::execute($statement, [...array_values($new), ...$found]);
            if ($statement->rowCount() !== 1) {
                throw Stop::config("Table $before cannot be copied: row " . $this->label($row, $key)
                    . ' has neither an id nor a reference and type of its own. Give the table an '
                    . 'id. Nothing was changed.');
            }
        }
    }

    /**
     * The row, with the application's own columns as the database has them, of any type.
     *
     * @param array<string, int|string|null> $new
     * @param list<Column> $own
     */
    private function insert(array $new, array $own, string $before): PDOStatement
    {
        $quote = $this->database->quote(...);
        $names = array_map(static fn (Column $column): string => $quote($column->name), $own);
        $places = array_fill(0, count($new), '?');
        $into = "INSERT INTO {$quote($this->names->table)} ("
            . implode(', ', [...array_map($quote, array_keys($new)), ...$names]) . ') ';
        return $this->database->pdo->prepare($into . ($own
            ? 'SELECT ' . implode(', ', [...$places, ...$names])
                . " FROM {$quote($before)} WHERE {$this->condition($before)}"
            : 'VALUES (' . implode(', ', $places) . ')'));
    }

    private function condition(string $before): string
    {
        $quote = $this->database->quote(...);
        $this->located = $this->database->locate($before);
        return $this->located ?? ($this->hasId ? "{$quote('id')} = ?"
            : "{$quote($this->names->reference)} = ? AND {$quote('mail_type')} = ?");
    }

    /**
     * @param array<string, mixed> $row
     * @return list<mixed>
     */
    private function found(array $row, int|string|null $key): array
    {
        $row = array_change_key_case($row);
        return $this->located !== null ? [$key]
            : ($this->hasId ? [$row['id']]
                : [$row[strtolower($this->names->reference)], $row['mail_type']]);
    }

    /**
     * @param array<string, mixed> $row
     * @param array<string, int|string|null> $new
     * @param list<Column> $own
     */
    private function storeMessage(
        MailQueue $queue,
        array $row,
        array $new,
        int|string|null $key,
        array $own,
        string $before
    ): void {
        $message = Message::of($this->shape->read(array_change_key_case($row)));
        $id = is_string($message) ? $message : $message->store($queue);
        if (is_string($id)) {
            $this->left[$this->label($row, $key)] = $id;
            return;
        }
        $quote = $this->database->quote(...);
        $stays = ['mail_type', $this->names->reference, 'message_id', 'envelope_from', 'recipients',
            'refused', 'fields'];
        $set = array_diff_key($new, array_flip($stays));
        $setting = static fn (string $name): string => "{$quote($name)} = ?";
        $sets = array_map($setting, array_keys($set));
        foreach ($own as $column) {
            $sets[] = "{$quote($column->name)} = (SELECT {$quote($column->name)} FROM "
                . "{$quote($before)} WHERE {$this->condition($before)})";
        }
        $found = array_merge(...array_fill(0, count($own), $this->found($row, $key)), ...[[]]);
        [$table, $body] = $this->names->tables();
        self::execute(
            $this->database->pdo->prepare("UPDATE {$quote($table)} SET "
            . implode(', ', $sets) . " WHERE {$quote('id')} = ?"),
            [...array_values($set), ...$found, $id]
        );
        self::execute($this->database->pdo->prepare("UPDATE {$quote($body)} SET {$quote('id')} = ? "
            . "WHERE {$quote('id')} = ?"), [$set['id'] ?? $id, $id]);
    }

    /** @param list<mixed> $values */
    public static function execute(PDOStatement $statement, array $values): void
    {
        foreach ($values as $i => $value) {
            $statement->bindValue($i + 1, $value, match (true) {
                is_int($value) => PDO::PARAM_INT,
                $value === null => PDO::PARAM_NULL,
                default => PDO::PARAM_STR,
            });
        }
        $statement->execute();
    }
}
