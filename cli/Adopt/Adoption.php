<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue\Cli\Failure;
use MailQueue\Cli\Stop;

/**
 * Makes another program's table the queue's. On SQLite and PostgreSQL all changes are one
 * transaction. On MariaDB they are steps. There, the record in the config table is written before
 * the first step, and tells the next run where to go on:
 *
 *   record "begun" · drop what --drop-them drops · RENAME TABLE of all tables at once ·
 *   one transaction with the rows and the record "done"
 *
 * @phpstan-import-type About from AdoptionRecord
 */
final class Adoption
{
    private readonly AdoptionRecord $record;
    /** @var list<string> */
    private array $dropped = [];

    public function __construct(
        private readonly Database $database,
        private readonly Names $names,
    ) {
        $this->record = new AdoptionRecord($database, $names);
    }

    /** @return array<string, mixed> the report: what was done, or would be done */
    public function run(?string $word, bool $dryRun, bool $dropThem): array
    {
        $this->database->alone();
        $begun = $this->record->read();
        $begun = $begun !== null && $begun['state'] !== AdoptionRecord::DONE ? $begun : null;
        $found = $begun === null ? (new Finder($this->database, $this->names))->find($word)
            : $this->begun($begun, $word);
        [$source, $shape, $goesOn] = $found;
        $before = Names::before($source);
        $dependents = $goesOn ? [] : $this->dependents($source, $dropThem);
        $columns = $this->database->columns($goesOn ? $before : $source);
        $copy = new Copy($this->database, $this->names, $shape, $columns);
        $copy->check($goesOn ? $before : $source);
        self::orNothing($copy, $source);
        $own = $copy->own();
        $backup = null;
        if ($begun !== null && $goesOn) {
            $dryRun || $this->orBack($source, fn () => $this->store($copy, $own, $begun, false));
        } else {
            $this->database instanceof Mysql && $this->rehearse($shape, $columns, $copy, $source);
            $backup = $dryRun ? null : $this->database->backup();
            if (!$dryRun || $this->database->isOneTransaction()) {
                $lost = $begun['lost'] ?? [];
                $about = $this->about($source, $shape);
                $this->orBack($source, fn ()
                    => $this->change($copy, $about, $lost, $dryRun, $dropThem), $backup);
            }
        }
        return ['source' => $source, 'before' => $before, 'backup' => $backup]
            + $this->result($copy, $dependents);
    }

    /**
     * @param list<Dependent> $dependents
     * @return array<string, mixed>
     */
    private function result(Copy $copy, array $dependents): array
    {
        $what = array_map(static fn (Dependent $one): string => $one->what, $dependents);
        return ['counts' => $copy->counts, 'expired' => $copy->expired, 'left' => $copy->left,
            'othersNamed' => $copy->othersNamed,
            'children' => $this->database->children($this->names->table),
            'columns' => array_map(static fn (Column $one): string => $one->name, $copy->own()),
            'stay' => $copy->staying(),
            'dropped' => [...$this->dropped, ...$what]];
    }

    /** Refuses a table of which nothing can be adopted: its own program can still send it. */
    private static function orNothing(Copy $copy, string $source): void
    {
        if ($copy->copied() === 0 && $copy->left) {
            $more = count($copy->left) - 1;
            throw Stop::config("No row of $source can be adopted. Row "
                . array_key_first($copy->left) . ': ' . current($copy->left)
                . ($more ? " (and $more more rows)" : '')
                . '. Nothing was changed.');
        }
    }

    /**
     * Stores the rows under the staged names and undoes that: after RENAME TABLE it is too late.
     *
     * @param list<Column> $columns
     */
    private function rehearse(Shape $shape, array $columns, Copy $real, string $source): void
    {
        $staged = $this->names->staged();
        $copy = new Copy($this->database, $staged, $shape, $columns);
        try {
            $this->database->stage($copy->own(), $real->last);
            $staged->queue($this->database->pdo); // completes what a transaction cannot make
            $this->database->beginRows();
            $copy->store($source, $copy->own());
        } finally {
            Database::rollBack($this->database->pdo);
            $this->database->tidy();
        }
    }

    /**
     * Finds where an adoption that was killed goes on (MariaDB only).
     *
     * @param About $record
     * @return array{string, Shape, bool}
     */
    private function begun(array $record, ?string $word): array
    {
        $source = $record['source'];
        if ($record['state'] === AdoptionRecord::UNDOING) {
            throw Stop::config("An --undo of $source was interrupted: run mailqueue adopt --undo "
                . 'again to finish it. Nothing was changed.');
        }
        if ($word !== null && strcasecmp($word, $source) !== 0) {
            throw Stop::usage("The adoption of $source was interrupted: continue with mailqueue "
                . "adopt $source, or go back with mailqueue adopt --undo. Nothing was changed.");
        }
        $shape = Shape::tryFrom($record['shape']) ?? Shape::Jobs;
        if ($this->database->table(Names::before($source)) !== null) {
            return [$source, $shape, true];
        }
        (new Finder($this->database, $this->names))->check($source, $shape);
        return [$source, $shape, false];
    }

