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
 * @phpstan-import-type About from AdoptionRecord
 */
final class Undo
{
    private const CHANGED = 'Mail was stored, sent or tried since: what was sent would be sent '
        . 'again, what was stored would be lost. The old table is there as ';

    private readonly AdoptionRecord $record;

    public function __construct(
        private readonly Database $database,
        private readonly Names $names,
    ) {
        $this->record = new AdoptionRecord($database, $names);
    }

    /** @return array<string, mixed> */
    public function run(): array
    {
        $this->database->alone();
        $record = $this->record->read();
        if ($record === null) {
            if ($this->database->tidy()) {
                return ['restored' => null, 'failed' => []]; // killed before any change
            }
            throw Stop::config('There is nothing to undo: no adoption is recorded here.');
        }
        $before = Names::before($record['source']);
        if ($record['state'] === AdoptionRecord::DONE && $this->database->table($before) === null) {
            throw Stop::config("There is nothing to undo: there is no table $before.");
        }
        if ($this->isThere($before) && $this->isThere($record['source'])
            && strcasecmp($record['source'], $this->names->table) !== 0) {
            throw Stop::config("A table $record[source] is there again: the old program has made "
                . "it. Stop that, copy its rows into $before and drop it. Nothing was changed.");
        }
        $failed = $this->database instanceof Mysql ? $this->inSteps($this->database, $record)
            : $this->atOnce($record);
        $this->database->tidy();
        return ['restored' => $record['source'], 'failed' => $failed];
    }

    /**
     * @param About $record
     * @return list<string>
     */
    private function atOnce(array $record): array
    {
        [$source, $before] = [$record['source'], Names::before($record['source'])];
        $tables = array_filter($this->names->tables(), $this->isThere(...));
        try {
            $this->database->begin($before, ...$tables);
            $this->check($record, $this->names);
            // A queue that is older than the adoption keeps its ledger of the hourly limit.
            foreach ($record['created'] ? $tables : array_slice($tables, 0, 2) as $table) {
                $table = $this->database->quote($table);
                $this->database->pdo->exec($record['created'] ? "DROP TABLE $table"
                    : "DELETE FROM $table");
            }
            $this->record->delete($record);
            // SQLite: a table with foreign keys was copied; `lost` has the SQL to make it again.
            $isCopy = preg_match('/\ACREATE\s+TABLE/i', $record['lost'][0][1] ?? '') === 1;
            $isCopy || $this->database->rename($before, $source);
            foreach ($record['lost'] as [, $sql]) {
                $this->database->pdo->exec($sql);
            }
            $this->database->commit();
        } catch (\Throwable $e) {
            Database::rollBack($this->database->pdo);
            throw $e;
        }
        return [];
    }

    private function isThere(string $table): bool
    {
        return $this->database->table($table) !== null;
    }

    /** @param About $record */
    private function check(array $record, Names $queue): void
    {
        if (!$this->isThere($queue->table)) {
            return;
        }
        if ($queue === $this->names) {
            $this->refuseMoved($record);
            $this->refuseNew($record);
        }
        $record['created'] && $this->refuseLists($queue);
        $isSame = $record['rows'] === '' ? $this->database->count($queue->table) === 0
            : $this->record->rows($queue) === $record['rows'];
        if (!$isSame) {
            throw Stop::config(self::CHANGED . Names::before($record['source'])
                . '. Nothing was changed.');
        }
    }

    /** Refuses if suppressed addresses, campaigns or bounces would be dropped with the queue. */
    private function refuseLists(Names $queue): void
    {
        foreach (array_slice($queue->tables(), Names::LISTS_AT, null, true) as $i => $table) {
            if ($this->isThere($table) && $this->database->count($table) > 0) {
                throw Stop::config("Since the adoption rows came to {$this->names->tables()[$i]}, "
                    . 'which would be dropped. Save those that you need (mailqueue suppress '
                    . 'export), and delete them first. Nothing was changed.');
            }
        }
    }

