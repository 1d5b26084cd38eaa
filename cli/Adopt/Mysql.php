<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use Closure;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;
use PDO;

/**
 * On MariaDB and MySQL each change of a table commits. So one RENAME TABLE of all tables, which is
 * atomic, is the decisive change. With the record in the config table, earlier steps can be undone
 * and later ones repeated. Views find a table by its name; triggers and foreign keys follow it.
 */
final class Mysql extends ServerDatabase
{
    /** Ids kept free for mails that the old program may still store before its table is renamed. */
    private const GAP = 1000;
    private const LOCK_S = 60;
    private const MODE = 'ANSI_QUOTES,STRICT_ALL_TABLES';

    /** @var list<array{string, string}> */
    private array $lost = [];

    /** @param Closure(): PDO $connect opens one more connection: it reads rows while $pdo writes */
    public function __construct(PDO $pdo, Names $names, private readonly Closure $connect)
    {
        parent::__construct($pdo, $names);
        self::prepare($pdo);
    }

    /**
     * Sets names in double quotes, an error instead of a cut value, and TIMESTAMP in UTC. Zero
     * dates of the old table stay allowed.
     */
    private static function prepare(PDO $pdo): void
    {
        $pdo->exec("SET SESSION sql_mode = '" . self::MODE . "', "
            . "time_zone = '+00:00', lock_wait_timeout = " . self::LOCK_S);
    }

    public function alone(): void
    {
        $got = $this->one("SELECT GET_LOCK(CONCAT('mailqueue.adopt.', SHA1(DATABASE())), 60)");
        if ((int) $got !== 1) {
            throw new Stop('Another process has been adopting here for a minute: try again '
                . 'when it is done.', ExitCode::TEMPFAIL);
        }
    }

    public function nameMax(): int
    {
        return 64;
    }

    public function isOneTransaction(): bool
    {
        return false;
    }

    public function bytes(string $column): string
    {
        return "CAST({$this->quote($column)} AS BINARY)";
    }

    public function table(string $name): ?string
    {
        $found = $this->one('SELECT table_name FROM information_schema.tables WHERE '
            . "table_schema = DATABASE() AND table_name = ? AND table_type = 'BASE TABLE'", $name);
        return is_string($found) ? $found : null;
    }

    public function other(string $name): ?string
    {
        $found = $this->one('SELECT LOWER(table_type) FROM information_schema.tables WHERE '
            . "table_schema = DATABASE() AND table_name = ? AND table_type <> 'BASE TABLE'", $name);
        return is_string($found) ? $found : null;
    }

    public function columns(string $table): array
    {
        $isMariaDb = stripos((string) $this->one('SELECT VERSION()'), 'maria') !== false;
        $sql = 'SELECT column_name AS name, column_type AS type, is_nullable AS may, '
            . 'column_default AS value, extra AS extra, column_key AS k, '
            . 'character_set_name AS charset, '
            . 'collation_name AS collation, generation_expression AS expression '
            . 'FROM information_schema.columns '
            . 'WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position';
        $columns = [];
        foreach ($this->all($sql, $table) as $about) {
            $extra = strtoupper((string) $about['extra']);
            $isMariaDb || $about = self::unescaped($about, $extra);
            $isGenerated = (string) $about['expression'] !== '';
            $type = $about['type'] . ($about['charset'] === null ? ''
                : " CHARACTER SET $about[charset] COLLATE $about[collation]");
            $columns[] = new Column(
                $about['name'],
                $isGenerated ? "$type AS ($about[expression]) "
                    . (str_contains($extra, 'VIRTUAL') ? 'VIRTUAL' : 'STORED')
                    : $type . $this->value($about, $extra, $isMariaDb),
                $about['k'] === 'PRI',
                $isGenerated,
                in_array(strtolower($about['name']), ['claimable', 'live_of'], true)
                    ? 'has the name of a column that the queue computes. Rename it' : null
            );
        }
        return $columns;
    }

    /**
     * MySQL escapes the quotes of expressions, concat(a,_utf8mb4\'x\'), and leaves out the
     * parentheses of a default that is one, such as uuid().
     *
     * @param array<string, mixed> $about
     * @return array<string, mixed>
     */
    private static function unescaped(array $about, string $extra): array
    {
        $plain = static fn (mixed $text): string
            => (string) preg_replace('/\\\\(.)/s', '$1', (string) $text);
        $about['expression'] = $plain($about['expression']);
        if (str_contains($extra, 'DEFAULT_GENERATED')
            && !str_starts_with(strtoupper((string) $about['value']), 'CURRENT_TIMESTAMP')) {
            $about['value'] = '(' . $plain($about['value']) . ')';
        }
        return $about;
    }

