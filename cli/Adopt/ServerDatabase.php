<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue\Cli\Stop;

/**
 * What all servers share. The extension makes tables only in its own transactions. So it makes the
 * queue's tables under other names, where no program looks for them; later they are renamed
 * together with the old one. The next run removes what a killed run left there.
 */
abstract class ServerDatabase extends Database
{
    /** Columns of the tables beside the jobs: tidy() drops no other program's. */
    private const COLUMNS = [['id', 'content'], ['at', 'n'], ['scope', 'at', 'n'], ['key', 'value'],
        ['hour', 'mail_type', 'event', 'part', 'mails', 'recipients'],
        ['id', 'at', 'job_id', 'reference', 'mail_type', 'subject', 'relay', 'event', 'phase',
            'attempt', 'recipients', 'uncertain', 'reply', 'ms', 'waited'],
        ['hash', 'scope', 'reason', 'seq', 'address', 'source', 'created_at'],
        ['id', 'name', 'state', 'mail_type', 'priority', 'max_attempts', 'message_id',
            'envelope_from', 'relay', 'scope', 'list_url', 'start_at', 'created_at', 'started_at',
            'finished_at', 'on_finished', 'last_id', 'fed_to', 'recipients', 'fed', 'sent',
            'suppressed', 'uncertain'],
        ['id', 'campaign_id', 'hash', 'address', 'name', 'fields', 'cleared'],
        ['hash', 'event', 'at', 'kind', 'n']];

    /** Gives the indexes of the staged tables their final names. */
    abstract protected function nameIndexes(): void;

    public function stage(array $own, int $last): void
    {
        $this->tidy();
        $staged = $this->names->staged();
        $staged->queue($this->pdo);
        $this->nameIndexes();
        $this->addColumns($staged->table, $own);
        $this->continueAfter($staged->table, $last);
        $config = $this->quote($staged->config);
        $key = $this->quote('key');
        $this->pdo->prepare("UPDATE $config SET $key = ? WHERE $key = ?")
            ->execute([$this->names->versionKey(), $staged->versionKey()]);
    }

    public function addColumn(string $table, Column $column): void
    {
        $this->pdo->exec("ALTER TABLE {$this->quote($table)} ADD COLUMN "
            . "{$this->quote($column->name)} $column->definition");
    }

    public function tidy(): bool
    {
        $staged = $this->names->staged();
        $found = false;
        foreach ([...$staged->tables(), $staged->config] as $name) {
            if ($this->table($name) === null) {
                continue;
            }
            $columns = Column::names($this->columns($name));
            if ($name === $staged->table ? !$this->isOurs($name)
                : !in_array($columns, self::COLUMNS, true)) {
                throw Stop::config("Table $name is another program's: adopt needs the name. Rename "
                    . 'it. Nothing was changed.');
            }
            $this->pdo->exec("DROP TABLE {$this->quote($name)}");
            $found = true;
        }
        return $found;
    }

    /** @return array<string, string> the final names of the tables, keyed by the staged names */
    protected function finalNames(): array
    {
        $staged = $this->names->staged();
        $names = array_combine($staged->tables(), $this->names->tables());
        return $this->table($this->names->config) === null
            ? $names + [$staged->config => $this->names->config] : $names;
    }

    /** The final name of an index or sequence: it begins with its table's or the job table's. */
    protected function finalIndex(string $name, string $staged, string $final): string
    {
        $jobs = $this->names->staged()->table;
        return str_starts_with($name, $staged) ? $final . substr($name, strlen($staged))
            : $this->names->table . substr($name, strlen($jobs));
    }
}
