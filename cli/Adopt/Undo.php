<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue\Cli\Move\Record;
use MailQueue\Cli\Stop;

/**
 * Undoes an adoption: restores the old table, if the queue has done nothing with its mail yet.
 *
 * On MariaDB it has steps: write the record "undoing" · RENAME TABLE of all tables at once · check
 * the queue's tables again, now that no program finds them, and rename all back if mail was stored
 * meanwhile · make again what was dropped · drop the queue's tables and delete the record.
 *
 * @phpstan-import-type About from Note
 */
final class Undo
{
    private const CHANGED = 'Mail was stored, sent or tried since: what was sent would be sent '
        . 'again, what was stored would be lost. The old table is there as ';

    private readonly Note $note;

    public function __construct(
        private readonly Database $database,
        private readonly Names $names,
    ) {
        $this->note = new Note($database, $names);
    }

    /** @return array<string, mixed> */
    public function run(): array
    {
        $this->database->alone();
        $note = $this->note->read();
        if ($note === null) {
            if ($this->database->tidy()) {
                return ['restored' => null, 'failed' => []]; // killed before any change
            }
            throw Stop::config('There is nothing to undo: no adoption is recorded here.');
        }
        $before = Names::before($note['source']);
        if ($note['state'] === Note::DONE && $this->database->table($before) === null) {
            throw Stop::config("There is nothing to undo: there is no table $before.");
        }
        if ($this->isThere($before) && $this->isThere($note['source'])
            && strcasecmp($note['source'], $this->names->table) !== 0) {
            throw Stop::config("A table $note[source] is there again: the old program has made it. "
                . "Stop that, copy its rows into $before and drop it. Nothing was changed.");
        }
        $failed = $this->database instanceof Mysql ? $this->inSteps($this->database, $note)
            : $this->atOnce($note);
        $this->database->tidy();
        return ['restored' => $note['source'], 'failed' => $failed];
    }

    /**
     * @param About $note
     * @return list<string>
     */
    private function atOnce(array $note): array
    {
        [$source, $before] = [$note['source'], Names::before($note['source'])];
        $tables = array_filter($this->names->tables(), $this->isThere(...));
        try {
            $this->database->begin($before, ...$tables);
            $this->check($note, $this->names);
            // A queue that is older than the adoption keeps its ledger of the hourly limit.
            foreach ($note['created'] ? $tables : array_slice($tables, 0, 2) as $table) {
                $table = $this->database->quote($table);
                $this->database->pdo->exec($note['created'] ? "DROP TABLE $table"
                    : "DELETE FROM $table");
            }
            $this->note->delete($note);
            // SQLite: a table with foreign keys was copied; `lost` has the SQL to make it again.
            $isCopy = preg_match('/\ACREATE\s+TABLE/i', $note['lost'][0][1] ?? '') === 1;
            $isCopy || $this->database->rename($before, $source);
            foreach ($note['lost'] as [, $sql]) {
                $this->database->pdo->exec($sql);
            }
            $this->database->commit();
        } catch (\Throwable $e) {
            $this->database->rollBack();
            throw $e;
        }
        return [];
    }

    private function isThere(string $table): bool
    {
        return $this->database->table($table) !== null;
    }

    /** @param About $note */
    private function check(array $note, Names $queue): void
    {
        if (!$this->isThere($queue->table)) {
            return;
        }
        if ($queue === $this->names) {
            $this->refuseMoved($note);
            $this->refuseNew($note);
        }
        $isSame = $note['rows'] === '' ? $this->database->count($queue->table) === 0
            : $this->note->rows($queue) === $note['rows'];
        if (!$isSame) {
            throw Stop::config(self::CHANGED . Names::before($note['source'])
                . '. Nothing was changed.');
        }
    }

