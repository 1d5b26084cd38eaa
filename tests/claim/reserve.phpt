--TEST--
mailReserve: a campaign leaves tokens to other mail, which goes at once; Stats::$reserve, Job::$expectedAt
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
    var_dump($queue->stats()->reserve);
    $queue->setConfig('mailMaxPerHour', 6); // a token in ten minutes
    $queue->setConfig('mailReserve', 3);
    $left = fn(): string => (int) $queue->stats()->tokens . ' tokens, ' . $queue->stats()->reserve . " kept\n";
    $run = function () use ($queue): void {
        $report = $queue->runWorker('null://null', log: '');
        $next = $report->resumeAt === null ? '' : ', goes on in ' . round(($report->resumeAt - time()) / 600) . '0 min';
        echo "$report->end: $report->sent sent$next\n";
    };

    echo "-- a campaign\n", $left();
    $campaign = $queue->campaign('news');
    $campaign->setMessage(['from' => 'a@example.org', 'subject' => 'News', 'text' => 'x']);
    $campaign->add((function (): iterable {
        for ($i = 0; $i < 20; $i++) {
            yield "r$i@example.net";
        }
    })());
    $campaign->start();
    $run();
    echo $left();
    $run();

    echo "-- a password reset\n";
    $id = $queue->enqueue(mail_fields(), 'reset');
    $jobs = array_column($queue->jobs(expected: true), 'expectedAt', 'id');
    echo $jobs[$id] - time() < 60 ? 'now' : 'later', ', then the campaign in ', round((min(array_diff_key($jobs, [$id => 0])) - time()) / 600), "0 min\n";
    $run();
    var_dump($queue->job($id));
    echo $left();

    echo "-- nothing is kept\n";
    $queue->setConfig('mailReserve', 0);
    $run();
    echo $left();
    echo thrown(fn() => $queue->setConfig('mailReserve', -1)), "\n";

    echo "-- claim()\n";
    $queue->setConfig('mailTokens', 5);
    $queue->setConfig('mailReserve', null);
    $campaign->cancel();
    for ($i = 0; $i < 9; $i++) {
        $queue->enqueue(mail_fields(), priority: -1);
    }
    echo count($queue->claim(20)), ' ', $queue->takeTokens(20), "\n";
});
?>
--EXPECT--
int(0)
-- a campaign
5 tokens, 3 kept
tokens: 2 sent, goes on in 10 min
3 tokens, 3 kept
tokens: 0 sent, goes on in 10 min
-- a password reset
now, then the campaign in 20 min
tokens: 1 sent, goes on in 20 min
NULL
2 tokens, 3 kept
-- nothing is kept
tokens: 2 sent, goes on in 10 min
0 tokens, 0 kept
ValueError: mailReserve cannot be "-1"; allowed values: 0 … 1000000000
-- claim()
3 2