    /** @return list<Dependent> */
    private function dependents(string $source, bool $dropThem): array
    {
        $dependents = $this->database->dependents($source);
        if ($dependents && !$dropThem) {
            $list = array_map(static fn (Dependent $one): string => $one->what, $dependents);
            throw Stop::config("These refer to table $source: " . implode(', ', $list) . '. With '
                . '--drop-them views, foreign keys, and rules and triggers of other tables are '
                . 'dropped (--undo creates them again); the others stay with the old table. '
                . 'Nothing was changed.');
        }
        return $dependents;
    }

    /** @return About the first content of the record */
    private function about(string $source, Shape $shape): array
    {
        $table = $this->database->table($this->names->table);
        return ['state' => AdoptionRecord::BEGUN, 'source' => $source, 'shape' => $shape->value,
            'created' => $table === null || strcasecmp($source, $this->names->table) === 0,
            'config' => $this->database->table($this->names->config) === null,
            'rows' => '', 'objects' => [], 'lost' => []];
    }

    /**
     * @param About $about
     * @param list<array{string, string}> $known what a killed run had dropped
     */
    private function change(
        Copy $copy,
        array $about,
        array $known,
        bool $dryRun,
        bool $dropThem
    ): void {
        $dependents = $this->prepare($copy, $about, $dropThem);
        if ($this->database instanceof Mysql) {
            $this->database->lose($dependents, $known);
            $about['lost'] = $this->database->lost();
            $this->record->write($about);
        }
        $this->database->swap($about['source'], $dependents);
        $this->store($copy, $copy->own(), $about, $dryRun, $dropThem);
    }

    /**
     * Locks the tables, and checks again what can have changed before.
     *
     * @param About $about
     * @return list<Dependent>
     */
    private function prepare(Copy $copy, array $about, bool $dropThem): array
    {
        [$source, $queue] = [$about['source'], $this->names->table];
        $about['created'] && $this->database->stage($copy->own(), $copy->last);
        $this->database->begin($source, ...($about['created'] ? [] : [$queue]));
        (new Finder($this->database, $this->names))->checkThere($source);
        if (!$about['created']) {
            $this->database->addColumns($queue, $copy->own());
            $this->database->continueAfter($queue, $copy->last);
            (new Finder($this->database, $this->names))->checkEmpty($source);
        }
        return $this->dependents($source, $dropThem);
    }

    /**
     * @param list<Column> $own
     * @param About $about
     */
    private function store(
        Copy $copy,
        array $own,
        array $about,
        bool $dryRun,
        bool $dropThem = true
    ): void {
        $this->database->beginRows();
        $copy->store(Names::before($about['source']), $own);
        $this->dropped = $this->database->carryOver($about['source'], $dropThem);
        $lost = $this->database->isOneTransaction() ? $this->database->lost() : $about['lost'];
        // Rows may have come between the check and the lock. On MariaDB GAP leaves room.
        $this->database->isOneTransaction()
            && $this->database->continueAfter($this->names->table, $copy->last);
        $about['created'] && $this->record->version();
        // The number of copies: on MariaDB the queue may have newer mail already.
        $rows = $this->record->rows($this->names, $copy->copied());
        $objects = $about['created'] ? $this->database->objects($this->names->table) : [];
        $this->record->write(['state' => AdoptionRecord::DONE, 'lost' => $lost, 'rows' => $rows,
            'objects' => $objects] + $about);
        $dryRun ? Database::rollBack($this->database->pdo) : $this->database->commit();
        $this->database->tidy();
    }

    /** Runs $do. If it fails, takes back all changes and deletes the backup. */
    private function orBack(string $source, callable $do, ?string $backup = null): void
    {
        try {
            $do();
        } catch (\Throwable $e) {
            $e = $this->back($e, $source);
            $backup === null || @unlink($backup);
            throw $e;
        }
    }

    /** Takes back all changes, on MariaDB unless mail came since; returns the error to throw. */
    private function back(\Throwable $e, string $source): \Throwable
    {
        try {
            Database::rollBack($this->database->pdo);
            if ($this->database->isOneTransaction() || $this->record->read() === null) {
                $this->database->tidy();
                return $e;
            }
            $failed = (new Undo($this->database, $this->names))->run()['failed'];
            $end = $failed ? "Table $source is as it was. Could not be created again: "
                . implode('; ', $failed) : 'Nothing was changed.';
        } catch (\PDOException) { // a lost connection, or a lock
            if ($this->database->isOneTransaction()) {
                return $e;
            }
            $end = 'What was changed could not be undone: run mailqueue adopt --undo.';
        } catch (Stop) {
            if ($this->database->table(Names::before($source)) === null) {
                return $e; // tidy() found a table of another program
            }
            // Mail was stored in the queue meanwhile: there is only the way on.
            $end = 'The old table is ' . Names::before($source) . ' now: continue with mailqueue '
                . 'adopt, or go back with mailqueue adopt --undo.';
        }
        $text = $e instanceof \PDOException ? "The database refuses: {$e->getMessage()}"
            : str_replace(' Nothing was changed.', '', $e->getMessage());
        return new Stop(rtrim($text, '.') . ". $end", $e instanceof \PDOException
            ? Database::code($e) : Failure::code($e));
    }
}
