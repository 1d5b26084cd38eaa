--TEST--
mailqueue adopt: killed before each of its changes, it can be continued or undone; so can a killed --undo; on SQLite, PostgreSQL and MariaDB
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/adopt.inc';
require __DIR__ . '/../lib/backends.inc';

use MailQueue\Cli\Adopt\{Adoption, Database, Names, Sqlite, Undo};

spl_autoload_register(static function (string $class): void {
    $path = __DIR__ . '/../../cli/' . strtr(substr($class, strlen('MailQueue\\Cli\\')), '\\', '/') . '.php';
    str_starts_with($class, 'MailQueue\\Cli\\') && is_file($path) && require $path;
});

/** A connection whose process dies before its n-th statement that changes data. */
final class Dying extends PDO
{
    public ?int $left = null;
    public int $seen = 0;

    private function step(string $sql): string
    {
        if (!preg_match('/\A\s*(?:SELECT|SHOW|SET|PRAGMA|EXPLAIN|DECLARE|FETCH|CLOSE|WITH)\b/i', $sql)
            && $this->seen++ === $this->left) {
            posix_kill(getmypid(), SIGKILL);
        }
        return $sql;
    }

    public function exec(string $statement): int|false
    {
        return parent::exec($this->step($statement));
    }

    public function query(string $query, ?int $fetchMode = null, mixed ...$arguments): PDOStatement|false
    {
        return parent::query($this->step($query), $fetchMode, ...$arguments);
    }

    public function prepare(string $query, array $options = []): PDOStatement|false
    {
        return parent::prepare($this->step($query), $options);
    }
}

function run(string $dsn, bool $undoes, ?int $dies = null): int
{
    $pdo = new Dying($dsn);
    $names = new Names('mail_queue', 'config', 'reference');
    $database = str_starts_with($dsn, 'sqlite') ? new Sqlite($pdo, $names)
        : Database::server($pdo, $names, static fn (): PDO => new PDO($dsn));
    $pdo->left = $dies === null ? null : $pdo->seen + $dies;
    $undoes ? (new Undo($database, $names))->run() : (new Adoption($database, $names))->run(null, false, true);
    return $pdo->seen;
}

if (isset($argv[1])) {
    run($argv[1], $argv[2] === 'undo', (int) $argv[3]);
    exit(0);
}

function make(PDO $pdo): void
{
    $pdo->exec('CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, reference VARCHAR(20), mail_type VARCHAR(20), status VARCHAR(20), lang VARCHAR(5))');
    $pdo->exec('CREATE TABLE audit (job INTEGER, CONSTRAINT audits FOREIGN KEY (job) REFERENCES mail_queue (id))');
    $pdo->exec('CREATE INDEX mail_queue_due ON mail_queue (status)');
    $pdo->exec("INSERT INTO mail_queue VALUES (3, 'R1', 'm', 'pending', 'de'), (5, 'R2', 'm', 'failed', 'en'), (9, NULL, 'm', 'held', NULL)");
    $pdo->exec('INSERT INTO audit VALUES (5)');
    $pdo->exec('CREATE VIEW waiting AS SELECT id, lang FROM mail_queue');
    $pdo->exec('CREATE VIEW above AS SELECT lang FROM waiting');
}

/** The whole content of the database. */
function everything(PDO $pdo): string
{
    $lines = [];
    switch ($pdo->getAttribute(PDO::ATTR_DRIVER_NAME)) {
        case 'sqlite':
            return dump($pdo);
        case 'mysql':
            foreach (column($pdo, 'SHOW TABLES') as $name) {
                $lines[] = implode(' ', $pdo->query("SHOW CREATE TABLE $name")->fetch(PDO::FETCH_NUM));
            }
            break;
        default:
            $schema = 'current_schema()::regnamespace';
            $lines = [...column($pdo, "SELECT relkind::text || relname || COALESCE(CASE WHEN relkind = 'v' THEN pg_get_viewdef(oid) END, '') FROM pg_class WHERE relnamespace = $schema AND relkind <> 'c' ORDER BY 1"),
                ...column($pdo, "SELECT conrelid::regclass::text || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = $schema ORDER BY 1")];
    }
    return json_encode([$lines, $pdo->query('SELECT * FROM mail_queue ORDER BY id', PDO::FETCH_NUM)->fetchAll()]);
}

