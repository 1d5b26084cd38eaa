<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue\Cli\Stop;
use PDO;

/** The note about an adoption in the config table, for --undo. */
final class Note
{
    private const STATE = ['id', 'status', 'attempts', 'next_attempt_at', 'last_attempt_at'];

    public function __construct(
        private readonly Database $database,
        private readonly Names $names,
    ) {
    }

    /** @return array{source: string, created: bool, rows: string, lost: list<string>}|null */
    public function read(): ?array
    {
        $quote = $this->database->quote(...);
        if ($this->database->table($this->names->config) === null) {
            return null;
        }
        $statement = $this->database->pdo->prepare("SELECT {$quote('value')} FROM "
            . "{$quote($this->names->config)} WHERE {$quote('key')} = ?");
        $statement->execute([$this->names->key()]);
        $note = json_decode((string) $statement->fetchColumn(), true);
        if (!is_array($note) || !is_string($note['source'] ?? null)) {
            return null;
        }
        return ['source' => $note['source'], 'created' => ($note['created'] ?? false) === true,
            'rows' => (string) ($note['rows'] ?? ''),
            'lost' => array_map(strval(...), array_values((array) ($note['lost'] ?? [])))];
    }

    /** Within the transaction that stores the rows. */
    public function write(string $source, bool $created): void
    {
        $this->names->queue($this->database->pdo)->setConfig($this->names->key(), json_encode([
            'source' => $source, 'created' => $created, 'rows' => $this->state(),
            'lost' => $this->database->lost()], JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES));
    }

    /** @param bool $created whether the tables, and so their version, go as well */
    public function delete(bool $created): void
    {
        $quote = $this->database->quote(...);
        $version = 'mailSchemaVersion' . (strcasecmp($this->names->table, 'mail_queue') === 0 ? ''
            : ":{$this->names->table}");
        $statement = $this->database->pdo->prepare("DELETE FROM {$quote($this->names->config)} "
            . "WHERE {$quote('key')} = ?");
        foreach ([$this->names->key(), ...($created ? [$version] : [])] as $key) {
            $statement->execute([$key]);
        }
    }

    /** A checksum that stays the same as long as no mail was stored, sent, tried or changed. */
    public function state(): string
    {
        $quote = $this->database->quote(...);
        $names = implode(', ', array_map($quote, self::STATE));
        $result = $this->database->pdo->query("SELECT $names FROM {$quote($this->names->table)} "
            . "ORDER BY {$quote('id')}", PDO::FETCH_NUM);
        $hash = hash_init('sha256');
        foreach ($result ?: throw Stop::config('The queue cannot be read.') as $row) {
            hash_update($hash, implode(' ', $row) . "\n");
        }
        return hash_final($hash);
    }
}
