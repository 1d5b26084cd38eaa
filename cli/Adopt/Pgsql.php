<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue\Cli\Stop;
use PDO;

/**
 * On PostgreSQL all changes of tables are in one transaction, which keeps the old table locked.
 * Other objects follow a renamed table, so views and foreign keys would refer to the old one.
 */
final class Pgsql extends ServerDatabase
{
    private const LOCK_MS = 60_000;
    // to_jsonb(), because pg_attribute.attgenerated does not exist before version 12.
    private const COLUMNS = 'SELECT a.attname AS name, '
        . 'format_type(a.atttypid, a.atttypmod) AS type, '
        . 'a.attnotnull AS must, pg_get_expr(d.adbin, d.adrelid) AS value, '
        . "COALESCE(to_jsonb(a) ->> 'attgenerated', '') AS generated, "
        . 'CASE WHEN a.attcollation <> t.typcollation THEN c.collname END AS collation, '
        . 'COALESCE(a.attnum = ANY (i.indkey), false) AS is_key, '
        . 't.typnotnull AND t.typdefault IS NULL AND d.adbin IS NULL AS never, '
        . 'pg_get_serial_sequence(a.attrelid::regclass::text, a.attname) IS NOT NULL AS serial '
        . 'FROM pg_attribute a '
        . 'JOIN pg_type t ON t.oid = a.atttypid '
        . 'LEFT JOIN pg_collation c ON c.oid = a.attcollation '
        . 'LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum '
        . 'LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary '
        . 'WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped '
        . 'ORDER BY a.attnum';

    /** @var list<array{string, string}> */
    private array $lost = [];

    public function __construct(PDO $pdo, Names $names)
    {
        parent::__construct($pdo, $names);
        $pdo->exec('SET lock_timeout = ' . self::LOCK_MS);
        $pdo->exec("SET timezone = 'UTC'"); // for times with a zone
        $pdo->exec("SET datestyle = 'ISO'"); // a server may write 21.11.2026
        $pdo->exec('SET row_security = off'); // an error instead of rows that a policy hides
        $pdo->exec('SET client_min_messages = warning');
    }

    public function alone(): void
    {
        $this->one('SELECT pg_advisory_lock(7881696737355982199)'); // held until disconnected
    }

    public function nameMax(): int
    {
        return 63;
    }

    public function bytes(string $column): string
    {
        return "CAST({$this->quote($column)} AS TEXT)";
    }

    public function table(string $name): ?string
    {
        $found = $this->one("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') "
            . 'AND oid = to_regclass(?)', $this->quote($name));
        return is_string($found) ? $found : null;
    }

    public function other(string $name): ?string
    {
        $found = $this->one("SELECT CASE relkind WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' "
            . "ELSE 'view' END FROM pg_class WHERE relkind NOT IN ('r', 'p') "
            . 'AND oid = to_regclass(?)', $this->quote($name));
        return is_string($found) ? $found : null;
    }

    public function columns(string $table): array
    {
        $columns = [];
        foreach ($this->all(self::COLUMNS, $this->quote($table)) as $about) {
            $isGenerated = $about['generated'] !== '';
            $value = match (true) {
                $isGenerated => " GENERATED ALWAYS AS ($about[value]) STORED",
                // The sequence of a serial column belongs to the old table, and ends with it.
                $about['value'] === null || $about['serial'] => '',
                default => " DEFAULT $about[value]" . ($about['must'] ? ' NOT NULL' : ''),
            };
            $collation = $about['collation'] === null ? ''
                : " COLLATE {$this->quote($about['collation'])}";
            $definition = "$about[type]$collation$value";
            $isKey = (bool) $about['is_key'];
            $trouble = $about['never'] ? "has the type $about[type], which is never NULL, and no "
                . 'default: enqueue() could store nothing. Give it a default' : null;
            $columns[] = new Column($about['name'], $definition, $isKey, $isGenerated, $trouble);
        }
        return $columns;
    }

    public function dependents(string $table): array
    {
        return [...$this->writers($table), ...$this->views($table), ...$this->keys($table),
            ...$this->staying($table)];
    }

