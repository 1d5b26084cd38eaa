--TEST--
runWorker() on PostgreSQL: leases, the hour and waits use the server's clock, 90 s off this machine's
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/backends.inc';
echo backends_missing('pgsql') ?: (MailQueueTest\PostgreSQL::faketime() ? '' : 'skip faketime is missing; tools/setup installs it');
?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
putenv('XDG_STATE_HOME=' . temp_directory());
foreach (['+90s', '-90s'] as $off) {
    echo "$off\n";
    $server = new MailQueueTest\PostgreSQL(off: $off);
    $pdo = $server->connect();
    $now = fn(): int => (int) $pdo->query('SELECT extract(epoch FROM clock_timestamp())')->fetchColumn();
    $queue = new MailQueue($pdo);
    foreach (['mailMaxPerHour' => 3600, 'mailRateMode' => 'strict', 'mailBurst' => 1, 'mailTokens' => 0, 'mailLastRefill' => $now()] as $key => $value) {
        $queue->setConfig($key, $value);
    }
    $begun = $now();
    for ($i = 0; $i < 3; $i++) {
        $queue->enqueue(mail_fields(), "r$i");
    }
    $times = [];
    $started = microtime(true);
    $sent = [];
    $report = $queue->runWorker(function ($job) use (&$sent, $queue): void {
        $sent[] = $job->reference;
        $until = $queue->job($job->id)->lockedUntil;
        usleep(1200000);
        /* Less than a third of the lease has passed. */
        must($queue->job($job->id)->lockedUntil === $until, 'the lease was left alone');
    }, lease: 60, timeLimit: 80, log: '', onEvent: function (array $event) use (&$times): void { $times[] = $event['time']; });
    echo "$report->end sent $report->sent stale $report->stale recovered $report->recovered: ", implode(' ', $sent), "\n";
    echo 'events: ', min($times) >= $begun && max($times) <= $now() + 1 ? 'in its time' : 'in another time', "\n";
    $spent = $pdo->query('SELECT min(at), max(at), sum(n) FROM mail_spent')->fetch(PDO::FETCH_NUM);
    echo 'spent: ', $spent[0] > $begun && $spent[1] <= $now() ? 'in its time' : json_encode([$spent, $begun, $now()]), ", $spent[2]\n";
    /* A token comes each second. */
    echo 'waited: ', microtime(true) - $started < 80 ? "as long as it takes\n" : "too long\n";
    $server->stop();
}
?>
--EXPECT--
+90s
empty sent 3 stale 0 recovered 0: r0 r1 r2
events: in its time
spent: in its time, 3
waited: as long as it takes
-90s
empty sent 3 stale 0 recovered 0: r0 r1 r2
events: in its time
spent: in its time, 3
waited: as long as it takes
