--TEST--
runWorker(): SIGTERM finishes what the relay has; the other mails and their tokens go back
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
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    /* Two mails are accepted, and the replies come late; a third never gets a reply to DATA. */
    $sink = new MailQueueTest\Sink("at data connection=3 delay-ms=60000\nat dot delay-ms=6000\n");
    $queue = $backend->queue();
    $queue->setConfig('mailMaxPerHour', 20);
    $queue->setConfig('mailBurst', 20);
    for ($n = 1; $n <= 6; $n++) {
        $queue->enqueue("X-Test-Id: t$n\r\n\r\nHello\r\n", "t$n", envelopeFrom: 'me@example.org', recipients: ['ann@example.net']);
    }
    $worker = $backend->other('$report = $open()->runWorker($arguments[0], connections: 3, grace: 15, log: "");
        echo "$report->end sent $report->sent released $report->released uncertain $report->uncertain\n";', "smtp://127.0.0.1:$sink->port");
    MailQueueTest\wait_for('three under way', fn() => count($sink->accepted()) === 2 && $sink->received('DATA') === 3);
    $began = microtime(true);
    posix_kill($worker->pid(), SIGTERM);
    [$said, $exit] = $worker->end();
    echo $said, $exit, microtime(true) - $began < 40 ? " in time\n" : " late\n";
    foreach ($queue->jobs() as $job) {
        echo "{$job->status->name} $job->attempts ", var_export($job->lockedBy, true), "\n";
    }
    /* One token is refilled in three minutes. */
    echo round((float) $queue->config('mailTokens')), " tokens\n", array_sum($sink->counts()), " accepted\n";
}, together: true);
?>
--EXPECT--
signal sent 2 released 1 uncertain 0
0 in time
Pending 0 NULL
Pending 0 NULL
Pending 0 NULL
Pending 0 NULL
18 tokens
2 accepted
