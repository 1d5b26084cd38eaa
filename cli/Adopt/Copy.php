<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Failure;
use MailQueue\Cli\Stop;
use MailQueue\MessageException;
use PDO;
use PDOException;
use PDOStatement;

/** Checks the rows of the old table and turns them into mails of the queue. */
final class Copy
{
    /** @var array<string, int> rows by status; those under "sent" are not copied */
    public array $counts = [];
    public int $expired = 0; // of those, the first run deletes
    /** @var array<string, string> rows that are not copied, and why */
    public array $left = [];
    /** @var list<string> rows whose headers name a recipient that their columns do not */
    public array $othersNamed = [];
    public int $last = 0; // the largest id of the old table

    private readonly Row $convert;
    private readonly bool $hasId;
    private readonly string $order;
    /** @var list<string> all columns in lower case */
    private readonly array $all;
    private ?string $located = null; // what Database::locate() returned
    private string $table = ''; // its name, in errors

    /** @param list<Column> $columns of the old table */
    public function __construct(
        private readonly Database $database,
        private readonly Names $names,
        private readonly Shape $shape,
        private readonly array $columns,
    ) {
        $this->convert = new Row($shape, $names->reference, time());
        $this->all = Column::names($columns);
        $this->hasId = in_array('id', $this->all, true);
        $this->order = $this->hasId || !in_array('next_attempt_at', $this->all, true) ? ''
            : ' ORDER BY ' . $database->quote('next_attempt_at');
    }

    /** Checks each row before any change: whether it can be copied, or stays in the old table. */
    public function check(string $table): void
    {
        [$this->counts, $this->left, $this->othersNamed, $words] = [[], [], [], []];
        $this->expired = 0;
        $this->table = $table;
        $this->checkColumns($table);
        $trial = $this->trial();
        $isPaired = $this->isPaired($table);
        foreach ($this->database->rows($table, $this->order) as $key => $row) {
            try {
                $new = $this->convert->convert($row);
                $isNameless = $new !== null && $new[$this->names->reference] === null;
                if ($isPaired && $isNameless) {
                    throw Stop::config("Table $table cannot be adopted with columns of its own, "
                        . 'as it has rows without any key: give it a primary key. Nothing was '
                        . 'changed.');
                }
                $new === null ? $this->count(null) : $this->look($row, $key, $new, $trial);
                $this->last = max($this->last, self::id($row, $key));
            } catch (Unfit $e) {
                $e->field === 'status' || throw $this->unfit($e, $row, $key);
                $words[$e->getMessage()] = ($words[$e->getMessage()] ?? 0) + 1;
            }
        }
        $words && throw self::unknown($table, $words);
        $this->unique($table);
    }

    private function checkColumns(string $table): void
    {
        foreach ($this->own() as $column) {
            $trouble = $column->trouble;
            foreach ($column->isGenerated ? Row::TIMES : [] as $time) {
                $trouble ??= Database::mentions($column->definition, $time)
                    ? "is computed from $time, which becomes a number. Drop it" : null;
            }
            if ($trouble !== null) {
                throw Stop::config("Table $table cannot become the queue's: its column "
                    . "$column->name $trouble. Nothing was changed.");
            }
        }
    }

    /** The id that a row without one gets: its rowid (SQLite only). */
    private static function rowid(int|string|null $key): ?int
    {
        return Row::isId($key) ? (int) $key : null;
    }

    /**
     * The id of a row; 0: none. No new mail may get it, nor that of a row that was sent, which logs
     * and other tables can name.
     *
     * @param array<string, mixed> $row
     */
    private static function id(array $row, int|string|null $key): int
    {
        $id = Time::whole(array_change_key_case($row)['id'] ?? null);
        return Row::isId($id) ? (int) $id : (int) self::rowid($key);
    }

