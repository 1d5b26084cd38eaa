<?php

declare(strict_types=1);

namespace MailQueue\Cli\Move;

use MailQueue;
use MailQueue\Cli\Adopt\Database;
use MailQueue\Cli\Adopt\Names;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Named;
use MailQueue\Cli\Settings;
use MailQueue\Cli\Stop;
use MailQueue\Internal;
use PDO;
use PDOException;
use PDOStatement;

/**
 * One of the two databases of a move: its own connection, the queue over it, transactions and
 * locks. The queue's methods take part in the open transaction.
 */
final class Store
{
    public readonly string $kind; // sqlite, pgsql or mysql
    public readonly string $jobs; // the tables' names, quoted
    public readonly string $bodies;
    public readonly string $spent;
    public readonly string $windows;
    public readonly string $counters;
    public readonly string $log;
    public readonly string $suppressions;
    public readonly string $campaigns;
    public readonly string $recipients;
    public readonly string $bounces;
    public bool $aborts = false; // the command gives the move up

    public function __construct(
        public readonly PDO $pdo,
        public readonly MailQueue $queue,
        public readonly string $name,
        public readonly string $table = 'mail_queue',
        private readonly string $configTable = 'config',
    ) {
        $pdo->setAttribute(PDO::ATTR_STRINGIFY_FETCHES, true);
        $pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
        $kind = $pdo->getAttribute(PDO::ATTR_DRIVER_NAME);
        $this->kind = is_string($kind) ? $kind : '';
        if ($this->kind === 'sqlite') {
            $pdo->exec('PRAGMA synchronous = FULL');
        } elseif ($this->kind === 'mysql') {
            $pdo->setAttribute(PDO::ATTR_EMULATE_PREPARES, false); // keeps bytes unchanged
            $this->limitLocks();
        }
        [$this->jobs, $this->bodies, $this->spent, $this->windows, $this->counters, $this->log,
            $this->suppressions, $this->campaigns, $this->recipients, $this->bounces]
            = array_map($this->quoted(...), (new Names($table))->tables());
    }

    /** Sets limits: a stopped process must not keep its locks, nor wait long for others'. */
    private function limitLocks(): void
    {
        $this->exec('SET SESSION innodb_lock_wait_timeout = 5');
        try {
            $this->pdo->exec('SET SESSION idle_transaction_timeout = 60');
        } catch (PDOException) {
            // MySQL lacks it. wait_timeout also counts between transactions, so it is longer.
            $this->exec('SET SESSION wait_timeout = 600');
        }
    }

    public static function open(
        Settings $settings,
        string $database,
        string $name,
        bool $create
    ): self {
        $named = new Named($database);
        if (!$named->isServer && !extension_loaded('pdo_sqlite')) {
            throw Stop::config("PHP's extension pdo_sqlite is not loaded: install it (Debian: "
                . 'apt-get install php-sqlite3).');
        }
        $settings->at($database, $create); // makes the tables
        $pdo = $named->isServer ? Internal::connect($database) : $named->pdo();
        $table = $settings->table();
        return new self($pdo, $settings->over($pdo), $name, $table, $settings->configTable());
    }

    public function quoted(string $name): string
    {
        $quote = $this->kind === 'pgsql' ? '"' : '`';
        return $quote . $name . $quote;
    }

    public function isSameFile(self $other): bool
    {
        $files = array_map(static fn (self $store): ?string => $store->kind === 'sqlite'
            ? $store->value("SELECT file FROM pragma_database_list WHERE name = 'main'")
            : null, [$this, $other]);
        [$one, $two] = array_map(static fn (?string $file): array|false =>
            $file === null || $file === '' ? false : @stat($file), $files);
        return $one && $two && [$one['dev'], $one['ino']] === [$two['dev'], $two['ino']];
    }

    // ---- statements ----

    public function prepare(string $sql): PDOStatement
    {
        try {
            return $this->pdo->prepare($sql);
        } catch (PDOException $e) {
            throw $this->failed($e);
        }
    }

    /** @param list<int|string|null> $values */
    public function run(string $sql, array $values = []): PDOStatement
    {
        try {
            $statement = $this->prepare($sql);
            foreach ($values as $i => $value) {
                $statement->bindValue($i + 1, $value, self::type($value));
            }
            $statement->execute();
            return $statement;
        } catch (PDOException $e) {
            throw $this->failed($e);
        }
    }

    public static function type(int|string|null $value): int
    {
        return $value === null ? PDO::PARAM_NULL
            : (is_int($value) ? PDO::PARAM_INT : PDO::PARAM_STR);
    }

