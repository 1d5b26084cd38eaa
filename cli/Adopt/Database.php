<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Named;
use MailQueue\Cli\Settings;
use MailQueue\Cli\Stop;
use MailQueue\Internal;
use PDO;
use PDOException;

/** What an adoption does differently on each database. */
abstract class Database
{
    public function __construct(
        public readonly PDO $pdo,
        protected readonly Names $names,
    ) {
    }

    public static function open(Settings $settings, Names $names): self
    {
        if ($settings->bootstrap->queue !== null) {
            throw Stop::usage('adopt opens the database itself: give it with --database, and '
                . 'leave out --bootstrap.');
        }
        $database = $settings->database();
        $named = new Named($database);
        if ($named->isServer) {
            $connect = static fn (): PDO => Internal::connect($database);
            return self::server($connect(), $names, $connect);
        }
        if ($named->path === null || !is_file($named->path)) {
            throw new Stop(
                "There is no database $named->shown. Check the path.",
                ExitCode::CANTCREAT
            );
        }
        if (!extension_loaded('pdo_sqlite')) {
            throw Stop::config("PHP's extension pdo_sqlite is not loaded, which adopt needs: "
                . 'install it and look at php --ini.');
        }
        return new Sqlite($named->pdo(), $names);
    }

    /** @param \Closure(): PDO $connect opens another connection to the same database */
    public static function server(PDO $pdo, Names $names, \Closure $connect): self
    {
        $pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
        return $pdo->getAttribute(PDO::ATTR_DRIVER_NAME) === 'pgsql' ? new Pgsql($pdo, $names)
            : new Mysql($pdo, $names, $connect);
    }

    /** The exit code for an error: TEMPFAIL if its cause can pass (a lock, a lost server). */
    public static function code(PDOException $e): int
    {
        $state = substr((string) $e->getCode(), 0, 2);
        return in_array($state, ['08', '40', '53', '55', '57'], true)
            || preg_match('/locked|gone away|Lock wait|Lost connection|disk/i', $e->getMessage())
            ? ExitCode::TEMPFAIL : ExitCode::CONFIG;
    }

    /** The text of an error that may be due to the file of the database. */
    public static function text(PDOException $e, string $name): string
    {
        $text = $e->getMessage();
        return match (1) {
            preg_match('/readonly|unable to open/i', $text) => "$name or its directory cannot be "
                . "written: $text. Run adopt as the user that the file belongs to",
            preg_match('/disk is full|disk I\/O/i', $text) => "$name: $text. Nothing was changed. "
                . 'Free about twice the size of the file, and try again',
            default => "The database refuses: $text",
        };
    }

    /** The most octets that the name of a table can have. */
    public function nameMax(): int
    {
        return PHP_INT_MAX;
    }

    /** @return list<array<string, mixed>> */
    protected function all(string $sql, mixed ...$values): array
    {
        $statement = $this->pdo->prepare($sql);
        $statement->execute(array_values($values));
        return array_values($statement->fetchAll(PDO::FETCH_ASSOC));
    }

    protected function one(string $sql, mixed ...$values): mixed
    {
        $statement = $this->pdo->prepare($sql);
        $statement->execute(array_values($values));
        return $statement->fetchColumn();
    }

    public function quote(string $name): string
    {
        return '"' . str_replace('"', '""', $name) . '"';
    }

    /** Returns SQL for a column's text that is compared byte by byte, as the queue does. */
    abstract public function bytes(string $column): string;

    /** Whether the table is a queue of this extension: no other program has these columns. */
    public function isOurs(string $table): bool
    {
        $names = Column::names($this->columns($table));
        return !array_diff(['id', 'parked_for', 'message_id', 'paid'], $names);
    }

    public function count(string $table): int
    {
        return (int) $this->one('SELECT COUNT(*) FROM ' . $this->quote($table));
    }

    /** The name as the database spells it; null: the table does not exist. */
    abstract public function table(string $name): ?string;

    /** Returns the kind of an object with this name, such as "view"; null: none, or a table. */
    abstract public function other(string $name): ?string;

    /** Refuses a table that this database cannot adopt where it is. */
    public function refuse(string $table): void
    {
    }

    /** @return list<Column> */
    abstract public function columns(string $table): array;

