<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue\Cli\Stop;

/** The way back: restores the old table, as long as the queue has not touched its mail. */
final class Undo
{
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
        $note = $this->note->read();
        if ($note === null) {
            throw Stop::config('There is nothing to undo: no adoption is noted here.');
        }
        $source = $note['source'];
        $before = Names::before($source);
        if ($this->database->table($before) === null) {
            throw Stop::config("There is nothing to undo: table $before does not exist.");
        }
        $this->database->begin();
        $this->check($note, $before);
        if ($note['created']) {
            foreach ($this->names->tables() as $table) {
                $this->database->pdo->exec("DROP TABLE IF EXISTS {$this->database->quote($table)}");
            }
        } else {
            foreach (array_slice($this->names->tables(), 0, 2) as $table) {
                $this->database->pdo->exec("DELETE FROM {$this->database->quote($table)}");
            }
        }
        $this->database->table($this->names->config) === null
            || $this->note->delete($note['created']);
        // SQLite's is made again where it had foreign keys.
        $isCopy = preg_match('/\ACREATE\s+TABLE/i', $note['lost'][0] ?? '') === 1;
        $isCopy || $this->database->rename($before, $source, []);
        $failed = $this->again($note['lost']);
        $this->database->isServer() || $this->database->pdo->exec('COMMIT');
        return ['restored' => $source, 'failed' => $failed];
    }

    /** @param array{rows: string} $note */
    private function check(array $note, string $before): void
    {
        if ($this->database->table($this->names->table) === null) {
            return;
        }
        $isSame = $this->note->state() === $note['rows'];
        if (!$isSame) {
            throw Stop::config('Mail was stored, sent or tried since: what was sent would be sent '
                . "again, what was stored would be lost. The old table is there as $before. "
                . 'Nothing was changed.');
        }
    }

    /**
     * @param list<string> $lost
     * @return list<string> what could not be made again
     */
    private function again(array $lost): array
    {
        $failed = [];
        foreach ($lost as $sql) {
            try {
                $this->database->pdo->exec($sql);
            } catch (\PDOException $e) {
                $failed[] = $this->database->isServer() ? $sql : throw $e; // which changes nothing
            }
        }
        return $failed;
    }
}
