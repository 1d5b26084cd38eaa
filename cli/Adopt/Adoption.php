<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue\Cli\Stop;

/**
 * Makes another program's table the queue's. On SQLite this is one transaction. On servers the old
 * table is renamed first, and the same command continues if it was interrupted after that.
 */
final class Adoption
{
    private readonly Note $note;
    /** @var list<string> */
    private array $dropped = [];

    public function __construct(
        private readonly Database $database,
        private readonly Names $names,
    ) {
        $this->note = new Note($database, $names);
    }

    /** @return array<string, mixed> what was done, or would be */
    public function run(?string $word, bool $dryRun, bool $dropThem): array
    {
        [$source, $shape, $goesOn] = $this->source($word);
        $before = Names::before($source);
        $table = $goesOn ? $before : $source;
        $dependents = $goesOn ? [] : $this->database->dependents($source);
        if ($dependents && !$dropThem) {
            $list = array_map(static fn (Dependent $one): string => $one->what, $dependents);
            throw Stop::config("Table $source is named by: " . implode(', ', $list) . '. With '
                . '--drop-them views and foreign keys of other tables are dropped (--undo makes '
                . 'them again), the others stay with the old table. Nothing was changed.');
        }
        $copy = new Copy($this->database, $this->names, $shape, $this->database->columns($table));
        $copy->check($table);
        $backup = $dryRun ? null : $this->database->backup();
        $own = $dryRun && $this->database->isServer() ? $copy->own()
            : $this->change($copy, $source, $goesOn ? null : $dependents, $dryRun, $dropThem);
        return ['source' => $source, 'before' => $before, 'backup' => $backup,
            'counts' => $copy->counts, 'left' => $copy->left,
            'columns' => array_map(static fn (Column $column): string => $column->name, $own),
            'dropped' => [...$this->dropped,
                ...array_map(static fn (Dependent $one): string => $one->what, $dependents)]];
    }

    /**
     * The table, how to read it, and whether an adoption of it has begun.
     *
     * @return array{string, Shape, bool}
     */
    private function source(?string $word): array
    {
        $found = [];
        $names = [$this->names->table => Shape::Jobs, 'email_queues' => Shape::Messages,
            'mail_outbox' => Shape::Outbox];
        $isKnown = $word === null || isset($names[$word]);
        foreach ($isKnown ? $names : [$word => Shape::Messages] as $name => $shape) {
            if ($word === null || strcasecmp($word, $name) === 0) {
                $found = [...$found, ...$this->candidate($name, $shape)];
            }
        }
        if (count($found) === 1) {
            $this->check(...$found[0]);
            return $found[0];
        }
        throw $found ? Stop::usage('There are several tables to adopt: '
            . implode(', ', array_column($found, 0)) . '. Name one: mailqueue adopt TABLE')
            : Stop::config('There is nothing to adopt: '
                . ($word ?? "{$this->names->table}, email_queues or mail_outbox")
                . ' is not there, or is the queue\'s already.');
    }

    /** @return list<array{string, Shape, bool}> one, or none */
    private function candidate(string $name, Shape $shape): array
    {
        $table = $this->database->table($name);
        if ($table !== null && !$this->isOurs($table)) {
            return [[$table, $shape, false]];
        }
        $before = $this->database->table(Names::before($name));
        return $before !== null && $this->database->isServer() && $this->note->read() === null
            ? [[substr($before, 0, -strlen('_before')), $shape, true]] : [];
    }

    private function isOurs(string $table): bool
    {
        $names = array_map(
            static fn (Column $column): string => strtolower($column->name),
            $this->database->columns($table)
        );
        return !array_diff(['id', 'parked_for', 'message_id', 'paid'], $names);
    }

    private function check(string $source, Shape $shape, bool $goesOn): void
    {
        $before = Names::before($source);
        if (!$goesOn && $this->database->table($before) !== null) {
            throw Stop::config("Table $before is there already, and $source would be called so: "
                . 'rename or drop it. Nothing was changed.');
        }
        $columns = array_map(
            static fn (Column $column): string => strtolower($column->name),
            $this->database->columns($goesOn ? $before : $source)
        );
        $lacks = $shape->lacks($columns, $this->names->reference);
        if ($lacks) {
            $isReference = $shape === Shape::Jobs && $lacks[0] === $this->names->reference;
            throw Stop::config("Table $source is not a mail queue that is known: it lacks "
                . implode(', ', $lacks) . '. ' . ($isReference ? 'Name the column of references '
                . 'with --reference-column, or give' : 'Give') . ' the queue another --table. '
                . 'Nothing was changed.');
        }
        $this->checkQueue($source);
    }

    /** The queue that mails of another table go to. */
    private function checkQueue(string $source): void
    {
        $table = $this->database->table($this->names->table);
        if ($table === null || strcasecmp($table, $source) === 0) {
            foreach (array_slice($this->names->tables(), 1) as $name) {
                if ($this->database->table($name) !== null) {
                    throw Stop::config("A table $name is there already, which the queue needs for "
                        . 'itself: rename it. Nothing was changed.');
                }
            }
            return;
        }
        if (!$this->isOurs($table)) {
            throw Stop::config("Table $table is another program's: adopt that first (mailqueue "
                . "adopt $table), or give the queue another --table. Nothing was changed.");
        }
        if ($this->isInUse()) {
            throw Stop::config("The queue $table has mail already, whose ids would be those of "
                . "$source: let it be sent first (mailqueue work), or give the queue another "
                . '--table. Nothing was changed.');
        }
    }

    private function isInUse(): bool
    {
        $result = $this->database->pdo->query('SELECT COUNT(*) FROM '
            . $this->database->quote($this->names->table));
        return $result && (int) $result->fetchColumn() > 0;
    }

    /**
     * @param list<Dependent>|null $dependents null: the table is renamed already
     * @return list<Column> the columns of the application's own
     */
    private function change(
        Copy $copy,
        string $source,
        ?array $dependents,
        bool $dryRun,
        bool $dropThem
    ): array {
        $before = Names::before($source);
        $created = $dependents === null || strcasecmp($source, $this->names->table) === 0
            || $this->database->table($this->names->table) === null;
        $this->database->begin();
        try {
            $dependents === null || $this->database->rename($source, $before, $dependents);
            $this->database->create();
            $this->database->isServer() && $copy->makeRoom();
            $own = $copy->own();
            $copy->addColumns($own);
            $this->database->continueAfter($copy->last);
            $this->database->isServer() && $this->database->pdo->beginTransaction();
            $copy->store($before, $own);
            $this->dropped = $this->database->carryOver($source, $dropThem);
            $this->note->write($source, $created);
            $this->database->pdo->exec($dryRun ? 'ROLLBACK' : 'COMMIT');
            return $own;
        } catch (\Throwable $e) {
            throw $this->back($e, $source);
        }
    }

    /** On a server the table has its new name already. */
    private function back(\Throwable $e, string $source): \Throwable
    {
        try {
            $this->database->pdo->exec('ROLLBACK');
        } catch (\PDOException) {
            // It failed outside of a transaction.
        }
        if ($e instanceof Unfit) {
            $e = Stop::config("A row was changed meanwhile: {$e->getMessage()}");
        }
        $isThere = $this->database->table(Names::before($source)) !== null;
        if (!$this->database->isServer() || !$isThere) {
            return $e;
        }
        return Stop::config(rtrim($e->getMessage(), '.') . ". The old table is $source" . '_before '
            . 'now: mailqueue adopt goes on, mailqueue adopt --undo gives it its name again.');
    }
}