/** Whether the process was killed. */
function killed(string $dsn, string $what, int $at): bool
{
    $process = proc_open(php_command(__FILE__, $dsn, $what, (string) $at), [1 => STDOUT, 2 => STDOUT], $pipes);
    while (($status = proc_get_status($process))['running']) {
        usleep(2000);
    }
    must($status['signaled'] || $status['exitcode'] === 0, "$what killed at $at: exit $status[exitcode]");
    return $status['signaled'];
}

function undo(string $dsn): string
{
    return preg_match('/nothing to undo/', $text = thrown(fn() => run($dsn, true))) ? 'nothing' : $text;
}

foreach (['sqlite', 'pgsql', 'mysql'] as $name) {
    $step = $name === 'mysql' ? 1 : 4; // elsewhere it is one transaction
    $stops = ['adopt' => 0, 'undo' => 0];
    $backend = new Backend($name);
    $pdo = $backend->pdo();
    $fresh = static function () use (&$backend, &$pdo, $name): string {
        if ($name === 'mysql') { // with many databases, each statement takes longer
            $pdo->exec('DROP DATABASE ' . column($pdo, 'SELECT DATABASE()')[0]);
        }
        $pdo = ($backend = $backend->another())->pdo();
        make($pdo);
        return everything($pdo);
    };
    for ($at = 0; ; $at += $step) {
        $before = $fresh();
        if (!killed($backend->dsn, 'adopt', $at)) {
            break;
        }
        $stops['adopt']++;
        $said = undo($backend->dsn);
        must($said === 'nothing', "$name $at: back: $said");
        must(everything($pdo) === $before, "$name $at: back: $before\n" . everything($pdo));
        must(killed($backend->dsn, 'adopt', $at), "$name $at: once more");
        $stored = 0;
        if ($name === 'mysql') { // where the application may find the queue empty for a moment
            try {
                $id = $backend->queue()->enqueue(mail_fields(), reference: 'R1', type: 'm');
                $stored = $id === null ? 0 : 1;
            } catch (MailQueue\DatabaseException) {
                // The old table still has its name.
            }
        }
        $said = thrown(fn() => run($backend->dsn, false));
        must($said === 'nothing', "$name $at: on: $said");
        $rows = $pdo->query('SELECT id, reference, status, lang FROM mail_queue WHERE id < 1000 ORDER BY id', PDO::FETCH_NUM)->fetchAll();
        $got = implode(' ', array_map(static fn(array $row): string => implode(':', array_filter($row, is_scalar(...))), $rows));
        must($got === ($stored ? '' : '3:R1:pending:de ') . '5:R2:failed:en 9:held', "$name $at: on: $got, $stored");
        $count = (int) column($pdo, "SELECT count(*) FROM mail_queue WHERE reference = 'R1'")[0];
        must($count === 1, "$name $at: R1 $count times");
        if ($stored) {
            $said = undo($backend->dsn);
            must(str_contains($said, 'Mail was stored') && column($pdo, 'SELECT count(*) FROM mail_queue')[0] == 3,
                "$name $at: the newer mail is not undone: $said");
            $gaps = ($gaps ?? 0) + 1;
        }
    }
    for ($at = 0; ; $at += $step) {
        $before = $fresh();
        run($backend->dsn, false);
        if (!killed($backend->dsn, 'undo', $at)) {
            break;
        }
        $stops['undo']++;
        $said = undo($backend->dsn);
        must($said === 'nothing', "$name undo $at: $said");
        must(everything($pdo) === $before, "$name undo $at: $before\n" . everything($pdo));
    }
    echo "$name: ", min($stops) >= 8 / $step ? 'killed at many steps' : json_encode($stops), "\n";
}
must(($gaps ?? 0) > 0, 'mail is stored in the gap');
?>
--EXPECT--
sqlite: killed at many steps
pgsql: killed at many steps
mysql: killed at many steps
