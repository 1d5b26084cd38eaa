--TEST--
migrate-store --abort while another connection keeps the target's rows locked: the cause and the cure, the source stays paused, and the second call ends it
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
require __DIR__ . '/copy.inc';

/** @param list<string> $locks statements that lock the copies */
function give_up(PDO $to, PDO $other, array $locks): void
{
    $from = new PDO('sqlite:' . ($path = database()));
    $source = new MailQueue($path);
    fill($source, $from);
    $stop = static fn(array $about) => $about['done'] > 0 ? throw new LogicException('stopped') : null;
    echo thrown(migration($from, $to, $stop)->run(...)), "\n";
    foreach ($locks as $sql) {
        $other->query($sql)->fetchAll();
    }
    $copies = (int) Two::ask($other, 'SELECT count(*) FROM mail_queue');
    $begun = time();
    echo thrown(migration($from, $to)->abort(...)), "\n";
    var_dump(time() - $begun < 30, $copies > 0, $copies === (int) Two::ask($other, 'SELECT count(*) FROM mail_queue'),
        $source->stats()->enabled);
    $other->exec('ROLLBACK');
    migration($from, $to)->abort();
    var_dump(Two::ask($other, 'SELECT count(*) FROM mail_queue'), $source->stats()->enabled);
}

echo "SQLite\n";
$to = new PDO('sqlite:' . ($path = database()));
$to->setAttribute(PDO::ATTR_TIMEOUT, 1);
(new MailQueue($path))->stats();
give_up($to, new PDO("sqlite:$path"), ['BEGIN IMMEDIATE']);
foreach (['pgsql' => 'PostgreSQL', 'mysql' => 'MariaDB'] as $kind => $name) {
    echo "$name\n";
    $backend = new Backend($kind);
    $backend->queue()->stats();
    give_up($backend->pdo(), $backend->pdo(), ['BEGIN', 'SELECT * FROM mail_queue FOR UPDATE']);
}
?>
--EXPECT--
SQLite
LogicException: stopped
MailQueue\Cli\Stop: two: SQLSTATE[HY000]: General error: 5 database is locked. Repeat the command to go on
bool(true)
bool(true)
bool(true)
bool(false)
int(0)
bool(true)
PostgreSQL
LogicException: stopped
MailQueue\Cli\Stop: two: SQLSTATE[55P03]: Lock not available: 7 ERROR:  canceling statement due to lock timeout. Repeat the command to go on
bool(true)
bool(true)
bool(true)
bool(false)
int(0)
bool(true)
MariaDB
LogicException: stopped
MailQueue\Cli\Stop: two: SQLSTATE[HY000]: General error: 1205 Lock wait timeout exceeded; try restarting transaction. Repeat the command to go on
bool(true)
bool(true)
bool(true)
bool(false)
int(0)
bool(true)