    /** @param list<int|string|null> $values */
    public function value(string $sql, array $values = []): ?string
    {
        $value = $this->all($sql, $values)[0][0] ?? null;
        return is_string($value) ? $value : null;
    }

    /**
     * Returns rows as lists. Reading them can fail, too.
     *
     * @param list<int|string|null> $values
     * @return list<list<mixed>>
     */
    public function all(string $sql, array $values = []): array
    {
        $statement = $this->run($sql, $values);
        try {
            return array_values(array_map(array_values(...), $statement->fetchAll(PDO::FETCH_NUM)));
        } catch (PDOException $e) {
            throw $this->failed($e);
        }
    }

    public function exec(string $sql): void
    {
        try {
            $this->pdo->exec($sql);
        } catch (PDOException $e) {
            throw $this->failed($e);
        }
    }

    public function failed(PDOException $e): Stop
    {
        $state = substr((string) $e->getCode(), 0, 2);
        $driver = (int) ($e->errorInfo[1] ?? 0);
        $code = match (true) {
            // Bad values, constraints, privileges, missing tables: trying again does not help.
            in_array($state, ['0A', '22', '23', '42'], true) => ExitCode::CONFIG,
            $this->kind === 'mysql' && in_array($driver, [1153, 1301], true) => ExitCode::CONFIG,
            $this->kind === 'sqlite' && $driver === 8 => ExitCode::NOPERM, // read-only
            $this->kind === 'sqlite' && in_array($driver, [1, 11, 26], true) => ExitCode::CONFIG,
            default => ExitCode::TEMPFAIL,
        };
        $text = strtok($e->getMessage(), "\r\n");
        $again = $code === ExitCode::TEMPFAIL ? 'repeat the command to go on'
            : 'correct this and repeat the command to go on';
        $text .= $this->kind === 'mysql' && in_array($driver, [1153, 1301], true)
            ? '. Set max_allowed_packet of the server to more than the largest mail' : '';
        return new Stop("$this->name: $text. " . ($this->aborts ? 'Repeat the command to go on'
            : "What is copied stays: $again, or cancel the move with --abort"), $code);
    }

    // ---- transactions ----

    /**
     * @template T
     * @param callable(): T $do
     * @param bool $freezes whether others must not write jobs meanwhile
     * @return T
     */
    public function transaction(callable $do, bool $freezes = false): mixed
    {
        try {
            array_map($this->exec(...), $this->beginning($freezes));
            $freezes && $this->freeze();
            $result = $do();
            $this->exec('COMMIT');
            return $result;
        } catch (\Throwable $e) {
            Database::rollBack($this->pdo);
            throw $e;
        }
    }

    /** @return list<string> statements, with limits: a stopped process must not keep its locks */
    private function beginning(bool $freezes = false): array
    {
        if ($this->kind === 'mysql') {
            $level = $freezes ? 'REPEATABLE READ' : 'READ COMMITTED'; // see freeze()
            return ["SET TRANSACTION ISOLATION LEVEL $level", 'START TRANSACTION'];
        }
        if ($this->kind === 'sqlite') {
            return ['BEGIN IMMEDIATE'];
        }
        $version = $this->pdo->getAttribute(PDO::ATTR_SERVER_VERSION);
        $hasLimit = version_compare(is_string($version) ? $version : '0', '9.6', '>=');
        return ['BEGIN ISOLATION LEVEL READ COMMITTED', 'SET LOCAL lock_timeout = 5000',
            ...($hasLimit ? ['SET LOCAL idle_in_transaction_session_timeout = 60000'] : [])];
    }

    /**
     * Like transaction(), but for one process at a time, as there may be no record yet to lock.
     *
     * @param callable(): void $do
     * @param bool $freezes see transaction()
     */
    public function alone(callable $do, bool $freezes = false): void
    {
        $lock = "CONCAT('mailqueue.move.', SHA1(DATABASE()))"; // the lock is server-wide
        $isMysql = $this->kind === 'mysql';
        if ($isMysql && $this->value("SELECT COALESCE(GET_LOCK($lock, 60), 0)") !== '1') {
            throw new Stop('another process has been beginning a move for a minute: try again when '
                . 'it is done', ExitCode::TEMPFAIL);
        }
        try {
            $this->transaction(function () use ($do): void {
                if ($this->kind === 'pgsql') {
                    $this->value('SELECT pg_advisory_xact_lock(7881696737355982198)');
                }
                $do();
            }, $freezes);
        } finally {
            $isMysql && $this->value("SELECT RELEASE_LOCK($lock)");
        }
    }