    /** Whether SQL names a table or a column. Only a person knows what it does with it. */
    public static function mentions(string $text, string $table): bool
    {
        return preg_match('/(?<![\w$])' . preg_quote($table, '/') . '(?![\w$])/i', $text) === 1;
    }

    /** @return list<Dependent> objects that prevent renaming the table */
    abstract public function dependents(string $table): array;

    /**
     * Lists what belongs to a table or names it. --undo drops it all, so it must be as it was.
     *
     * @return list<string>
     */
    public function objects(string $table): array
    {
        $columns = array_map(static fn (string $name): string => "column $name", Column::names(
            $this->columns($table)
        ));
        $objects = [...$columns, ...$this->indexes($table), ...array_map(
            static fn (Dependent $one): string => $one->what,
            $this->dependents($table)
        )];
        sort($objects);
        return array_values(array_unique($objects));
    }

    /** @return list<string> tables whose foreign keys to this one stay (SQLite only) */
    public function children(string $table): array
    {
        return [];
    }

    /** @return list<string> indexes; on SQLite also the table's triggers */
    abstract protected function indexes(string $table): array;

    /** @return iterable<int|string|null, array<string, mixed>> keyed by what locate() takes */
    abstract public function rows(string $table, string $order): iterable;

    /** An SQL condition that finds a row by its key in rows(); null: use the primary key. */
    abstract public function locate(string $table): ?string;

    /** Makes a backup and returns its path; null: none, the renamed table is the backup. */
    public function backup(): ?string
    {
        return null;
    }

    /** Waits until no other adoption or undo is running. */
    public function alone(): void
    {
    }

    /**
     * Makes the queue's tables, as far as that is possible before anything is changed.
     *
     * @param list<Column> $own
     * @param int $last the largest id of the old table
     */
    abstract public function stage(array $own, int $last): void;

    /** Whether the whole adoption is one transaction, so that it is never found half done. */
    public function isOneTransaction(): bool
    {
        return true;
    }

    /** Begins the transaction, in which nobody else can change these tables (not on MariaDB). */
    abstract public function begin(string ...$tables): void;

    /**
     * Renames the old table, and makes the queue's tables if they are missing.
     *
     * @param list<Dependent> $dependents dropped before the renaming
     */
    abstract public function swap(string $source, array $dependents): void;

    /** Renames a table, within the transaction if there is one. */
    abstract public function rename(string $from, string $to): void;

    /** Begins the transaction that stores the rows; nothing to do if begin() began one for all. */
    public function beginRows(): void
    {
    }

    /** Makes new mails get ids above $id. */
    abstract public function continueAfter(string $table, int $id): void;

    /** @param list<Column> $own */
    public function addColumns(string $table, array $own): void
    {
        $there = Column::names($this->columns($table));
        usort($own, static fn (Column $one, Column $two): int // computed from the others
            => $one->isGenerated <=> $two->isGenerated);
        foreach ($own as $column) {
            try {
                in_array(strtolower($column->name), $there, true)
                    || $this->addColumn($table, $column);
            } catch (PDOException $e) {
                throw self::code($e) === ExitCode::TEMPFAIL ? $e : Stop::config('Your own column '
                    . "$column->name cannot be made in the queue's table: {$e->getMessage()}. "
                    . 'Change or rename it. Nothing was changed.');
            }
        }
    }

    /**
     * Makes the old table's indexes and triggers again, for the new table (SQLite only).
     *
     * @return list<string> what was dropped because it does not work with the new table
     */
    public function carryOver(string $source, bool $dropThem): array
    {
        return [];
    }

    /** @return list<array{string, string}> what was dropped, and the SQL that makes it again */
    abstract public function lost(): array;

    abstract public function addColumn(string $table, Column $column): void;

    /** Removes what stage() made, if it was not used. Returns whether there was anything. */
    public function tidy(): bool
    {
        return false;
    }

    public function commit(): void
    {
        $this->pdo->exec('COMMIT');
    }

    public static function rollBack(PDO $pdo): void
    {
        try {
            $pdo->exec('ROLLBACK');
        } catch (PDOException) {
            // The database has rolled back already, or no transaction was begun.
        }
    }
}
