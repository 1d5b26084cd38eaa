<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue\Cli\Stop;
use PDO;
use PDOException;

/**
 * The record of an adoption in the config table. If an adoption has more than one transaction,
 * "begun" is written before the first change, so that the next run can go on or back from there.
 *
 * @phpstan-type About array{state: string, source: string, shape: string, created: bool,
 *     config: bool, rows: string, objects: list<string>, lost: list<array{string, string}>}
 */
final class AdoptionRecord
{
    public const BEGUN = 'begun';
    public const DONE = 'done';
    public const UNDOING = 'undoing';

    public function __construct(
        private readonly Database $database,
        private readonly Names $names,
    ) {
    }

    /** @return About|null */
    public function read(): ?array
    {
        foreach ([$this->names->config, $this->names->staged()->config] as $table) {
            $text = $this->database->table($table) === null ? false
                : $this->text($table, $this->names->key());
            $record = $text === false ? null : json_decode($text, true);
            if (is_array($record) && is_string($record['source'] ?? null)) {
                return [
                    'state' => (string) ($record['state'] ?? self::DONE),
                    'source' => $record['source'],
                    'shape' => (string) ($record['shape'] ?? ''),
                    'created' => ($record['created'] ?? false) === true,
                    'config' => ($record['config'] ?? false) === true,
                    'rows' => (string) ($record['rows'] ?? ''),
                    'objects' => array_values(array_map(strval(...), array_filter(
                        (array) ($record['objects'] ?? []),
                        is_string(...)
                    ))),
                    'lost' => self::lost((array) ($record['lost'] ?? [])),
                ];
            }
        }
        return null;
    }

    /**
     * @param array<mixed> $lost
     * @return list<array{string, string}>
     */
    private static function lost(array $lost): array
    {
        $pairs = [];
        foreach (array_filter($lost, is_array(...)) as $one) {
            $pairs[] = [(string) ($one[0] ?? ''), (string) ($one[1] ?? '')];
        }
        return $pairs;
    }

    /** The value of a key of a config table; false if there is none. */
    public function text(string $table, string $key): string|false
    {
        if (array_diff(['key', 'value'], Column::names($this->database->columns($table)))) {
            return false; // another program's table
        }
        $quote = $this->database->quote(...);
        $statement = $this->database->pdo->prepare("SELECT {$quote('value')} FROM "
            . "{$quote($table)} WHERE {$quote('key')} = ?");
        $statement->execute([$key]);
        $text = $statement->fetchColumn();
        return $text === false ? false : Time::text($text);
    }

    /**
     * Writes the record into the config table or, if there is none yet, into the staged one.
     *
     * @param About $about
     */
    public function write(array $about): void
    {
        $table = $this->database->table($this->names->config) ?? $this->names->staged()->config;
        foreach ($about['lost'] as [$what, $sql]) {
            if (!preg_match('//u', "$what$sql")) {
                throw Stop::config('The SQL of ' . ($what ?: $about['source']) . ' is not UTF-8, '
                    . 'so --undo could not make it again. Create it again in UTF-8. Nothing '
                    . 'was changed.');
            }
        }
        $text = json_encode($about, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES);
        try {
            $this->put($table, $this->names->key(), $text);
            $isCut = $this->text($table, $this->names->key()) !== $text;
        } catch (PDOException $e) {
            $isCut = $e->getCode() === '22001' ?: throw $e; // string data, right truncation
        }
        if ($isCut) {
            throw Stop::config("Table $table cannot record the adoption: its column value holds "
                . 'less than ' . strlen($text) . ' characters. Make it a text column. Nothing was '
                . 'changed.');
        }
    }

    /** Copies the tables' version from the staged config table, if any, to the final one. */
    public function version(): void
    {
        [$staged, $key] = [$this->names->staged()->config, $this->names->versionKey()];
        if ($this->database->table($staged) !== null) {
            $this->put($this->names->config, $key, (string) $this->text($staged, $key));
        }
    }

    /** Writes with one statement, so that the record is never missing. */
    private function put(string $table, string $key, string $value): void
    {
        $quote = $this->database->quote(...);
        $sql = $this->text($table, $key) === false
            ? "INSERT INTO {$quote($table)} ({$quote('value')}, {$quote('key')}) VALUES (?, ?)"
            : "UPDATE {$quote($table)} SET {$quote('value')} = ? WHERE {$quote('key')} = ?";
        $this->database->pdo->prepare($sql)->execute([$value, $key]);
    }

    /**
     * Removes the record. If the adoption made the queue's tables, removes their version too, and
     * the config table if the adoption made it and nothing else is in it.
     *
     * @param About $about
     */
    public function delete(array $about): void
    {
        $quote = $this->database->quote(...);
        $config = $this->names->config;
        if ($this->database->table($config) === null) {
            return; // the record was in the staged config table
        }
        $keys = [$this->names->key(), ...($about['created'] ? [$this->names->versionKey()] : []),
            ...($about['config'] ? ['mailSuppressed', 'mailSuppressionKey'] : [])];
        $marks = implode(', ', array_fill(0, count($keys), '?'));
        $others = $this->database->pdo->prepare("SELECT COUNT(*) FROM {$quote($config)} "
            . "WHERE {$quote('key')} NOT IN ($marks)");
        $others->execute($keys);
        $count = (int) $others->fetchColumn();
        $others->closeCursor(); // an open cursor would keep SQLite from dropping the table
        if ($about['config'] && $count === 0) {
            $this->database->pdo->exec("DROP TABLE {$quote($config)}");
            return;
        }
        $this->database->pdo->prepare("DELETE FROM {$quote($config)} "
            . "WHERE {$quote('key')} IN ($marks)")->execute($keys);
    }

    /**
     * Returns the number of mails and a hash of the queue's rows, as "5:ab12…". It changes if mail
     * is stored, sent, tried or changed.
     *
     * @param int|null $count the number to record; null: the number of rows
     */
    public function rows(Names $queue, ?int $count = null): string
    {
        $quote = $this->database->quote(...);
        [$jobs, $bodies] = $queue->tables();
        $hash = hash_init('sha256');
        foreach (["SELECT * FROM {$quote($jobs)}",
            "SELECT id, LENGTH(content) FROM {$quote($bodies)}"] as $sql) {
            $rows = $this->database->pdo->query("$sql ORDER BY {$quote('id')}", PDO::FETCH_NUM);
            foreach ($rows ?: throw Stop::config('The queue cannot be read.') as $row) {
                foreach ($row as $value) {
                    $text = is_resource($value) ? (string) stream_get_contents($value, -1, 0)
                        : (is_scalar($value) ? (string) $value : null);
                    hash_update($hash, $text === null ? 'N' : 'V' . strlen($text) . ":$text");
                }
                hash_update($hash, "\n");
            }
        }
        return ($count ?? $this->database->count($jobs)) . ':' . hash_final($hash);
    }
}