    /** @param array<string, mixed> $about */
    private function value(array $about, string $extra, bool $isMariaDb): string
    {
        $value = $about['value'];
        if ($value === null || $value === 'NULL') {
            return ' NULL';
        }
        $isExpression = $isMariaDb || str_contains($extra, 'DEFAULT_GENERATED')
            || str_starts_with(strtoupper($value), 'CURRENT_TIMESTAMP');
        $update = preg_match('/ON UPDATE \S+/', $extra, $match) ? " $match[0]" : '';
        return ($about['may'] === 'NO' ? ' NOT NULL' : ' NULL') . ' DEFAULT '
            . ($isExpression ? $value : $this->pdo->quote($value)) . $update;
    }

    public function dependents(string $table): array
    {
        return [...$this->writers($table), ...$this->views($table), ...$this->keys($table),
            ...$this->staying($table)];
    }

    /** @return list<Dependent> triggers of other tables that name the table */
    private function writers(string $table): array
    {
        $found = [];
        $here = (string) $this->one('SELECT DATABASE()');
        foreach ($this->all('SELECT trigger_schema AS owner, trigger_name AS name, '
            . 'sql_mode AS mode, event_object_table AS child, action_statement AS text '
            . 'FROM information_schema.triggers WHERE event_object_schema <> DATABASE() '
            . 'OR event_object_table <> ? ORDER BY 1, 2', $table) as $one) {
            $isHere = $one['owner'] === $here || self::mentions($one['text'], $here);
            if ($isHere && self::mentions($one['text'], $table)) {
                $name = $this->quote($one['owner']) . '.' . $this->quote($one['name']);
                $text = $this->all("SHOW CREATE TRIGGER $name")[0]['SQL Original Statement'];
                $text = preg_replace('/ DEFINER=(``|"")(@\1)?(?= )/', '', (string) $text);
                $mode = static fn (string $mode): string => "SET SESSION sql_mode = '$mode'";
                $sql = [$mode($one['mode']), (string) $text, $mode(self::MODE)];
                $what = "trigger $one[name] of $one[child]";
                $found[] = new Dependent($what, "DROP TRIGGER $name", $sql);
            }
        }
        return $found;
    }

    /** @return list<Dependent> the views of the table, and the views of those views */
    private function views(string $table): array
    {
        $database = (string) $this->one('SELECT DATABASE()');
        $found = [];
        for ($names = [[$database, $table]]; $names;) {
            $name = array_shift($names);
            // The server stores a view's text with names in this form, whatever was typed.
            $spelled = '`' . implode('`.`', str_replace('`', '``', $name)) . '`';
            $views = $this->all('SELECT table_schema AS owner, table_name AS name FROM '
                . 'information_schema.views WHERE LOCATE(?, view_definition) > 0', $spelled);
            foreach ($views as $view) {
                $what = $view['owner'] === $database ? $view['name'] : implode('.', $view);
                if (!isset($found[$what])) {
                    $quoted = $this->quote($view['owner']) . '.' . $this->quote($view['name']);
                    $row = $this->all("SHOW CREATE VIEW $quoted")[0];
                    $text = str_replace(' DEFINER=""@""', '', (string) $row['Create View']);
                    $text = str_replace(' DEFINER=""', '', $text); // of a server without accounts
                    $found[$what] = new Dependent("view $what", "DROP VIEW $quoted", $text);
                    $names[] = [$view['owner'], $view['name']];
                }
            }
        }
        return array_values(array_reverse($found));
    }

    /** @return list<Dependent> foreign keys from and to other tables */
    private function keys(string $table): array
    {
        $list = static fn (string $name): string
            => "GROUP_CONCAT(k.$name ORDER BY k.ordinal_position SEPARATOR '\",\"')";
        $sql = 'SELECT k.constraint_name AS name, k.table_schema AS owner, k.table_name AS child, '
            . 'k.referenced_table_schema AS parents_owner, k.referenced_table_name AS parent, '
            . "r.delete_rule AS del, r.update_rule AS upd, {$list('column_name')} AS columns, "
            . "{$list('referenced_column_name')} AS parents FROM "
            . 'information_schema.key_column_usage k JOIN '
            . 'information_schema.referential_constraints r ON '
            . 'r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name '
            . 'AND r.table_name = k.table_name WHERE '
            . '((k.referenced_table_schema = DATABASE() AND k.referenced_table_name = ?) '
            . 'OR (k.table_schema = DATABASE() AND k.table_name = ?)) '
            . 'AND k.referenced_table_name IS NOT NULL '
            . 'AND (k.table_schema, k.table_name) <> '
            . '(k.referenced_table_schema, k.referenced_table_name) GROUP BY 1, 2, 3, 4, 5, 6, 7';
        $found = [];
        foreach ($this->all($sql, $table, $table) as $key) {
            $name = $this->quote($key['name']);
            $child = $this->quote($key['owner']) . '.' . $this->quote($key['child']);
            $parent = $this->quote($key['parents_owner']) . '.' . $this->quote($key['parent']);
            $found[] = new Dependent(
                "foreign key $key[name] of $key[child]",
                "ALTER TABLE $child DROP FOREIGN KEY $name",
                "ALTER TABLE $child ADD CONSTRAINT $name FOREIGN KEY (\"$key[columns]\") "
                . "REFERENCES $parent (\"$key[parents]\") ON DELETE $key[del] ON UPDATE $key[upd]"
            );
        }
        return $found;
    }

