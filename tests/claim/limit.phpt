--TEST--
claim() and takeTokens() within the hourly limit: the tokens that a job's recipients use and give back
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
    echo 'without a limit: ', $queue->takeTokens(1000), "\n";
    $queue->setConfig('mailMaxPerHour', 60);
    $queue->setConfig('mailBurst', 5);
    $tokens = fn() => (int) $queue->stats()->tokens;
    echo 'full: ', $tokens(), "\n";

    $three = $queue->enqueue(mail_fields(), 'three', priority: 2, recipients: ['a@example.net', 'b@example.net', 'c@example.net']);
    $four = $queue->enqueue(mail_fields(), 'four', priority: 1, recipients: ['d@example.net', 'e@example.net', 'f@example.net', 'g@example.net']);
    $one = $queue->enqueue(mail_fields(), 'one');
    $jobs = $queue->claim(10);
    foreach ($jobs as $job) {
        echo "$job->reference goes to ", implode(' ', $job->recipients), "\n";
    }
    echo 'left: ', $tokens(), "\n";
    [$first, $second] = $jobs;
    var_dump($queue->release($first));
    echo 'after a release: ', $tokens(), "\n";
    var_dump($queue->complete($second));
    $rest = $queue->job($four);
    echo "{$rest->status->name} $rest->attempts for ", implode(' ', $rest->recipients), "\n";
    echo 'after a completion: ', $tokens(), ' ', $queue->takeTokens(2), ' ', $queue->takeTokens(10), ' ', $queue->takeTokens(10), "\n";
    echo count($queue->claim(10)), " claimed without tokens\n";

    echo "a job that is composed later costs one:\n";
    $queue->setConfig('mailBurst', 2);
    $queue->setConfig('mailTokens', 2);
    $queue->setConfig('mailLastRefill', time());
    $queue->delete([$three, $four, $one]);
    $queue->enqueue();
    [$job] = $queue->claim();
    var_dump($job->recipients, $tokens(), $queue->complete($job), $tokens());

    $queue->setConfig('mailQueueEnabled', 0);
    $queue->enqueue();
    $queue->setConfig('mailMaxPerHour', null);
    echo 'switched off: ', count($queue->claim()), ', on: ';
    $queue->setConfig('mailQueueEnabled', 1);
    echo count($queue->claim()), "\n";
});
?>
--EXPECT--
without a limit: 1000
full: 5
three goes to a@example.net b@example.net c@example.net
four goes to d@example.net e@example.net
left: 0
bool(true)
after a release: 3
bool(true)
Pending 0 for f@example.net g@example.net
after a completion: 3 2 1 0
0 claimed without tokens
a job that is composed later costs one:
NULL
int(1)
bool(true)
int(1)
switched off: 0, on: 1