    /**
     * Refuses if something was made for the queue's table since, which would be dropped with it.
     *
     * @param About $record
     */
    private function refuseNew(array $record): void
    {
        $new = array_diff($this->database->objects($this->names->table), $record['objects']);
        if ($record['objects'] && $new) {
            throw Stop::config('Since the adoption ' . implode(', ', $new) . ' came to '
                . "{$this->names->table}, and would be dropped with it. Drop it first. Nothing was "
                . 'changed.');
        }
    }

    /**
     * Refuses if the queue was moved: mail that another database sends must not come back here.
     *
     * @param About $record
     */
    private function refuseMoved(array $record): void
    {
        $queue = $this->names->queue($this->database->pdo);
        $to = Record::find($queue, Record::TO, $this->names->table);
        if ($to !== null) {
            throw Stop::config("The queue is moved to $to->other, which sends its mail: what is in "
                . Names::before($record['source']) . ' would be sent again. Nothing was changed.');
        }
    }

    /**
     * @param About $record
     * @return list<string> what could not be made again
     */
    private function inSteps(Mysql $database, array $record): array
    {
        $undoing = ['state' => AdoptionRecord::UNDOING] + $record;
        if ($this->isThere(Names::before($record['source']))) {
            $record['created'] ? $this->renameBack($database, $record, $undoing)
                : $this->empty($database, $record, $undoing);
        } elseif ($record['state'] === AdoptionRecord::UNDOING && $record['created']) {
            $this->look($database, $record);
        }
        $failed = $this->again($record);
        $database->tidy();
        $this->record->delete($record);
        return $failed;
    }

    /**
     * @param About $record
     * @param About $undoing
     */
    private function renameBack(Mysql $database, array $record, array $undoing): void
    {
        $this->check($record, $this->names);
        $database->tidy();
        $this->record->write($undoing);
        $pairs = [Names::before($record['source']) => $record['source']];
        $queue = array_combine($this->names->tables(), $this->names->staged()->tables());
        // The queue's table comes first, because the old table may get its name.
        $database->renameAll(array_filter($queue, $this->isThere(...), ARRAY_FILTER_USE_KEY)
            + $pairs);
        $this->look($database, $record);
    }

    /**
     * Checks the queue's tables once more, now that no program finds them. If mail was stored at
     * the last moment, renames all tables back.
     *
     * @param About $record
     */
    private function look(Mysql $database, array $record): void
    {
        try {
            $this->check($record, $this->names->staged());
        } catch (Stop $e) {
            $queue = array_combine($this->names->staged()->tables(), $this->names->tables());
            $database->renameAll([$record['source'] => Names::before($record['source'])]
                + array_filter($queue, $this->isThere(...), ARRAY_FILTER_USE_KEY));
            $state = $record['rows'] === '' ? AdoptionRecord::BEGUN : AdoptionRecord::DONE;
            $this->record->write(['state' => $state] + $record);
            throw $e;
        }
    }

    /**
     * For a queue older than the adoption: deletes all its rows or none, renames the old table.
     *
     * @param About $record
     * @param About $undoing
     */
    private function empty(Mysql $database, array $record, array $undoing): void
    {
        if ($record['state'] === AdoptionRecord::DONE) {
            try {
                $database->beginRows();
                $database->hold($this->names->table);
                $this->check($record, $this->names);
                foreach (array_slice($this->names->tables(), 0, 2) as $table) {
                    $database->pdo->exec("DELETE FROM {$database->quote($table)}");
                }
                $this->record->write($undoing);
                $database->commit();
            } catch (\Throwable $e) {
                Database::rollBack($database->pdo);
                throw $e;
            }
        }
        $database->rename(Names::before($record['source']), $record['source']);
    }

    /**
     * @param About $record
     * @return list<string> what could not be made again
     */
    private function again(array $record): array
    {
        $failed = [];
        $dependents = $this->database->dependents($record['source']);
        $there = array_map(static fn (Dependent $one): string => $one->what, $dependents);
        foreach ($record['lost'] as [$what, $sql]) {
            try {
                in_array($what, $there, true) || $this->database->pdo->exec($sql);
            } catch (\PDOException) {
                $failed[] = $sql;
            }
        }
        return $failed;
    }
}