    /** @return list<Dependent> rules and triggers of other tables that name the table */
    private function writers(string $table): array
    {
        $sql = "SELECT 'rule' AS kind, rulename AS name, ev_class::regclass::text AS child, "
            . 'pg_get_ruledef(oid) AS create, NULL AS text FROM pg_rewrite r WHERE '
            . "rulename <> '_RETURN' AND ev_class <> to_regclass(?) AND EXISTS (SELECT 1 FROM "
            . "pg_depend d WHERE d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid "
            . "AND d.refclassid = 'pg_class'::regclass AND d.refobjid = to_regclass(?)) "
            . "UNION ALL SELECT 'trigger', tgname, tgrelid::regclass::text, "
            . 'pg_get_triggerdef(t.oid), p.prosrc FROM pg_trigger t JOIN pg_proc p '
            . 'ON p.oid = t.tgfoid WHERE NOT tgisinternal AND tgrelid <> to_regclass(?) '
            . 'ORDER BY 1, 2, 3';
        $name = $this->quote($table);
        $found = [];
        foreach ($this->all($sql, $name, $name, $name) as $one) {
            if ($one['kind'] === 'rule' || self::mentions((string) $one['text'], $table)) {
                $found[] = new Dependent(
                    "$one[kind] $one[name] of $one[child]",
                    "DROP $one[kind] {$this->quote($one['name'])} ON $one[child]",
                    rtrim($one['create'], ';')
                );
            }
        }
        return $found;
    }

    /** @return list<Dependent> views, and views on them, in the order to drop them */
    private function views(string $table): array
    {
        $on = "r.oid = d.objid WHERE d.classid = 'pg_rewrite'::regclass "
            . "AND d.refclassid = 'pg_class'::regclass AND r.ev_class <> d.refobjid";
        $sql = "WITH RECURSIVE seen (oid, depth) AS (SELECT r.ev_class, 1 FROM pg_depend d "
            . "JOIN pg_rewrite r ON $on AND d.refobjid = to_regclass(?) UNION "
            . "SELECT r.ev_class, seen.depth + 1 FROM seen JOIN pg_depend d "
            . "ON d.refobjid = seen.oid JOIN pg_rewrite r ON $on) "
            . 'SELECT v.oid, v.oid::regclass::text AS name, v.relkind AS kind, '
            . "array_to_string(v.reloptions, ', ') AS options, "
            . 'pg_get_viewdef(v.oid) AS text FROM (SELECT oid, max(depth) AS depth FROM seen '
            . "GROUP BY oid) s JOIN pg_class v ON v.oid = s.oid WHERE v.relkind IN ('v', 'm') "
            . 'ORDER BY s.depth DESC, name';
        $found = [];
        foreach ($this->all($sql, $this->quote($table)) as $view) {
            $kind = $view['kind'] === 'm' ? 'MATERIALIZED VIEW' : 'VIEW';
            $with = (string) $view['options'] === '' ? '' : " WITH ($view[options])";
            $indexes = $this->all('SELECT pg_get_indexdef(indexrelid) AS sql FROM pg_index '
                . 'WHERE indrelid = ?', $view['oid']);
            $create = ["CREATE $kind $view[name]$with AS $view[text]",
                ...array_column($indexes, 'sql')];
            $create = array_map(static fn (string $one): string => rtrim($one, '; '), $create);
            $found[] = new Dependent(
                "view $view[name]",
                "DROP $kind $view[name]",
                implode('; ', $create)
            );
        }
        return $found;
    }

    /** @return list<Dependent> foreign keys from and to other tables */
    private function keys(string $table): array
    {
        $sql = 'SELECT conname AS name, conrelid::regclass::text AS child, '
            . "pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE contype = 'f' "
            . 'AND to_regclass(?) IN (conrelid, confrelid) AND conrelid <> confrelid '
            . 'ORDER BY conname';
        $found = [];
        foreach ($this->all($sql, $this->quote($table)) as $key) {
            $name = $this->quote($key['name']);
            $found[] = new Dependent(
                "foreign key $key[name] of $key[child]",
                "ALTER TABLE $key[child] DROP CONSTRAINT $name",
                "ALTER TABLE $key[child] ADD CONSTRAINT $name $key[text]"
            );
        }
        return $found;
    }

