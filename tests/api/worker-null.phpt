--TEST--
runWorker() with null://: the report, the limits, mail that is not due
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
require __DIR__ . '/../lib/backends.inc';
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $work = function (mixed ...$arguments) use ($queue): string {
        $report = $queue->runWorker(...$arguments + ['transport' => 'null://null', 'log' => '']);
        $numbers = array_filter(get_object_vars($report), fn($value, $key) => is_int($value) && $value > 0 && $key !== 'resumeAt', ARRAY_FILTER_USE_BOTH);
        return "$report->end " . http_build_query($numbers, '', ' ') . ($report->reason === null ? '' : " ($report->reason)");
    };
    echo $work(), "\n";
    for ($i = 0; $i < 30; $i++) {
        $queue->enqueue(mail_fields(), "r$i", recipients: ['a@example.net', 'b@example.net']);
    }
    $queue->enqueue(mail_fields(), 'later', sendAt: time() + 1000);
    echo $work(messageLimit: 7), "\n", $work(connections: 1, batch: 1, messageLimit: 3), "\n";
    $queue->setConfig('mailMaxPerHour', 60);
    $queue->setConfig('mailBurst', 4);
    $queue->setConfig('mailTokens', 4);
    $queue->setConfig('mailLastRefill', time());
    $report = $queue->runWorker('null://null', log: '');
    echo "$report->end $report->sent $report->recipients ", $report->resumeAt - time() > 0 && $report->resumeAt - time() <= 61 ? 'in a minute' : 'when?', "\n";
    $queue->setConfig('mailMaxPerHour', null);
    $queue->setConfig('mailQueueEnabled', 0);
    echo $work(), "\n";
    $queue->setConfig('mailQueueEnabled', null);
    $queue->enqueue(mail_fields(), 'expired', expiresAt: time() + 1000);
    $backend->pdo()->exec("UPDATE mail_queue SET expires_at = 5 WHERE reference = 'expired'");
    echo $work(timeLimit: 60), "\n", $work(daemon: false), "\n";
    echo implode(' ', array_map(fn($job) => $job->reference, $queue->jobs())), "\n";
    echo abs($queue->stats()->lastRunAt - time()) < 60 ? "the run is noted\n" : "the run is not noted\n";
});
?>
--EXPECT--
empty 
messages claimed=7 sent=7 recipients=14
messages claimed=3 sent=3 recipients=6
tokens 2 4 in a minute
disabled 
empty claimed=18 sent=18 recipients=36 expired=1
empty 
later
the run is noted
