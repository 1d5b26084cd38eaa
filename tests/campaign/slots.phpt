--TEST--
Mail does not wait for the slots of a campaign that was paused or cancelled
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    foreach (['mailRateMode' => 'strict', 'mailLimits' => '2/1h per sender'] as $key => $value) {
        $queue->setConfig($key, $value);
    }
    $work = fn(): int => $queue->runWorker(function (): void {}, log: '')->sent;
    $hours = fn(MailQueue\Job $job): string => round(($job->nextAttemptAt - time()) / 3600, 1) . " h for $job->waitsFor";
    foreach (['pause', 'cancel'] as $act) {
        $campaign = $queue->campaign($act);
        $campaign->setMessage(['from' => "$act@example.org", 'subject' => 'x', 'text' => 'x'], priority: 0);
        $campaign->add(array_map(fn(int $i): string => "r$i@example.net", range(1, 10)));
        $campaign->start();
        echo "-- $act\n", $work(), " sent\n";
        $id = $queue->enqueue(['from' => "$act@example.org", 'to' => 'a@example.net', 'subject' => 'x', 'text' => 'x']);
        echo $work(), ' sent, the next in ', $hours($queue->job($id)), "\n";
        $campaign->$act();
        echo $work(), ' sent, the next in ', $hours($queue->job($id)), "\n";
    }
});
?>
--EXPECT--
-- pause
2 sent
0 sent, the next in 5 h for 2/1h per sender
0 sent, the next in 1 h for 2/1h per sender
-- cancel
2 sent
0 sent, the next in 5 h for 2/1h per sender
0 sent, the next in 1 h for 2/1h per sender
