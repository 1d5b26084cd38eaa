--TEST--
PostgreSQL behind pgbouncer: session mode works; in transaction mode enqueue() works, and runWorker() and doctor name it
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo MailQueueTest\PgBouncer::missing(); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
require __DIR__ . '/../lib/cli.inc';
use MailQueueTest\{PgBouncer, PostgreSQL};

putenv('XDG_STATE_HOME=' . temp_directory());
$server = new PostgreSQL();
$transactions = new PgBouncer($server, 'transaction');
$sessions = new PgBouncer($server, 'session');
(new MailQueue($server->dsn()))->migrate();
$locks = fn(): int => (int) $server->connect()->query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")->fetchColumn();
$doctor = function (string $dsn): string {
    $process = proc_open(cli_command(['doctor']), [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes, temp_home(), ['MAILQUEUE_DATABASE' => $dsn,
        'MAILQUEUE_TRANSPORT' => 'null://null', 'PATH' => getenv('PATH'), 'HOME' => temp_home()] + sanitizer_environment());
    $said = stream_get_contents($pipes[1]);
    proc_close($process);
    return implode("\n", preg_grep('/pooler|pool_mode/', explode("\n", $said))) ?: 'nothing of a pooler';
};

foreach (['server' => $server, 'sessions' => $sessions, 'transactions' => $transactions] as $name => $from) {
    echo "-- $name\n";
    $emulating = $from->connect([PDO::ATTR_EMULATE_PREPARES => true]);
    $other = new MailQueue($from->dsn());
    $queue = new MailQueue($from->dsn());
    echo 'enqueue(), emulated: ', thrown(fn() => (new MailQueue($emulating))->enqueue(mail_fields())), "\n";
    echo 'enqueue(): ', thrown(fn() => $queue->enqueue(mail_fields())), "\n";
    echo 'of another: ', thrown(fn() => $other->enqueue(mail_fields())), "\n";
    echo 'in turn, many times: ', thrown(function () use ($queue, $other): void {
        for ($i = 0; $i < 5; $i++) {
            $queue->enqueueMany([['message' => mail_fields()], ['message' => mail_fields()]]);
            $other->enqueue(mail_fields());
        }
    }), "\n";
    echo 'runWorker(): ', thrown(fn() => print($queue->runWorker('null://null', log: '')->sent . ' ')), "\n";
    $server->connect()->exec("DELETE FROM mail_queue");
    echo 'locks: ', $locks(), "\n", 'doctor: ', $doctor($from->dsn()), "\n";
    unset($queue, $other, $emulating);
}
?>
--EXPECTF--
-- server
enqueue(), emulated: nothing
enqueue(): nothing
of another: nothing
in turn, many times: nothing
runWorker(): 18 nothing
locks: 0
doctor: nothing of a pooler
-- sessions
enqueue(), emulated: nothing
enqueue(): nothing
of another: nothing
in turn, many times: nothing
runWorker(): 18 nothing
locks: 0
doctor: nothing of a pooler
-- transactions
enqueue(), emulated: nothing
enqueue(): nothing
of another: nothing
in turn, many times: nothing
runWorker(): MailQueue\Exception: $database: a pooler before PostgreSQL gives each transaction another session (pgbouncer's pool_mode = transaction); a worker's slot is a session lock, which protects nothing there: give the server's own address, or one with pool_mode = session
locks: 0
doctor: look  a pooler gives each transaction another session (pgbouncer's pool_mode = transaction)
      The worker needs the server's own address, or one with pool_mode = session: its slot is a session lock. enqueue() alone may use the pooler, by a DSN or by a PDO with PDO::ATTR_EMULATE_PREPARES.