    /**
     * Waits for transactions that write jobs, and blocks new ones until this one ends. On MySQL
     * that needs REPEATABLE READ, where a locking read also locks the gaps, even the one after the
     * last row. This must be the transaction's first read: later plain reads see the state of the
     * first one.
     */
    private function freeze(): void
    {
        match ($this->kind) {
            'pgsql' => $this->exec("LOCK TABLE $this->jobs IN EXCLUSIVE MODE"),
            'mysql' => $this->value("SELECT count(*) FROM $this->jobs FORCE INDEX (PRIMARY) "
                . 'LOCK IN SHARE MODE'),
            default => null, // BEGIN IMMEDIATE has done so
        };
    }

    // ---- other job tables ----

    /** @return list<string> those that use this config table, which has a version of each */
    public function otherTables(): array
    {
        [$key, $begin] = [$this->quoted('key'), Names::VERSION];
        $names = [];
        foreach ($this->all("SELECT $key FROM {$this->quoted($this->configTable)} WHERE $key = ? "
            . "OR $key LIKE ?", [$begin, "$begin:%"]) as [$found]) {
            $names[] = is_string($found) && $found !== $begin ? substr($found, strlen($begin) + 1)
                : 'mail_queue';
        }
        $isOther = fn (string $name): bool => strcasecmp($name, $this->table) !== 0;
        return array_values(array_filter($names, $isOther));
    }

    /** Whether a table has rows; false also if the table is gone. */
    public function hasRows(string $name): bool
    {
        $exists = match ($this->kind) {
            'pgsql' => 'SELECT 1 FROM pg_catalog.pg_class WHERE oid = to_regclass(quote_ident(?))',
            'mysql' => 'SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() '
                . 'AND table_name = ?',
            default => 'SELECT 1 FROM sqlite_master WHERE name = ? COLLATE NOCASE',
        };
        return $this->value($exists, [$name]) !== null
            && $this->value("SELECT 1 FROM {$this->quoted($name)} LIMIT 1") !== null;
    }

    // ---- records and ids ----

    public function record(string $key): ?Record
    {
        return Record::find($this->queue, $key, $this->table);
    }

    /** Reads a record and locks it until the transaction ends. */
    public function hold(string $key): ?Record
    {
        $this->lock($key);
        return $this->record($key);
    }

    /** Locks a setting, within a transaction. */
    public function lock(string $key): void
    {
        if ($this->kind !== 'sqlite') {
            $this->value('SELECT 1 FROM ' . $this->quoted($this->configTable) . ' WHERE '
                . $this->quoted('key') . ' = ? FOR UPDATE', [$key]);
        }
    }

    /** Writes a record, within a transaction. Records of other tables in that key stay. */
    public function put(string $key, ?Record $record): void
    {
        $this->lock($key);
        Record::put($this->queue, $key, $this->table, $record);
    }

    public function now(): int
    {
        return match ($this->kind) {
            'pgsql' => (int) $this->value('SELECT floor(extract(epoch FROM clock_timestamp()))'),
            'mysql' => (int) $this->value('SELECT UNIX_TIMESTAMP()'),
            default => time(),
        };
    }

    /** Finds the next id: stores a mail, within a transaction, and returns its id. */
    private function nextId(): int
    {
        return (int) $this->queue->enqueue("From: move@localhost\r\nTo: move@localhost\r\n\r\n");
    }

    public function findNextId(): int
    {
        try {
            array_map($this->exec(...), $this->beginning());
            return $this->nextId();
        } finally {
            Database::rollBack($this->pdo);
        }
    }

    /** Makes new ids begin at $base, within a transaction. */
    public function beginIds(int $base): void
    {
        if ($this->kind === 'pgsql') {
            $sequence = "pg_get_serial_sequence('$this->jobs', 'id')";
            $this->value("SELECT setval($sequence, $base, false)");
            return;
        }
        // Insert a row with the id before $base, and delete it.
        $id = $this->nextId();
        $columns = array_diff(array_keys(Internal::columns($this->queue)), ['id']);
        $list = implode(', ', array_map($this->quoted(...), $columns));
        $last = $base - 1;
        $this->run("INSERT INTO $this->jobs (id, $list) SELECT $last, $list FROM $this->jobs "
            . "WHERE id = $id");
        $this->delete([$id, $last]);
    }

    /**
     * Deletes mails, within a transaction. Those that are being sent stay.
     *
     * @param list<int> $ids
     */
    public function delete(array $ids): void
    {
        foreach (array_chunk($ids, 500) as $some) {
            $list = implode(', ', $some);
            $this->run("DELETE FROM $this->jobs WHERE id IN ($list) AND status <> 'sending'");
            $this->run("DELETE FROM $this->bodies WHERE id IN ($list) AND id NOT IN "
                . "(SELECT id FROM $this->jobs WHERE id IN ($list))");
        }
    }
}
