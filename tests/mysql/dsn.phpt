--TEST--
new MailQueue('mysql:…'): a connection of its own, reopened when it is lost; user and password; doctor
--EXTENSIONS--
mailqueue
pdo_mysql
--SKIPIF--
<?php require __DIR__ . '/../lib/mariadb.inc'; die(MailQueueTest\MariaDB::missing()); ?>
--FILE--
<?php
require __DIR__ . '/../pgsql/dsn.inc';
require __DIR__ . '/../lib/mariadb.inc';

use MailQueueTest\MariaDB;

$server = MariaDB::durable();
$dsn = $server->schema();
preg_match('~socket=((/[^;]*)/socket)~', $dsn, $match);
[, $socket, $directory] = $match;
$hide = fn(string $text): string => str_replace($directory, 'DIR', $text);
$root = $server->connect();

echo "-- the connection\n";
$sessions = fn(): int => (int) $root->query("SELECT count(*) FROM information_schema.processlist WHERE db = 'test1'")->fetchColumn();
$kill = function () use ($root, $sessions): void {
    foreach ($root->query("SELECT id FROM information_schema.processlist WHERE db = 'test1'")->fetchAll(PDO::FETCH_COLUMN) as $id) {
        $root->exec("KILL CONNECTION $id");
    }
    must(wait_until(fn() => $sessions() === 0), 'no session');
};
$queue = new MailQueue($dsn);
must($sessions() === 1, 'one session');
echo $queue->enqueue(mail_fields(text: "Grüße\n")), ' ', $queue->diagnostics()['server']['kind'], "\n";
$kill();
echo 'enqueued over a connection reopened: ', $queue->enqueue(mail_fields()), "\n";
$kill();
echo 'read over one: ', $queue->stats()->pending, "\n";
$kill();
echo 'claimed: ', $queue->claim()[0]->id, "\n";
echo 'waits for locks: ';
$root->exec('SET GLOBAL lock_wait_timeout = 50'); // the default is a day
$queue = new MailQueue($dsn, busyTimeout: 100);
$root->exec('BEGIN');
$root->query('SELECT * FROM test1.mail_queue FOR UPDATE')->fetchAll();
$begin = microtime(true);
echo thrown(fn() => $queue->delete([2])), "\n";
must(microtime(true) - $begin < 40, 'not for long');
$root->exec('ROLLBACK');
echo 'waits for tables: ';
$root->exec('LOCK TABLES test1.mail_queue WRITE');
$begin = microtime(true);
echo thrown(fn() => $queue->enqueue(mail_fields())), "\n";
must(microtime(true) - $begin < 40, 'not for long');
$root->exec('UNLOCK TABLES');
$queue = null;
must(wait_until(fn() => $sessions() === 0), 'the session ends with the queue');
echo 'the last charset counts: ', thrown(fn() => new MailQueue("$dsn;charset=gbk")), "\n";
echo "-- away\n";
$queue = new MailQueue($dsn);
$root = null;
$server->kill();
echo $hide(thrown(fn() => $queue->enqueue(mail_fields()))), "\n";
echo $hide(thrown(fn() => new MailQueue($dsn))), "\n";
$server->start();
echo 'back: ', $queue->enqueue(mail_fields()) > 2 ? 'enqueued' : 'no id', "\n";

echo "-- commands\n";
$run = fn(string ...$words): array => cli($words, ['MAILQUEUE_DATABASE' => $dsn, 'MAILQUEUE_TRANSPORT' => 'null://null']);
$doctor = function () use ($run): void {
    [$code, $output, $errors] = $run('doctor');
    preg_match('/^ok    libcurl [^\n]*\n(.*)^look  no worker/ms', $output, $match);
    $hidden = ['~/\S*(queue-)[0-9a-f]{16}~' => '$1ID', '/ \d+\.\d+\.\d+[^,\n]*(?=,)/' => ' N', '/\b[0-4]\.\d s (ahead of|behind)/' => '0 s from'];
    echo "exit $code $errors", preg_replace(array_keys($hidden), $hidden, $match[1] ?? $output);
};
$doctor();
$server->connect()->exec('SET GLOBAL read_only = 1');
$doctor();
$server->connect()->exec('SET GLOBAL read_only = 0');
show($run('work'));
$code = show($run('work', '--table=mails'));
?>
--EXPECT--
-- the connection
1 mysql
enqueued over a connection reopened: 2
read over one: 2
claimed: 1
waits for locks: MailQueue\DatabaseException [busy]: SQLSTATE[HY000]: General error: 1205 Lock wait timeout exceeded; try restarting transaction: keep other connections' transactions short, or raise busyTimeout (with a PDO of your own: innodb_lock_wait_timeout, lock_wait_timeout)
waits for tables: MailQueue\DatabaseException [busy]: SQLSTATE[HY000]: General error: 1205 Lock wait timeout exceeded; try restarting transaction: keep other connections' transactions short, or raise busyTimeout (with a PDO of your own: innodb_lock_wait_timeout, lock_wait_timeout)
the last charset counts: MailQueue\Exception: $database: the connection's character set is gbk for statements and gbk for comparisons, which would change stored text: add charset=utf8mb4 to the DSN
-- away
MailQueue\DatabaseException [io]: mysql:unix_socket=DIR/socket;charset=utf8mb4;dbname=test1 cannot be opened: SQLSTATE[HY000] [2002] Connection refused: is the server up, and are host and port right?
MailQueue\DatabaseException [io]: mysql:unix_socket=DIR/socket;charset=utf8mb4;dbname=test1 cannot be opened: SQLSTATE[HY000] [2002] Connection refused: is the server up, and are host and port right?
back: enqueued
-- commands
exit 1 ok    MariaDB N, without TLS
ok    the server can be written
ok    the server's clock is 0 s from this host's
ok    run directory queue-ID does not exist yet
ok    log queue-ID/mail-queue.log does not exist yet
ok    log is not under a document root
exit 1 ok    MariaDB N, without TLS
look  the server is read-only
      Give the DSN of the primary server, or look at its read_only.
ok    the server's clock is 0 s from this host's
ok    run directory queue-ID does not exist yet
ok    log queue-ID/mail-queue.log does not exist yet
ok    log is not under a document root
exit 0
mailqueue: 2 sent; nothing more is due.
exit 73
mailqueue: The database on the server has no table mails. Check the DSN, --table and --config-table; mailqueue migrate with the same options creates it.