    /**
     * Refuses if something was made for the queue's table since, which would be dropped with it.
     *
     * @param About $note
     */
    private function refuseNew(array $note): void
    {
        $new = array_diff($this->database->objects($this->names->table), $note['objects']);
        if ($note['objects'] && $new) {
            throw Stop::config('Since the adoption ' . implode(', ', $new) . ' came to '
                . "{$this->names->table}, and would be dropped with it. Drop it first. Nothing was "
                . 'changed.');
        }
    }

    /**
     * Refuses if the queue was moved: mail that another database sends must not come back here.
     *
     * @param About $note
     */
    private function refuseMoved(array $note): void
    {
        $queue = $this->names->queue($this->database->pdo);
        $to = Record::find($queue, Record::TO, $this->names->table);
        if ($to !== null) {
            throw Stop::config("The queue is moved to $to->other, which sends its mail: what is in "
                . Names::before($note['source']) . ' would be sent again. Nothing was changed.');
        }
    }

    /**
     * @param About $note
     * @return list<string> what could not be made again
     */
    private function inSteps(Mysql $database, array $note): array
    {
        $undoing = ['state' => Note::UNDOING] + $note;
        if ($this->isThere(Names::before($note['source']))) {
            $note['created'] ? $this->renameBack($database, $note, $undoing)
                : $this->empty($database, $note, $undoing);
        } elseif ($note['state'] === Note::UNDOING && $note['created']) {
            $this->look($database, $note);
        }
        $failed = $this->again($note);
        $database->tidy();
        $this->note->delete($note);
        return $failed;
    }

    /**
     * @param About $note
     * @param About $undoing
     */
    private function renameBack(Mysql $database, array $note, array $undoing): void
    {
        $this->check($note, $this->names);
        $database->tidy();
        $this->note->write($undoing);
        $pairs = [Names::before($note['source']) => $note['source']];
        $queue = array_combine($this->names->tables(), $this->names->staged()->tables());
        // The queue's table comes first, because the old table may get its name.
        $database->renameAll(array_filter($queue, $this->isThere(...), ARRAY_FILTER_USE_KEY)
            + $pairs);
        $this->look($database, $note);
    }

    /**
     * Checks the queue's tables once more, now that no program finds them. If mail was stored at
     * the last moment, renames all tables back.
     *
     * @param About $note
     */
    private function look(Mysql $database, array $note): void
    {
        try {
            $this->check($note, $this->names->staged());
        } catch (Stop $e) {
            $queue = array_combine($this->names->staged()->tables(), $this->names->tables());
            $database->renameAll([$note['source'] => Names::before($note['source'])]
                + array_filter($queue, $this->isThere(...), ARRAY_FILTER_USE_KEY));
            $state = $note['rows'] === '' ? Note::BEGUN : Note::DONE;
            $this->note->write(['state' => $state] + $note);
            throw $e;
        }
    }

    /**
     * For a queue older than the adoption: deletes all its rows or none, renames the old table.
     *
     * @param About $note
     * @param About $undoing
     */
    private function empty(Mysql $database, array $note, array $undoing): void
    {
        if ($note['state'] === Note::DONE) {
            try {
                $database->beginRows();
                $database->hold($this->names->table);
                $this->check($note, $this->names);
                foreach (array_slice($this->names->tables(), 0, 2) as $table) {
                    $database->pdo->exec("DELETE FROM {$database->quote($table)}");
                }
                $this->note->write($undoing);
                $database->commit();
            } catch (\Throwable $e) {
                $database->rollBack();
                throw $e;
            }
        }
        $database->rename(Names::before($note['source']), $note['source']);
    }

    /**
     * @param About $note
     * @return list<string> what could not be made again
     */
    private function again(array $note): array
    {
        $failed = [];
        $dependents = $this->database->dependents($note['source']);
        $there = array_map(static fn (Dependent $one): string => $one->what, $dependents);
        foreach ($note['lost'] as [$what, $sql]) {
            try {
                in_array($what, $there, true) || $this->database->pdo->exec($sql);
            } catch (\PDOException) {
                $failed[] = $sql;
            }
        }
        return $failed;
    }
}
