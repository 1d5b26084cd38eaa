<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue\Cli\Stop;
use PDO;
use PDOException;

/**
 * On SQLite the whole adoption is one transaction. Views, triggers and foreign keys of other tables
 * find a table by its name, so afterwards they refer to the new one. Each of them is tested.
 */
final class Sqlite extends Database
{
    /** @var array<string, string> SQL of what was dropped, by type and name */
    private array $lost = [];
    /** @var array<string, string> SQL of triggers of other tables: made again after their views */
    private array $triggers = [];
    /** @var list<string> SQL that makes the old table again, if it was not renamed but copied */
    private array $table = [];
    /** @var array<string, string> */
    private array $keys = [];
    /** @var list<Column> */
    private array $own = [];
    private int $violations = 0;
    private int $last = 0; // the largest id that the old table has or ever gave
    /** @var list<string> views and triggers that did not compile before the adoption */
    private array $brokenBefore = [];

    public function __construct(PDO $pdo, Names $names)
    {
        parent::__construct($pdo, $names);
        $pdo->exec('PRAGMA busy_timeout = 60000');
        $pdo->exec('PRAGMA foreign_keys = OFF'); // so that deleting a row deletes no others
        $pdo->exec('PRAGMA legacy_alter_table = ON'); // renaming a table does not change references
    }

    public function bytes(string $column): string
    {
        return "CAST({$this->quote($column)} AS BLOB)";
    }

    public function table(string $name): ?string
    {
        $found = $this->one("SELECT name FROM main.sqlite_master WHERE type = 'table' "
            . 'AND name = ? COLLATE NOCASE', $name);
        return is_string($found) ? $found : null;
    }

    public function other(string $name): ?string
    {
        $found = $this->all("SELECT type, tbl_name AS target FROM main.sqlite_master WHERE type <> "
            . "'table' AND name = ? COLLATE NOCASE", $name);
        return $found ? $found[0]['type'] . ($found[0]['type'] === 'view' ? ''
            : " of {$found[0]['target']}") : null;
    }

    public function columns(string $table): array
    {
        $isStrict = preg_match('/\)[^()\']*\bSTRICT\b[^()\']*\z/i', (string) $this->one(
            'SELECT sql FROM main.sqlite_master WHERE name = ? COLLATE NOCASE',
            $table
        )) === 1;
        $keys = [];
        foreach ($this->foreignKeys($table) as $from => $sql) {
            $keys[$from] = substr($sql, (int) strpos($sql, 'REFERENCES')); // for keys of one column
        }
        $columns = [];
        $sql = 'SELECT name, type, "notnull" AS must, dflt_value AS value, pk '
            . 'FROM pragma_table_xinfo(?) WHERE hidden <> 1';
        foreach ($this->all($sql, $table) as $about) {
            $type = preg_replace('/\s*GENERATED ALWAYS\z/i', '', $about['type']);
            // The queue's table is not STRICT: there, ANY would turn the text "007" into a number.
            $type = $isStrict && strcasecmp((string) $type, 'ANY') === 0 ? '' : $type;
            $isWord = '/\A(?:\'(?:[^\']|\'\')*\'|[-+]?[\w.]+)\z/';
            $value = (string) $about['value'];
            $value = preg_match($isWord, $value) ? $value : "($value)";
            $default = $about['value'] === null ? ''
                : ($about['must'] ? ' NOT NULL' : '') . " DEFAULT $value";
            $key = $keys[$this->quote($about['name'])] ?? '';
            $definition = trim("$type$default $key");
            $columns[] = new Column($about['name'], $definition, $about['pk'] > 0);
        }
        return $columns;
    }

    public function addColumn(string $table, Column $column): void
    {
        $name = $this->quote($column->name);
        $this->pdo->exec("ALTER TABLE {$this->quote($table)} ADD COLUMN $name "
            . $column->definition);
    }

    public function dependents(string $table): array
    {
        $id = array_filter($this->columns($table), static fn (Column $column): bool
            => $column->isKey && strcasecmp($column->name, 'id') === 0);
        $isSame = strcasecmp($table, $this->names->table) === 0;
        foreach ($this->referring($table) as $key) {
            if (!$isSame && strcasecmp($key['child'], $table) !== 0) {
                throw Stop::config("Table $table cannot be adopted: a foreign key of $key[child] "
                    . 'refers to it. Make that table without it first. Nothing was changed.');
            }
            if ($isSame && !$id && $key['to'] === null) {
                throw Stop::config("Table $table cannot become the queue's: a foreign key of "
                    . "$key[child] refers to its primary key without naming the column, and that "
                    . 'will be id. Name the column in REFERENCES. Nothing was changed.');
            }
        }
        $triggers = [];
        foreach ($this->all('SELECT name, tbl_name AS target, sql FROM main.sqlite_master WHERE '
            . "type = 'trigger' AND tbl_name <> ? COLLATE NOCASE ORDER BY rowid", $table) as $one) {
            self::mentions($one['sql'], $table) && $triggers[] = new Dependent(
                "trigger $one[name] of $one[target]",
                'DROP TRIGGER ' . $this->quote($one['name']),
                $one['sql']
            );
        }
        $several = static fn (string $from): bool => str_contains($from, ', ');
        $keys = array_filter($this->foreignKeys($table), $several, ARRAY_FILTER_USE_KEY);
        return [...$triggers, ...array_map(static fn (string $key): Dependent
            => new Dependent('foreign key' . substr($key, 11)), array_values($keys))];
    }