    /** @param array<string, int> $words */
    private static function unknown(string $table, array $words): Stop
    {
        ksort($words);
        $list = array_map(
            static fn (string $word, int $count): string => "$word ($count)",
            array_keys($words),
            $words
        );
        return Stop::config("Table $table cannot become the queue's: it has rows with the "
            . 'status ' . implode(', ', $list) . '. Delete those that were sent; give the '
            . 'others pending, failed, parked (not sent by itself) or sending (begun; it may '
            . 'have arrived). Nothing was changed.');
    }

    /** @param array<string, int|string|null>|null $new null: it was sent */
    private function count(?array $new): void
    {
        $state = (string) ($new['status'] ?? 'sent');
        $this->counts[$state] = ($this->counts[$state] ?? 0) + 1;
        $end = $new['expires_at'] ?? null;
        $this->expired += in_array($state, ['pending', 'failed'], true)
            && $end !== null && $end <= time() ? 1 : 0;
    }

    /** The number of rows that became mails. */
    public function copied(): int
    {
        return array_sum(array_diff_key($this->counts, ['sent' => 0]));
    }

    /** Makes a queue in memory, which tells whether names and messages can be used as they are. */
    private function trial(): ?MailQueue
    {
        return extension_loaded('pdo_sqlite') ? $this->names->queue(new PDO('sqlite::memory:'))
            : null;
    }

    /**
     * Checks whether the extension itself would store such a mail.
     *
     * @param array<string, int|string|null> $new
     * @throws Unfit
     */
    private function try(array $new, MailQueue $trial): void
    {
        $text = static fn (string $name): ?string
            => $new[$name] === null ? null : (string) $new[$name];
        try {
            $id = $trial->enqueue(
                null,
                $text($this->names->reference),
                (string) $new['mail_type'],
                (int) $new['priority'],
                maxAttempts: $new['max_attempts'] === null ? null : (int) $new['max_attempts'],
                envelopeFrom: $text('envelope_from'),
                recipients: json_decode((string) $new['recipients'], true)
            );
            $trial->delete([(int) $id]);
        } catch (MessageException | \ValueError $e) {
            throw new Unfit('', Failure::text($e) . '. Correct it, or rename the column');
        }
    }

    /**
     * @param array<string, mixed> $row
     * @param array<string, int|string|null> $new
     */
    private function look(
        array $row,
        int|string|null $key,
        array $new,
        ?MailQueue $trial
    ): void {
        $trial === null || $this->try($new, $trial);
        $message = $this->shape === Shape::Jobs ? null
            : Message::of($this->shape->read(array_change_key_case($row)));
        $id = $message instanceof Message && $trial !== null ? $message->store($trial) : $message;
        if (is_string($id)) {
            $this->left[$this->label($row, $key)] = $id;
            return;
        }
        is_int($id) && $trial->delete([$id]);
        $this->count($new);
        if ($message instanceof Message && $message->namesOthers) {
            $this->othersNamed[] = $this->label($row, $key);
        }
    }

    /** @param array<string, mixed> $row */
    private function label(array $row, int|string|null $key): string
    {
        $row = array_change_key_case($row);
        $reference = Time::text($row[strtolower($this->names->reference)] ?? null);
        return (string) ($row['id'] ?? (is_int($key) ? $key : "with the reference $reference"));
    }

    /** Checks that no two rows have the same id, or the same pair of reference and type. */
    private function unique(string $table): void
    {
        $reference = $this->names->reference;
        $sets = [...($this->hasId ? [['id']] : []),
            ...($this->shape === Shape::Jobs ? [[$reference, 'mail_type']] : [])];
        foreach ($sets as $names) {
            $bytes = array_map(fn (string $name): string
                => $this->database->bytes($this->spelled(strtolower($name))), $names);
            $min = static fn (string $one): string => "MIN($one)";
            $shown = implode(', ', array_map($min, $bytes));
            $result = $this->database->pdo->query("SELECT $shown, COUNT(*) FROM "
                . "{$this->database->quote($table)} WHERE LENGTH($bytes[0]) > 0 GROUP BY "
                . implode(', ', $bytes) . ' HAVING COUNT(*) > 1 LIMIT 1');
            $row = $result ? $result->fetch(PDO::FETCH_NUM) : false;
            if (is_array($row)) {
                $times = array_pop($row);
                $shown = '("' . implode('", "', array_map(Time::text(...), $row)) . '")';
                throw Stop::config("Table $table cannot become the queue's: "
                    . implode(' and ', $names) . " $shown is there $times times, and must be "
                    . 'unique in the queue. Delete what need not be sent. Nothing was changed.');
            }
        }
    }

