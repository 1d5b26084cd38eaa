--TEST--
PostgreSQL tells a daemon that sleeps of each new mail, however it is stored; nobody is told while none sleeps, and few are told in vain; a connection that was lost sleeps again
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
use MailQueueTest\{PgBouncer, PostgreSQL};

putenv('XDG_STATE_HOME=' . temp_directory());
$logs = temp_directory();
chmod($logs, 0777);
$server = new PostgreSQL(['log_statement' => 'all', 'log_line_prefix' => '[%p] ', 'logging_collector' => 'on',
    'log_directory' => $logs, 'log_filename' => 'log', 'log_file_mode' => '0644']);
$dsn = $server->dsn();
$queue = new MailQueue($dsn);
$queue->migrate();
$looking = $server->connect();
// A lock of a number of 64 bits has objsubid 1. Nothing else of the queue takes such a one alone.
$sleepers = fn(): array => $looking->query("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 "
    . "AND mode = 'ExclusiveLock' AND granted")->fetchAll(PDO::FETCH_COLUMN);
$start = fn(): Other => new Other('$report = (new MailQueue($argv[1]))->runWorker("null://null", log: "", daemon: true, maxWorkers: 2);
    echo "$report->end, $report->sent sent";', $dsn);
/** Waits until the daemon sleeps, so that its next claim by itself is five seconds off, and stores. */
$soon = function (string $what, callable $store) use ($queue, $sleepers): void {
    must(wait_until(fn() => count($sleepers()) === 1), 'a daemon sleeps');
    usleep(300_000);
    $store();
    echo "$what: ", wait_until(fn() => $queue->stats()->pending === 0 && $queue->stats()->sending === 0, 4) ? 'at once' : 'late', "\n";
};
$end = function (Other $daemon): void {
    posix_kill($daemon->pid(), SIGTERM);
    $begun = microtime(true);
    echo $daemon->end()[0], microtime(true) - $begun < 20 ? '' : ', late', "\n";
};

$listening = $server->connect();
$listening->exec('LISTEN mailqueue');
$queue->enqueue(mail_fields());
$queue->enqueueMany([['message' => mail_fields()], ['message' => mail_fields()]]);
echo 'told while no daemon runs: ', var_export($listening->pgsqlGetNotify(PDO::FETCH_NUM, 200), true), "\n";

$pdo = $server->connect();
$in = new MailQueue($pdo);
$pdo->beginTransaction();
$in->enqueue(mail_fields());
$daemon = $start();
must(wait_until(fn() => $queue->stats()->pending === 0), 'it sends what was there');
usleep(1_200_000);
echo 'while a transaction is open that has stored a mail, ', count($sleepers()), " sleep\n";
$pdo->commit();
echo 'its mail: ', wait_until(fn() => $queue->stats()->pending + $queue->stats()->sending === 0, 4) ? 'soon' : 'late', "\n";
$soon('a mail', fn() => $queue->enqueue(mail_fields()));
$told = $listening->pgsqlGetNotify(PDO::FETCH_NUM, 200);
echo "told: $told[0], and ", var_export($listening->pgsqlGetNotify(PDO::FETCH_NUM, 200), true), "\n";
$soon('many', fn() => $queue->enqueueMany(array_fill(0, 20, ['message' => mail_fields()])));
$soon("in the application's transaction", function () use ($pdo, $in): void {
    $pdo->beginTransaction();
    $in->enqueue(mail_fields());
    usleep(200_000);
    $pdo->commit();
});
$soon('behind a pooler', fn() => (new MailQueue((new PgBouncer($server, 'transaction'))->dsn()))->enqueue(mail_fields()));
// The mail is due before the daemon would claim by itself.
$soon('in two seconds', fn() => $queue->enqueue(mail_fields(), sendAt: new DateTimeImmutable('+2 seconds')));

// Each of these could wake it for nothing. Commits that notify wait for each other.
must(wait_until(fn() => count($sleepers()) === 1), 'it sleeps');
while ($listening->pgsqlGetNotify(PDO::FETCH_NUM, 0));
for ($i = 0; $i < 60; $i++) {
    $queue->enqueue(mail_fields(), sendAt: new DateTimeImmutable('+1 hour'));
    usleep(20_000);
}
for ($told = 0; $listening->pgsqlGetNotify(PDO::FETCH_NUM, 0); $told++);
echo '60 mails for later, one by one: ', $told > 0 && $told < 20 ? 'told of a few' : "told of $told", "\n";
$queue->enqueue(mail_fields());
echo 'a mail: ', wait_until(fn() => $queue->stats()->pending === 60 && $queue->stats()->sending === 0, 4) ? 'soon' : 'late', "\n";
$looking->exec('DELETE FROM mail_queue');

echo "-- a lost connection\n";
must(wait_until(fn() => count($sleepers()) === 1), 'it sleeps');
$looking->query("SELECT pg_terminate_backend({$sleepers()[0]})");
must(wait_until(fn() => count($sleepers()) === 0), 'its connection is gone');
$soon('a mail', fn() => $queue->enqueue(mail_fields()));

echo "-- two daemons\n";
$second = $start();
must(wait_until(fn() => $queue->diagnostics()['workers'] === 2), 'both run');
$soon('a mail', fn() => $queue->enqueue(mail_fields()));
$end($daemon);
$soon('a mail for the other', fn() => $queue->enqueue(mail_fields()));
$end($second);

// A session that listens and does not read keeps all that it is told in memory.
preg_match_all('/^\[(\d+)\] LOG:  [^\n]*: (UN|)LISTEN mailqueue$/m', (string) file_get_contents("$logs/log"), $said, PREG_SET_ORDER);
$sessions = [];
foreach ($said as [, $pid, $ends]) {
    $sessions[$pid][] = $ends === '' ? 'L' : 'U';
}
$all = array_map(implode(...), $sessions);
must(max(array_map(strlen(...), $all)) > 4, 'they listened several times: ' . implode(' ', $all));
echo 'a session that does not rest listens: ', preg_grep('/LL/', $all) === [] ? 'never' : implode(' ', $all), "\n";
?>
--EXPECTREGEX--
told while no daemon runs: false
while a transaction is open that has stored a mail, 0 sleep
its mail: soon
a mail: at once
told: mailqueue, and false
many: at once
in the application's transaction: at once
behind a pooler: at once
in two seconds: at once
60 mails for later, one by one: told of a few
a mail: soon
-- a lost connection
a mail: at once
-- two daemons
a mail: at once
signal, \d+ sent
a mail for the other: at once
signal, \d+ sent
a session that does not rest listens: never
