<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use Closure;
use PDO;

/**
 * MySQL and MariaDB: every change of a table commits, so that an adoption that was ended in the
 * middle goes on, or back, by the next command. Triggers and foreign keys follow the table.
 */
final class Mysql extends Database
{
    /** @var list<string> */
    private array $lost = [];

    /** @param Closure(): PDO $connect another connection, to read rows while these are stored */
    public function __construct(PDO $pdo, Names $names, private readonly Closure $connect)
    {
        parent::__construct($pdo, $names);
        self::prepare($pdo);
    }

    private static function prepare(PDO $pdo): void
    {
        // Names in double quotes, as in the standard, and TIMESTAMP in UTC.
        $pdo->exec("SET SESSION sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES'), "
            . "time_zone = '+00:00', lock_wait_timeout = 60");
    }

    public function table(string $name): ?string
    {
        $found = $this->all('SELECT table_name AS name FROM information_schema.tables WHERE '
            . "table_schema = DATABASE() AND table_name = ? AND table_type = 'BASE TABLE'", $name);
        return $found ? $found[0]['name'] : null;
    }

    public function columns(string $table): array
    {
        $columns = [];
        $isMariaDb = stripos((string) $this->pdo->getAttribute(PDO::ATTR_SERVER_VERSION), 'maria');
        $sql = 'SELECT column_name AS name, column_type AS type, is_nullable AS may, '
            . 'column_default AS value, extra, column_key AS k, character_set_name AS charset, '
            . 'collation_name AS collation FROM information_schema.columns '
            . 'WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position';
        foreach ($this->all($sql, $table) as $about) {
            $isText = $about['charset'] !== null;
            $isExpression = $isMariaDb !== false
                || stripos($about['extra'], 'DEFAULT_GENERATED') !== false;
            $value = $isExpression ? $about['value'] : $this->pdo->quote((string) $about['value']);
            $hasDefault = $about['value'] !== null && $about['value'] !== 'NULL';
            $columns[] = new Column($about['name'], $about['type']
                . ($isText ? " CHARACTER SET $about[charset] COLLATE $about[collation]" : '')
                . ($hasDefault && $about['may'] === 'NO' ? ' NOT NULL' : ' NULL')
                . ($hasDefault ? " DEFAULT $value" : ''), $about['k'] === 'PRI');
        }
        return $columns;
    }

    public function dependents(string $table): array
    {
        $found = [];
        $sql = 'SELECT table_name AS name FROM information_schema.views '
            . 'WHERE table_schema = DATABASE() AND view_definition LIKE ?';
        foreach ($this->all($sql, '%' . addcslashes($table, '%_\\') . '%') as $view) {
            $name = $this->quote($view['name']);
            $text = $this->all("SHOW CREATE VIEW $name")[0]['Create View'];
            $text = str_replace(' DEFINER=""', '', $text); // of a server without accounts
            $found[] = new Dependent("view $view[name]", "DROP VIEW $name", $text);
        }
        $sql = 'SELECT k.constraint_name AS name, k.table_name AS child, r.delete_rule AS del, '
            . 'r.update_rule AS upd, GROUP_CONCAT(k.column_name ORDER BY k.ordinal_position '
            . "SEPARATOR '\",\"') AS columns, GROUP_CONCAT(k.referenced_column_name ORDER BY "
            . "k.ordinal_position SEPARATOR '\",\"') AS parents FROM "
            . 'information_schema.key_column_usage k JOIN '
            . 'information_schema.referential_constraints r ON '
            . 'r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name '
            . 'AND r.table_name = k.table_name WHERE k.table_schema = DATABASE() '
            . 'AND k.referenced_table_name = ? AND k.table_name <> k.referenced_table_name '
            . 'GROUP BY 1, 2, 3, 4';
        foreach ($this->all($sql, $table) as $key) {
            [$name, $child] = [$this->quote($key['name']), $this->quote($key['child'])];
            $found[] = new Dependent(
                "foreign key $key[name] of $key[child]",
                "ALTER TABLE $child DROP FOREIGN KEY $name",
                "ALTER TABLE $child ADD CONSTRAINT "
                . "$name FOREIGN KEY (\"$key[columns]\") REFERENCES {$this->quote($table)} "
                . "(\"$key[parents]\") ON DELETE $key[del] ON UPDATE $key[upd]"
            );
        }
        $sql = "SELECT CONCAT('foreign key ', constraint_name) AS what FROM "
            . 'information_schema.referential_constraints WHERE constraint_schema = DATABASE() '
            . "AND table_name = ? UNION ALL SELECT CONCAT('trigger ', trigger_name) FROM "
            . 'information_schema.triggers WHERE trigger_schema = DATABASE() '
            . 'AND event_object_table = ?';
        foreach ($this->all($sql, $table, $table) as $object) {
            $found[] = new Dependent($object['what']);
        }
        return $found;
    }

    public function rows(string $table, string $order): iterable
    {
        $reader = ($this->connect)();
        self::prepare($reader);
        $reader->setAttribute(PDO::MYSQL_ATTR_USE_BUFFERED_QUERY, false);
        $result = $reader->query("SELECT * FROM {$this->quote($table)}$order", PDO::FETCH_ASSOC);
        foreach ($result ?: [] as $row) {
            yield null => $row;
        }
    }

    public function locate(string $table): ?string
    {
        return null;
    }

    public function begin(): void
    {
    }

    public function rename(string $from, string $to, array $dependents): void
    {
        foreach ($dependents as $one) {
            $one->drop === null || $this->pdo->exec($one->drop);
            $this->lost = $one->create === null ? $this->lost : [...$this->lost, $one->create];
        }
        $this->pdo->exec("RENAME TABLE {$this->quote($from)} TO {$this->quote($to)}");
    }

    public function lost(): array
    {
        return $this->lost;
    }

    public function create(): void
    {
        $this->names->queue($this->pdo);
    }

    /** Done before the rows are stored: it would commit them. */
    public function continueAfter(int $id): void
    {
        $this->pdo->exec("ALTER TABLE {$this->quote($this->names->table)} AUTO_INCREMENT = "
            . ($id + 1));
    }

    public function addColumn(Column $column): void
    {
        $this->pdo->exec("ALTER TABLE {$this->quote($this->names->table)} ADD COLUMN "
            . "{$this->quote($column->name)} $column->definition");
    }
}
