<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Named;
use MailQueue\Cli\Settings;
use MailQueue\Cli\Stop;
use PDO;

/** The steps of an adoption that differ by database. */
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
        if (!$named->isServer && ($named->path === null || !is_file($named->path))) {
            throw new Stop(
                "There is no database $named->shown. Check the path.",
                ExitCode::CANTCREAT
            );
        }
        if ($named->isServer) {
            throw Stop::config('adopt knows SQLite files only. On a server rename the table, let '
                . 'the queue make its own (mailqueue migrate), and store what waits with '
                . 'enqueue().');
        }
        if (!extension_loaded('pdo_sqlite')) {
            throw Stop::config("PHP's extension pdo_sqlite is not loaded, which adopt needs: "
                . 'install it and look at php --ini.');
        }
        return new Sqlite(new PDO("sqlite:$named->path"), $names);
    }

    /** @return list<array<string, mixed>> */
    protected function all(string $sql, mixed ...$values): array
    {
        $statement = $this->pdo->prepare($sql);
        $statement->execute(array_values($values));
        return array_values($statement->fetchAll(PDO::FETCH_ASSOC));
    }

    public function quote(string $name): string
    {
        return '"' . str_replace('"', '""', $name) . '"';
    }

    /** The name as the database spells it; null: the table does not exist. */
    abstract public function table(string $name): ?string;

    /** @return list<Column> */
    abstract public function columns(string $table): array;

    /** @return list<Dependent> what stands in the way of renaming the table */
    abstract public function dependents(string $table): array;

    /** @return iterable<int|string|null, array<string, mixed>> rows by what locate() asks for */
    abstract public function rows(string $table, string $order): iterable;

    /** The condition that finds a row; null: its own columns must. */
    abstract public function locate(string $table): ?string;

    /** What is kept beside the database; null: nothing, the server's own backup is the way. */
    public function backup(): ?string
    {
        return null;
    }

    /** Begins the transaction, if the whole adoption is one. */
    abstract public function begin(): void;

    /** @param list<Dependent> $dependents what is dropped before */
    abstract public function rename(string $from, string $to, array $dependents): void;

    /** Creates the queue's tables, after the old one was renamed. */
    abstract public function create(): void;

    /** New mails get ids above this one. */
    abstract public function continueAfter(int $id): void;

    /**
     * Gives the new table the old one's indexes, triggers and so on that work with it.
     *
     * @return list<string> what was dropped
     */
    public function carryOver(string $source, bool $dropThem): array
    {
        return [];
    }

    /** @return list<string> statements that make again what the old table lost */
    abstract public function lost(): array;

    abstract public function addColumn(Column $column): void;

    public function isServer(): bool
    {
        return true;
    }
}