    /** @return list<Column> the application's own columns, which are copied as they are */
    public function own(): array
    {
        $known = Row::names($this->names->reference);
        $isOwn = fn (Column $column): bool => !in_array(strtolower($column->name), $known, true)
            && $this->shape->isOwn(strtolower($column->name), $this->all);
        return array_values(array_filter($this->columns, $isOwn));
    }

    /** @return list<string> the columns whose values stay in the old table */
    public function staying(): array
    {
        $others = array_diff($this->all, Column::names($this->own()));
        return $this->shape->leaves(array_values($others));
    }

    /**
     * Copies the rows, within the transaction.
     *
     * @param list<Column> $own
     */
    public function store(string $before, array $own): void
    {
        [$this->counts, $this->left, $this->expired] = [[], [], 0];
        $this->table = $this->table ?: $before;
        $trial = $this->trial();
        $isCopied = static fn (Column $one): bool => !$one->isGenerated;
        $own = array_values(array_filter($own, $isCopied));
        $queue = $this->shape === Shape::Jobs ? null : $this->names->queue($this->database->pdo);
        $statement = null;
        foreach ($this->database->rows($before, $this->order) as $key => $row) {
            try {
                $new = $this->convert->convert($row);
                $this->last = max($this->last, self::id($row, $key));
                if ($new === null) {
                    $this->count(null);
                    continue;
                }
                $trial === null || $this->try($new, $trial); // it may be newer than check()
                $new['id'] ??= self::rowid($key);
                $new = array_diff_key($new, $new['id'] === null ? ['id' => 0] : []);
                if ($queue !== null) {
                    $this->storeMessage($queue, $row, $new, $key, $own, $before);
                    continue;
                }
                $statement ??= $this->insert($new, $own, $before);
                $this->storeJob($statement, $row, $new, $own ? $this->found($row, $key) : [], $key);
            } catch (PDOException | Unfit $e) {
                throw $this->unfit($e, $row, $key);
            }
        }
    }

    /** @param array<string, mixed> $row */
    private function unfit(
        PDOException|Unfit $e,
        array $row,
        int|string|null $key
    ): PDOException|Stop {
        if ($e instanceof PDOException && Database::code($e) === ExitCode::TEMPFAIL) {
            return $e;
        }
        return $e instanceof Unfit && $e->field === 'status'
            ? self::unknown($this->table, [$e->getMessage() => 1])
            : Stop::config("Table $this->table cannot become the queue's: row "
                . "{$this->label($row, $key)}: {$e->getMessage()}. "
                . ($e instanceof Unfit ? '' : 'Correct it. ') . 'Nothing was changed.');
    }

    /**
     * @param array<string, mixed> $row
     * @param array<string, int|string|null> $new
     * @param list<mixed> $found
     */
    private function storeJob(
        PDOStatement $statement,
        array $row,
        array $new,
        array $found,
        int|string|null $key
    ): void {
        try {
            self::execute($statement, [...array_values($new), ...$found]);
        } catch (PDOException $e) {
            if (!$this->isQueued($e, $new)) {
                throw $e;
            }
            $this->left[$this->label($row, $key)] = 'its reference and type have been queued since';
            return;
        }
        if ($statement->rowCount() !== 1) {
            throw Stop::config('Row ' . $this->label($row, $key) . ' cannot be copied: its key '
                . 'finds no row, or several. Give the table a primary key of one column with '
                . 'numbers or text. Nothing was changed.');
        }
        $this->count($new);
    }

