--TEST--
runWorker(): a worker that was stopped beyond its lease sends nothing and changes nothing when it continues
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
require __DIR__ . '/../lib/servers.inc';
require __DIR__ . '/../lib/backends.inc';

const WORK = '$queue = $open(backoff: MailQueue\Backoff::fixed(1));
    $report = $queue->runWorker($arguments[0], lease: 5, maxWorkers: 2, log: "");
    echo "sent $report->sent recovered $report->recovered later $report->tryLater stale $report->stale\n";';

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    /* The reply to the first DATA comes late: the first worker is stopped before its dot. */
    $sink = new MailQueueTest\Sink("at data connection=1 delay-ms=7000\n");
    $queue = $backend->queue(backoff: MailQueue\Backoff::fixed(1));
    $dsn = "smtp://127.0.0.1:$sink->port?final_timeout=4";
    $queue->enqueue("X-Test-Id: t1\r\n\r\nHello\r\n", 't1', envelopeFrom: 'me@example.org', recipients: ['ann@example.net']);

    $stopped = $backend->other(WORK, $dsn);
    MailQueueTest\wait_for('the envelope', fn() => $sink->received('DATA') > 0);
    posix_kill($stopped->pid(), SIGSTOP);
    $lease = $queue->job(1)->lockedUntil;
    MailQueueTest\wait_for('the end of the lease', fn() => time() > $lease);
    echo 'the second takes over: ', ($backend->other(WORK, $dsn))->end()[0];
    MailQueueTest\wait_for('the next attempt', fn() => time() > $queue->job(1)->nextAttemptAt);
    echo 'and sends: ', ($backend->other(WORK, $dsn))->end()[0];

    $before = $queue->jobs();
    posix_kill($stopped->pid(), SIGCONT);
    [$said, $exit] = $stopped->end();
    echo 'the first goes on: ', $said, $exit, "\n";
    var_dump($queue->jobs() == $before, $sink->counts(), $sink->violations());
}, together: true);
?>
--EXPECT--
the second takes over: sent 0 recovered 0 later 1 stale 0
and sends: sent 1 recovered 0 later 0 stale 0
the first goes on: sent 0 recovered 0 later 0 stale 1
0
bool(true)
array(1) {
  ["t1 ann@example.net"]=>
  int(1)
}
array(0) {
}