    /** @return list<Dependent> what stays with the old table, such as triggers */
    private function staying(string $table): array
    {
        $is = 'to_regclass(?)';
        $sql = "SELECT 'foreign key ' || conname AS what FROM pg_constraint WHERE contype = 'f' "
            . "AND conrelid = confrelid AND conrelid = $is "
            . "UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger "
            . "WHERE tgrelid = $is AND NOT tgisinternal "
            . "UNION ALL SELECT 'rule ' || rulename FROM pg_rewrite WHERE ev_class = $is "
            . "UNION ALL SELECT 'policy ' || polname FROM pg_policy WHERE polrelid = $is "
            . "UNION ALL SELECT DISTINCT 'function ' || d.objid::regprocedure::text "
            . "FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.refobjid = $is "
            . 'UNION ALL SELECT pg_describe_object(d.classid, d.objid, d.objsubid) '
            . 'FROM pg_depend d JOIN pg_type t ON t.oid = d.refobjid '
            . 'LEFT JOIN pg_type e ON e.oid = t.typelem '
            . "WHERE d.refclassid = 'pg_type'::regclass AND d.deptype = 'n' "
            . "AND $is IN (t.typrelid, e.typrelid) "
            . "UNION ALL SELECT 'partition ' || inhrelid::regclass::text FROM pg_inherits "
            . "WHERE inhparent = $is";
        $name = $this->quote($table);
        return array_map(
            static fn (array $one): Dependent => new Dependent($one['what']),
            $this->all($sql, $name, $name, $name, $name, $name, $name, $name)
        );
    }

    /** Yields each row, keyed by its physical place, which stays while the table is locked. */
    public function rows(string $table, string $order): iterable
    {
        $isOurs = !$this->pdo->inTransaction() && $this->pdo->beginTransaction();
        $this->pdo->exec("DECLARE adopted NO SCROLL CURSOR FOR SELECT tableoid::text || ' ' || "
            . 'ctid::text AS adopted_row, * FROM ' . $this->quote($table) . $order);
        do {
            $rows = $this->all('FETCH 20 FROM adopted'); // each can be a message with attachments
            foreach ($rows as $row) {
                $label = array_shift($row);
                yield $label => $row;
            }
        } while ($rows);
        $this->pdo->exec('CLOSE adopted');
        $isOurs && $this->pdo->rollBack();
    }

    public function locate(string $table): string
    {
        return "tableoid = split_part(?::text, ' ', 1)::oid "
            . "AND ctid = split_part(?::text, ' ', 2)::tid";
    }

    public function refuse(string $table): void
    {
        $sql = 'SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = to_regclass(?)';
        $schema = $this->one($sql, $this->quote($table));
        $current = $this->one('SELECT quote_ident(current_schema())');
        if ($schema !== $current) {
            throw Stop::config("Table $table is in the schema $schema, but new tables are made in "
                . "$current: give a DSN with ;options='-csearch_path=$schema'. Nothing was "
                . 'changed.');
        }
    }

    public function begin(string ...$tables): void
    {
        $this->pdo->exec('BEGIN ISOLATION LEVEL READ COMMITTED');
        $list = implode(', ', array_map($this->quote(...), $tables));
        $this->pdo->exec("LOCK TABLE $list IN ACCESS EXCLUSIVE MODE");
    }

    public function swap(string $source, array $dependents): void
    {
        foreach ($dependents as $one) {
            $one->drop === null || $this->pdo->exec($one->drop);
            foreach ((array) $one->create as $sql) { // one, if any
                array_unshift($this->lost, [$one->what, $sql]);
            }
        }
        $before = Names::before($source);
        $this->rename($source, $before);
        if ($this->table($this->names->staged()->table) === null) {
            return; // the queue existed before: nothing is staged
        }
        foreach ($this->finalNames() as $staged => $final) {
            foreach ($this->parts($staged) as ['name' => $name, 'kind' => $kind]) {
                $wanted = $this->finalIndex($name, $staged, $final);
                $this->makeWay($wanted, $before, $source);
                $this->pdo->exec("ALTER $kind {$this->quote($name)} RENAME TO "
                    . $this->quote($wanted));
            }
            $this->rename($staged, $final);
            $this->pdo->exec("ALTER TABLE {$this->quote($final)} OWNER TO {$this->owner($before)}");
            $this->grant($before, $final);
        }
    }

