<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use PDO;

/**
 * PostgreSQL: objects follow a table that is renamed. Triggers and its own foreign keys may stay
 * with it; what looks from elsewhere (views, other tables' keys) would look at the wrong one.
 */
final class Pgsql extends Database
{
    private const OURS = '(key|due|lease|parked|rest|expiry|pkey)';

    /** @var list<string> */
    private array $lost = [];

    public function table(string $name): ?string
    {
        $found = $this->all('SELECT c.relname AS name FROM pg_class c '
            . "WHERE c.relkind IN ('r', 'p') "
            . 'AND c.oid = to_regclass(?)', $this->quote($name));
        return $found ? $found[0]['name'] : null;
    }

    public function columns(string $table): array
    {
        $columns = [];
        $sql = 'SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, '
            . 'a.attnotnull AS must, a.attidentity, pg_get_expr(d.adbin, d.adrelid) AS value, '
            . 'COALESCE(a.attnum = ANY (i.indkey), false) AS is_key FROM pg_attribute a '
            . 'LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum '
            . 'LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary '
            . 'WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped '
            . 'ORDER BY a.attnum';
        foreach ($this->all($sql, $this->quote($table)) as $about) {
            $default = $about['value'] === null ? ''
                : " DEFAULT $about[value]" . ($about['must'] ? ' NOT NULL' : '');
            $definition = "$about[type]$default";
            $columns[] = new Column($about['name'], $definition, (bool) $about['is_key']);
        }
        return $columns;
    }

    public function dependents(string $table): array
    {
        $found = [];
        $sql = 'SELECT DISTINCT v.oid::regclass::text AS name, v.relkind AS kind, '
            . 'pg_get_viewdef(v.oid) AS text FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid '
            . 'JOIN pg_class v ON v.oid = r.ev_class WHERE d.refobjid = to_regclass(?) '
            . "AND d.classid = 'pg_rewrite'::regclass AND v.oid <> d.refobjid";
        foreach ($this->all($sql, $this->quote($table)) as $view) {
            $kind = $view['kind'] === 'm' ? 'MATERIALIZED VIEW' : 'VIEW';
            $found[] = new Dependent(
                "view $view[name]",
                "DROP $kind $view[name]",
                "CREATE $kind $view[name] AS $view[text]"
            );
        }
        $sql = 'SELECT conname AS name, conrelid::regclass::text AS child, '
            . 'pg_get_constraintdef(oid) AS text, conrelid = confrelid AS is_own '
            . "FROM pg_constraint WHERE contype = 'f' AND confrelid = to_regclass(?) "
            . 'AND conrelid <> confrelid';
        foreach ($this->all($sql, $this->quote($table)) as $key) {
            $name = $this->quote($key['name']);
            $found[] = new Dependent(
                "foreign key $key[name] of $key[child]",
                "ALTER TABLE $key[child] DROP CONSTRAINT $name",
                "ALTER TABLE $key[child] ADD CONSTRAINT $name $key[text]"
            );
        }
        $sql = "SELECT 'foreign key ' || conname AS what FROM pg_constraint WHERE contype = 'f' "
            . "AND conrelid = to_regclass(?) UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger "
            . 'WHERE tgrelid = to_regclass(?) AND NOT tgisinternal';
        foreach ($this->all($sql, $this->quote($table), $this->quote($table)) as $object) {
            $found[] = new Dependent($object['what']);
        }
        return $found;
    }

    public function rows(string $table, string $order): iterable
    {
        $isOurs = !$this->pdo->inTransaction() && $this->pdo->beginTransaction();
        $this->pdo->exec('DECLARE adopted NO SCROLL CURSOR FOR SELECT ctid AS adopted_row, * FROM '
            . $this->quote($table) . $order);
        do {
            $rows = $this->all('FETCH 500 FROM adopted');
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
        return 'ctid = ?::tid';
    }

    public function begin(): void
    {
        $this->pdo->exec("SET lock_timeout = '60s'");
    }

    public function rename(string $from, string $to, array $dependents): void
    {
        $this->pdo->beginTransaction();
        foreach ($dependents as $one) {
            $one->drop === null || $this->pdo->exec($one->drop);
            $this->lost = $one->create === null ? $this->lost : [...$this->lost, $one->create];
        }
        $sql = 'SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid '
            . 'WHERE i.indrelid = to_regclass(?) AND c.relname ~ ?';
        $names = $this->all($sql, $this->quote($from), "^{$from}_" . self::OURS . '$');
        foreach ($names as ['name' => $name]) { // they are one name space
            $other = $this->quote($to . substr($name, strlen($from)));
            $this->pdo->exec("ALTER INDEX {$this->quote($name)} RENAME TO $other");
        }
        $this->pdo->exec("ALTER TABLE {$this->quote($from)} RENAME TO {$this->quote($to)}");
        $this->pdo->commit();
    }

    public function lost(): array
    {
        return $this->lost;
    }

    public function create(): void
    {
        $this->names->queue($this->pdo);
    }

    public function continueAfter(int $id): void
    {
        $table = $this->quote($this->names->table);
        $this->all("SELECT setval(pg_get_serial_sequence(?, 'id'), greatest(?::bigint, "
            . "(SELECT COALESCE(max(id), 1) FROM $table)))", $table, (string) $id);
    }

    public function addColumn(Column $column): void
    {
        $this->pdo->exec("ALTER TABLE {$this->quote($this->names->table)} ADD COLUMN "
            . "{$this->quote($column->name)} $column->definition");
    }
}