    /** @return list<Dependent> what stays with the old table: triggers, foreign keys to itself */
    private function staying(string $table): array
    {
        $sql = "SELECT CONCAT('foreign key ', constraint_name) AS what FROM "
            . 'information_schema.referential_constraints WHERE constraint_schema = DATABASE() '
            . 'AND table_name = ? AND referenced_table_name = table_name '
            . "UNION ALL SELECT CONCAT('trigger ', trigger_name) FROM "
            . 'information_schema.triggers WHERE trigger_schema = DATABASE() '
            . 'AND event_object_table = ?';
        return array_map(
            static fn (array $one): Dependent => new Dependent($one['what']),
            $this->all($sql, $table, $table)
        );
    }

    protected function indexes(string $table): array
    {
        $sql = "SELECT DISTINCT CONCAT('index ', index_name) AS what FROM "
            . 'information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ?';
        return array_column($this->all($sql, $table), 'what');
    }

    public function rows(string $table, string $order): iterable
    {
        $reader = ($this->connect)();
        self::prepare($reader);
        $reader->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
        $class = class_exists('Pdo\Mysql') ? 'Pdo\Mysql::' : 'PDO::MYSQL_'; // 8.5 warns of the old
        $reader->setAttribute((int) constant("{$class}ATTR_USE_BUFFERED_QUERY"), false);
        $names = array_map(fn (Column $one): string
            => $this->quote($one->name), $this->columns($table));
        $result = $reader->query('SELECT ' . implode(', ', $names) // * lacks INVISIBLE columns
            . " FROM {$this->quote($table)}$order", PDO::FETCH_ASSOC);
        foreach ($result ?: [] as $row) {
            yield null => $row;
        }
    }

    public function locate(string $table): ?string
    {
        return null;
    }

    /** Locks nothing: no lock lasts through RENAME TABLE, which itself blocks other connections. */
    public function begin(string ...$tables): void
    {
    }

    public function swap(string $source, array $dependents): void
    {
        foreach ($dependents as $one) {
            $one->drop === null || $this->pdo->exec($one->drop);
        }
        $pairs = [$source => Names::before($source)];
        if ($this->table($this->names->staged()->table) !== null) {
            $pairs += $this->finalNames();
        }
        $this->renameAll($pairs);
    }

    /** @param array<string, string> $pairs */
    public function renameAll(array $pairs): void
    {
        $list = array_map(
            fn (string $from, string $to): string => "{$this->quote($from)} TO {$this->quote($to)}",
            array_keys($pairs),
            $pairs
        );
        $this->pdo->exec('RENAME TABLE ' . implode(', ', $list));
    }

    public function rename(string $from, string $to): void
    {
        $this->renameAll([$from => $to]);
    }

    public function beginRows(): void
    {
        $this->pdo->exec('START TRANSACTION');
    }

    /** Locks a table's rows until the transaction ends. */
    public function hold(string $table): void
    {
        $this->all("SELECT 1 FROM {$this->quote($table)} FOR UPDATE");
    }

    /** Returns what lose() has set. The adoption's record has it before anything is dropped. */
    public function lost(): array
    {
        return $this->lost;
    }

    /**
     * Sets what will be dropped, in the order in which it is made again.
     *
     * @param list<Dependent> $dependents
     * @param list<array{string, string}> $known what a killed run has dropped
     */
    public function lose(array $dependents, array $known): void
    {
        $new = [];
        foreach ($dependents as $one) {
            foreach (array_reverse((array) $one->create) as $sql) {
                array_unshift($new, [$one->what, $sql]);
            }
        }
        $what = array_column($new, 0);
        $isOld = static fn (array $pair): bool => !in_array($pair[0], $what, true);
        $this->lost = [...$new, ...array_values(array_filter($known, $isOld))];
    }

    public function continueAfter(string $table, int $id): void
    {
        $this->pdo->exec("ALTER TABLE {$this->quote($table)} AUTO_INCREMENT = "
            . ($id + self::GAP));
    }

    protected function nameIndexes(): void
    {
        foreach (array_combine(
            $this->names->staged()->tables(),
            $this->names->tables()
        ) as $staged => $final) {
            $names = $this->all('SELECT DISTINCT index_name AS name FROM '
                . 'information_schema.statistics WHERE table_schema = DATABASE() '
                . "AND table_name = ? AND index_name <> 'PRIMARY'", $staged);
            foreach ($names as ['name' => $name]) {
                $to = $this->quote($this->finalIndex($name, $staged, $final));
                $this->pdo->exec("ALTER TABLE {$this->quote($staged)} RENAME INDEX "
                    . "{$this->quote($name)} TO $to");
            }
        }
    }
}