    protected function indexes(string $table): array
    {
        return array_column($this->all("SELECT type || ' ' || name AS what FROM main.sqlite_master "
            . "WHERE type IN ('index', 'trigger') AND sql IS NOT NULL AND tbl_name = ? "
            . 'COLLATE NOCASE', $table), 'what');
    }

    public function children(string $table): array
    {
        $names = array_unique(array_column($this->referring($table), 'child'));
        return array_values(array_diff($names, [$table]));
    }

    /** @return list<array<string, mixed>> foreign keys to this table, its own among them */
    private function referring(string $table): array
    {
        return $this->all('SELECT m.name AS child, f."to" FROM main.sqlite_master AS m '
            . 'JOIN pragma_foreign_key_list(m.name) AS f '
            . "WHERE m.type = 'table' AND f.\"table\" = ? COLLATE NOCASE", $table);
    }

    public function rows(string $table, string $order): iterable
    {
        $key = $this->rowid($table) ?? 'NULL';
        $result = $this->pdo->query("SELECT $key AS \"\", * FROM " . $this->quote($table) . $order);
        foreach ($result ? $result->getIterator() : [] as $row) {
            $label = array_shift($row);
            yield $label => $row;
        }
    }

    /** Returns the name of the rowid; null if there is none, or if columns have all its names. */
    private function rowid(string $table): ?string
    {
        $names = array_map(
            static fn (Column $column): string => strtolower($column->name),
            $this->columns($table)
        );
        $name = current(array_diff(['rowid', '_rowid_', 'oid'], $names));
        try {
            $this->pdo->query("SELECT $name FROM " . $this->quote($table) . ' LIMIT 0');
            return $name === false ? null : $name;
        } catch (PDOException) {
            return null; // WITHOUT ROWID
        }
    }

    public function locate(string $table): ?string
    {
        $name = $this->rowid($table);
        return $name === null ? null : "$name = ?";
    }

    public function backup(): string
    {
        $path = (string) $this->one("SELECT file FROM pragma_database_list WHERE name = 'main'");
        do {
            $copy = $path . '-before-adopt-' . gmdate('Ymd-His') . '-' . random_int(100, 999);
        } while (file_exists($copy));
        $old = umask(0o077);
        try {
            $this->pdo->exec('VACUUM INTO ' . $this->pdo->quote($copy));
        } finally {
            umask($old);
        }
        return $copy;
    }

    public function begin(string ...$tables): void
    {
        $this->pdo->exec('BEGIN IMMEDIATE');
        $this->violations = $this->violations();
        $this->brokenBefore = array_keys($this->broken());
    }

    /** Counts the rows that violate a foreign key; -1 if a foreign key itself is wrong. */
    private function violations(): int
    {
        try {
            return (int) $this->one('SELECT count(*) FROM pragma_foreign_key_check');
        } catch (PDOException) {
            return -1;
        }
    }

    /** Only keeps its arguments: swap() makes the tables, within the transaction. */
    public function stage(array $own, int $last): void
    {
        $this->own = $own;
        $this->last = $last;
    }

    public function swap(string $source, array $dependents): void
    {
        $sql = 'SELECT type, name, sql FROM main.sqlite_master WHERE tbl_name = ? COLLATE NOCASE '
            . "AND sql IS NOT NULL AND type IN ('index', 'trigger') ORDER BY type, rowid";
        foreach ($this->all($sql, $source) as $object) {
            $this->lost["$object[type] $object[name]"] = $object['sql'];
            $this->pdo->exec("DROP $object[type] " . $this->quote($object['name']));
        }
        foreach ($dependents as $one) {
            if ($one->drop !== null && is_string($one->create)) {
                $this->triggers[$one->what] = $one->create;
                $this->pdo->exec($one->drop);
            }
        }
        $this->keys = $this->foreignKeys($source);
        if ($this->table('sqlite_sequence') !== null) {
            $given = $this->one('SELECT seq FROM sqlite_sequence WHERE name = ?', $source);
            $this->last = max($this->last, (int) $given);
        }
        $before = Names::before($source);
        $this->keys ? $this->copy($source, $before) : $this->rename($source, $before);
        $this->create();
    }