    /**
     * Gives the users of the old table the same rights on one of the queue's. Tables beside the
     * jobs, which hold messages and settings, and ids are only for users that may store mail.
     */
    private function grant(string $before, string $table): void
    {
        $users = $this->all(
            "SELECT string_agg(a.privilege_type, ', ') AS rights, "
            . "CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) "
            . 'END AS name FROM pg_class c CROSS JOIN aclexplode(c.relacl) a '
            . 'WHERE c.oid = to_regclass(?) AND a.grantee <> c.relowner GROUP BY a.grantee '
            . "HAVING ? OR bool_or(a.privilege_type = 'INSERT')",
            $this->quote($before),
            $table === $this->names->table ? 1 : 0
        );
        foreach ($users as $user) {
            $this->pdo->exec("GRANT $user[rights] ON {$this->quote($table)} TO $user[name]");
            $stores = str_contains((string) $user['rights'], 'INSERT');
            foreach ($stores ? $this->parts($table) : [] as ['name' => $name, 'kind' => $kind]) {
                $kind === 'SEQUENCE' && $this->pdo->exec('GRANT USAGE ON SEQUENCE '
                    . "{$this->quote($name)} TO $user[name]");
            }
        }
    }

    /** The owner of a table, quoted; he must own the queue's tables too. */
    private function owner(string $table): string
    {
        return (string) $this->one('SELECT quote_ident(pg_get_userbyid(relowner)) FROM pg_class '
            . 'WHERE oid = to_regclass(?)', $this->quote($table));
    }

    /** @return list<array<string, mixed>> indexes and sequences of a table */
    private function parts(string $table): array
    {
        return $this->all("SELECT c.relname AS name, CASE c.relkind WHEN 'S' THEN 'SEQUENCE' "
            . "ELSE 'INDEX' END AS kind FROM pg_class c "
            . 'LEFT JOIN pg_index i ON i.indexrelid = c.oid '
            . "LEFT JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid "
            . "AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i') "
            . "AND c.relkind = 'S' WHERE COALESCE(i.indrelid, d.refobjid) = to_regclass(?) "
            . 'ORDER BY 1', $this->quote($table));
    }

    /** Renames an index of the old table that has a name which the queue's tables need. */
    private function makeWay(string $wanted, string $before, string $source): void
    {
        if ($this->table($wanted) === null && $this->other($wanted) === null) {
            return;
        }
        $own = array_column($this->parts($before), 'kind', 'name');
        if (!isset($own[$wanted])) {
            throw Stop::config("The name $wanted, which the queue needs, is another object's: "
                . 'rename that. Nothing was changed.');
        }
        $other = $this->quote($before . '_' . substr(sha1($wanted), 0, 7));
        $kind = $own[$wanted];
        $this->pdo->exec("ALTER $kind {$this->quote($wanted)} RENAME TO $other");
        $this->lost[] = ["name $wanted", "ALTER $kind $other RENAME TO {$this->quote($wanted)}"];
    }

    protected function indexes(string $table): array
    {
        return array_map(static fn (array $one): string
            => strtolower($one['kind']) . " $one[name]", $this->parts($table));
    }

    public function rename(string $from, string $to): void
    {
        $this->pdo->exec("ALTER TABLE {$this->quote($from)} RENAME TO {$this->quote($to)}");
    }

    public function lost(): array
    {
        return $this->lost;
    }

    public function continueAfter(string $table, int $id): void
    {
        $name = $this->quote($table);
        $this->one("SELECT setval(pg_get_serial_sequence(?, 'id'), greatest(?::bigint, "
            . "nextval(pg_get_serial_sequence(?, 'id'))))", $name, (string) $id, $name);
    }

    /** Nothing to do: swap() renames the indexes. */
    protected function nameIndexes(): void
    {
    }
}