    /**
     * Whether the application stored the same reference and type after the renaming. Then that
     * later mail is sent, and the row stays in the old table.
     *
     * @param array<string, int|string|null> $new
     */
    private function isQueued(PDOException $e, array $new): bool
    {
        $quote = $this->database->quote(...);
        if ($this->database->isOneTransaction() || (string) $e->getCode() !== '23000') {
            return false;
        }
        $found = $this->database->pdo->prepare("SELECT COUNT(*) FROM {$quote($this->names->table)} "
            . "WHERE {$quote($this->names->reference)} = ? AND mail_type = ?");
        $found->execute([$new[$this->names->reference], $new['mail_type']]);
        return (int) $found->fetchColumn() > 0;
    }

    /**
     * Prepares the INSERT of a row. The application's own columns are copied within the database,
     * so they can have any type.
     *
     * @param array<string, int|string|null> $new
     * @param list<Column> $own
     */
    private function insert(array $new, array $own, string $before): PDOStatement
    {
        $quote = $this->database->quote(...);
        $names = array_map(static fn (Column $column): string => $quote($column->name), $own);
        $marks = array_fill(0, count($new), '?');
        $into = "INSERT INTO {$quote($this->names->table)} ("
            . implode(', ', [...array_map($quote, array_keys($new)), ...$names]) . ') ';
        return $this->database->pdo->prepare($into . ($own
            ? 'SELECT ' . implode(', ', [...$marks, ...$names])
                . " FROM {$quote($before)} WHERE {$this->condition($before)}"
            : 'VALUES (' . implode(', ', $marks) . ')'));
    }

    /** @return list<string> the columns that tell rows apart */
    private function key(): array
    {
        $isKey = static fn (Column $column): bool => $column->isKey;
        $names = Column::names(array_values(array_filter($this->columns, $isKey)));
        $pair = [strtolower($this->names->reference), 'mail_type'];
        return $names ?: ($this->hasId ? ['id'] : $pair);
    }

    /**
     * Whether the application's own columns must be copied although only reference and type
     * identify an old row (no id, no other key).
     */
    private function isPaired(string $table): bool
    {
        $pair = [strtolower($this->names->reference), 'mail_type'];
        return $this->key() === $pair && $this->own() && $this->database->locate($table) === null;
    }

    private function condition(string $before): string
    {
        $this->located = $this->database->locate($before);
        $is = fn (string $name): string => "{$this->database->quote($this->spelled($name))} = ?";
        return $this->located ?? implode(' AND ', array_map($is, $this->key()));
    }

    private function spelled(string $lower): string
    {
        return $this->columns[(int) array_search($lower, $this->all, true)]->name;
    }

    /**
     * @param array<string, mixed> $row
     * @return list<mixed>
     */
    private function found(array $row, int|string|null $key): array
    {
        $row = array_change_key_case($row);
        return $this->located !== null
            ? array_fill(0, substr_count($this->located, '?'), $key)
            : array_map(static fn (string $name): mixed => $row[$name], $this->key());
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
        $this->count($new);
        $quote = $this->database->quote(...);
        $stays = ['mail_type', $this->names->reference, 'message_id', 'envelope_from', 'recipients',
            'refused', 'fields', 'subject'];
        $set = array_diff_key($new, array_flip($stays));
        $setting = static fn (string $name): string => "{$quote($name)} = ?";
        $sets = array_map($setting, array_keys($set));
        foreach ($own as $column) {
            $sets[] = "{$quote($column->name)} = (SELECT {$quote($column->name)} FROM "
                . "{$quote($before)} WHERE {$this->condition($before)})";
        }
        $found = array_merge(...array_map(fn (): array => $this->found($row, $key), $own));
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