    public function rename(string $from, string $to): void
    {
        $this->pdo->exec('ALTER TABLE ' . $this->quote($from) . ' RENAME TO ' . $this->quote($to));
    }

    /** Copies the old table without its foreign keys: they could still block or cascade changes. */
    private function copy(string $from, string $to): void
    {
        $plain = 'SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0';
        $names = array_column($this->all($plain, $from), 'name');
        $list = implode(', ', array_map($this->quote(...), $names));
        [$old, $new] = [$this->quote($from), $this->quote($to)];
        $this->table = [
            (string) $this->one('SELECT sql FROM main.sqlite_master WHERE name = ?', $from),
            "INSERT INTO $old ($list) SELECT $list FROM $new ORDER BY rowid",
            "DROP TABLE $new",
        ];
        if ($this->last > 0) {
            $this->table[] = "UPDATE sqlite_sequence SET seq = max(seq, $this->last) "
                . 'WHERE name = ' . $this->pdo->quote($from);
        }
        $all = implode(', ', array_map(
            fn (Column $column): string => $this->quote($column->name),
            $this->columns($from)
        ));
        $rowid = $this->rowid($from);
        $all = $rowid === null ? $all : "$rowid, $all"; // the rowid becomes the id
        $this->pdo->exec("CREATE TABLE $new AS SELECT * FROM $old WHERE 0");
        $this->pdo->exec("INSERT INTO $new ($all) SELECT $all FROM $old");
        $this->pdo->exec("DROP TABLE $old");
    }

    public function lost(): array
    {
        $table = array_map(static fn (string $sql): array => ['', $sql], $this->table);
        foreach ($this->lost + $this->triggers as $what => $sql) {
            $table[] = [$what, $sql];
        }
        return $table;
    }

    /** Makes the tables with the extension's SQL, since it makes none within a transaction. */
    private function create(): void
    {
        $new = new PDO('sqlite::memory:');
        $this->names->queue($new);
        $sql = 'SELECT name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL '
            . "AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY type DESC, rowid";
        foreach ($new->query($sql, PDO::FETCH_ASSOC) ?: [] as $object) {
            $isThere = $this->table($object['name']) !== null
                || $this->other($object['name']) === "index of $object[tbl_name]";
            $keys = $object['name'] === $this->names->table ? $this->keysOf($new) : '';
            $isThere || $this->pdo->exec(substr($object['sql'], 0, -1) . $keys
                . substr($object['sql'], -1));
        }
        $config = $this->quote($this->names->config);
        $values = $new->query("SELECT key, value FROM $config", PDO::FETCH_NUM) ?: [];
        foreach ($values as $value) {
            $this->pdo->prepare("INSERT OR IGNORE INTO $config (key, value) VALUES (?, ?)")
                ->execute($value);
        }
        $this->addColumns($this->names->table, $this->own);
        $this->continueAfter($this->names->table, $this->last);
    }

    /** The SQL of the old table's foreign keys whose columns the queue has too. */
    private function keysOf(PDO $new): string
    {
        $find = $new->prepare('SELECT name FROM pragma_table_info(?)');
        $find->execute([$this->names->table]);
        $own = array_map($this->quote(...), $find->fetchAll(PDO::FETCH_COLUMN));
        $isOwn = static fn (string $from): bool
            => !array_udiff(explode(', ', $from), $own, strcasecmp(...));
        $keys = array_filter($this->keys, $isOwn, ARRAY_FILTER_USE_KEY);
        return implode('', array_map(static fn (string $key): string => ", $key", $keys));
    }

    /** @return array<string, string> definitions of a table's foreign keys, keyed by columns */
    private function foreignKeys(string $table): array
    {
        $text = $this->one('SELECT sql FROM main.sqlite_master WHERE name = ?', $table);
        $deferred = stripos((string) $text, 'DEFERRED') !== false
            ? ' DEFERRABLE INITIALLY DEFERRED' : '';
        $keys = [];
        $sql = 'SELECT * FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq';
        foreach ($this->all($sql, $table) as $part) {
            $keys[$part['id']][] = $part;
        }
        $all = [];
        foreach ($keys as $parts) {
            $list = fn (string $name): string
                => implode(', ', array_map($this->quote(...), array_column($parts, $name)));
            $to = $parts[0]['to'] === null ? '' : '(' . $list('to') . ')';
            $all[$list('from')] = 'FOREIGN KEY (' . $list('from') . ') REFERENCES '
                . $this->quote($parts[0]['table']) . $to . ' ON UPDATE ' . $parts[0]['on_update']
                . ' ON DELETE ' . $parts[0]['on_delete'] . $deferred;
        }
        return $all;
    }

