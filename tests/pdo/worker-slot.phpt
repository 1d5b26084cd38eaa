--TEST--
runWorker() with a DSN waits for the slot that a lost connection still holds; a host that is gone holds it for minutes, not hours
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/backends.inc';
echo backends_missing('pgsql', 'mysql');
?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';

/* Waits for the lock argv[2] of the server argv[1], and then holds it for as many seconds as it
 * reads. */
const HOLDER = '$pdo = new PDO($argv[1]); echo "waits\n"; $pdo->query($argv[2])->fetchAll(); echo "holds\n"; sleep((int) fgets(STDIN));';

putenv('XDG_STATE_HOME=' . temp_directory());

on_backends(['pgsql', 'mysql'], function (Backend $backend): void {
$other = $backend->pdo();
$pgsql = $backend->name === 'pgsql';
// The SQL by which another session asks for the run's lock, and the session that holds it.
$lock = function () use ($other, $pgsql): string {
    if ($pgsql) {
        return 'SELECT pg_advisory_lock(' . implode(', ', $other->query("SELECT CAST(classid AS BIGINT), CAST(objid AS BIGINT) FROM pg_locks WHERE locktype = 'advisory' AND granted")->fetch(PDO::FETCH_NUM)) . ')';
    }
    $hash = 2166136261; // FNV-1a of the queue's identity, as src/queue/shared.c names the lock
    foreach (str_split($other->query("SELECT CONCAT_WS('/', @@hostname, @@port, @@datadir, DATABASE(), 'mail_queue')")->fetchColumn()) as $byte) {
        $hash = ($hash ^ ord($byte)) * 16777619 & 0xffffffff;
    }
    return "SELECT GET_LOCK('mailqueue." . ($hash >> 1) . ".0', 60)";
};
$session = fn(): int => (int) $other->query($pgsql
    ? "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
    : 'SELECT IS_USED_LOCK(\'' . explode("'", $lock())[1] . '\')')->fetchColumn();
$waits = fn(): bool => (bool) $other->query($pgsql
    ? "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    : "SELECT count(*) FROM information_schema.processlist WHERE state = 'User lock'")->fetchColumn();

foreach (['a second' => 1, 'longer' => 60] as $name => $seconds) {
    $backend->queue()->enqueueMany(array_map(fn($n) => ['message' => mail_fields(), 'reference' => "r$n"], range(1, 40)));
    $accepted = [];
    $holder = null;
    $report = (new MailQueue($backend->dsn))->runWorker(function ($job) use (&$accepted, &$holder, $backend, $other, $lock, $session, $waits, $pgsql, $seconds): void {
        $accepted[] = $job->reference;
        if (count($accepted) === 13) {
            $holder = new Other(HOLDER, $backend->dsn, $lock());
            $holder->line();
            MailQueueTest\wait_for('the other session', $waits);
            $other->query(sprintf($pgsql ? 'SELECT pg_terminate_backend(%d)' : 'KILL CONNECTION %d', $session()));
            must($holder->line() === 'holds', 'the other session has the lock');
            $holder->tell("$seconds");
        }
    }, log: '', batch: 5);
    posix_kill($holder->pid(), SIGKILL);
    $holder->end();
    $left = count($backend->queue()->jobs());
    must(count($accepted) === count(array_unique($accepted)), 'each once');
    must(count($accepted) === $report->sent && $left === 40 - $report->sent, 'none lost');
    echo "$name: $report->end, ", $left ? 'some' : 'none', " left\n";
    $backend->queue()->runWorker('null://null', log: '');
}

});

echo "what the server ends\n";
$server = new MailQueueTest\MariaDB(['general-log-file' => 'statements', 'general-log' => '1']);
(new MailQueue($server->schema()))->runWorker('null://null', log: '');
preg_match('/SET SESSION (wait_timeout = \d+)/', file_get_contents($server->connect()->query('SELECT @@datadir')->fetchColumn() . 'statements'), $match);
echo "$match[1]\n";

$address = '127.' . (1 + getmypid() % 250) . '.77.2'; // the port is PostgreSQL's own
$server = new MailQueueTest\PostgreSQL(['listen_addresses' => $address]);
$queue = new MailQueue("pgsql:host=$address;dbname=postgres;user=test");
$queue->enqueue(mail_fields());
$queue->runWorker(function () use ($address): void {
    // The server's end: local address and port, remote ones, state, queues, timer:in jiffies.
    $here = implode(array_reverse(array_map(fn($byte) => sprintf('%02X', $byte), explode('.', $address)))) . ':1538';
    $asks = fn(): bool => preg_match_all("/: $here \S+ 01 \S+ 02:(\S+)/", file_get_contents('/proc/net/tcp'), $timers)
        && min(array_map(hexdec(...), $timers[1])) <= 6000;
    echo wait_until($asks) ? "asks after its client within a minute\n" : file_get_contents('/proc/net/tcp');
}, log: '');
?>
--EXPECT--
a second: empty, none left
longer: locked, some left
what the server ends
wait_timeout = 600
asks after its client within a minute