    public function continueAfter(string $table, int $id): void
    {
        $given = $this->one('SELECT seq FROM sqlite_sequence WHERE name = ?', $table);
        $last = max($id, (int) $given);
        $this->pdo->prepare('DELETE FROM sqlite_sequence WHERE name = ?')->execute([$table]);
        $this->pdo->prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)')
            ->execute([$table, $last]);
    }

    public function carryOver(string $source, bool $dropThem): array
    {
        $wrong = $replaced = [];
        $isSame = strcasecmp($source, $this->names->table) === 0;
        foreach ($this->lost as $what => $sql) {
            if ($isSame && $this->other(substr($what, 6)) === "index of {$this->names->table}") {
                $replaced[] = $what; // by the queue's own index of that name
                continue;
            }
            $fits = $isSame ? $this->again($sql) : !str_starts_with($what, 'trigger ');
            $wrong = $fits ? $wrong : [...$wrong, $what];
        }
        $this->index();
        $wrong = [...$wrong, ...$this->dropBroken()];
        $wrong = array_values(array_unique($wrong));
        if ($wrong && !$dropThem) {
            throw Stop::config("These do not work with the queue's table: "
                . implode(', ', $wrong) . '. With --drop-them they are dropped (--undo creates '
                . 'them again). Nothing was changed.');
        }
        $now = $this->violations();
        if ($now !== $this->violations) {
            throw Stop::config("Foreign keys would be violated ($now, before: $this->violations). "
                . 'Nothing was changed.');
        }
        return [...$wrong, ...$replaced];
    }

    /** @return list<string> the views and triggers that do not compile now; they are dropped */
    private function dropBroken(): array
    {
        $wrong = [];
        $broken = array_diff_key($this->broken(), array_flip($this->brokenBefore));
        foreach ($broken as $what => $object) {
            $wrong[] = $what;
            $this->lost[$what] = $object['sql'];
            $triggers = "SELECT 'trigger ' || name, sql FROM main.sqlite_master WHERE "
                . "type = 'trigger' AND tbl_name = ? COLLATE NOCASE ORDER BY rowid";
            foreach ($this->all($triggers, $object['name']) as $one) {
                $wrong[] = (string) current($one); // it is dropped with the view
                $this->triggers += [(string) current($one) => (string) end($one)];
            }
            $this->pdo->exec("DROP $object[type] IF EXISTS " . $this->quote($object['name']));
        }
        return $wrong;
    }

    /** Makes unique indexes on the columns that foreign keys of other tables refer to. */
    private function index(): void
    {
        $table = $this->quote($this->names->table);
        foreach ($this->referring($this->names->table) as $key) {
            if ($key['to'] !== null && strcasecmp($key['to'], 'id') !== 0) {
                $index = $this->quote("{$this->names->table}_for_$key[to]");
                $column = $this->quote($key['to']);
                $this->pdo->exec("CREATE UNIQUE INDEX IF NOT EXISTS $index ON $table ($column)");
            }
        }
    }

    /** Makes an index or a trigger for the new table; false if it does not fit. */
    private function again(string $sql): bool
    {
        try {
            $this->pdo->exec($sql);
            return true;
        } catch (PDOException) {
            return false;
        }
    }

    /**
     * Finds views and triggers that do not compile, even if that is due to a view that they use.
     *
     * @return array<string, array<string, mixed>> by type and name
     */
    private function broken(): array
    {
        $sql = 'SELECT type, name, tbl_name AS target, sql FROM main.sqlite_master '
            . "WHERE type IN ('view', 'trigger') ORDER BY rowid";
        $broken = [];
        foreach ($this->all($sql) as $object) {
            $broken += $this->compiles($object) ? [] : ["$object[type] $object[name]" => $object];
        }
        return $broken;
    }

    /** @param array<string, mixed> $object */
    private function compiles(array $object): bool
    {
        $target = $this->quote($object['target']);
        try {
            $set = implode(', ', array_map(
                fn (array $c): string => $this->quote($c['name']) . ' = NULL',
                $object['type'] === 'view' ? []
                    : $this->all('SELECT name FROM pragma_table_info(?)', $object['target'])
            ));
            $tries = $set === '' ? ['SELECT * FROM ' . $this->quote($object['name'])]
                : ["DELETE FROM $target", "UPDATE $target SET $set",
                    "INSERT INTO $target DEFAULT VALUES"];
            foreach ($tries as $try) {
                $this->pdo->query("EXPLAIN $try");
            }
            return true;
        } catch (PDOException) {
            return false;
        }
    }
}
