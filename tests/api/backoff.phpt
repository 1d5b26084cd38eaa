--TEST--
Backoff: three policies, their ranges, and what a queue does with them
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
use MailQueue\Backoff;

/* The delay after each failure and the state after it; the time is moved back instead of
 * waiting. */
function failures(Backend $backend, ?Backoff $backoff, int $count, ?int $maxAttempts = null): void
{
    $backend = $backend->another();
    $queue = $backend->queue(backoff: $backoff);
    $id = $queue->enqueue(mail_fields(), maxAttempts: $maxAttempts);
    $pdo = $backend->pdo();
    $delays = [];
    for ($i = 0; $i < $count; $i++) {
        $pdo->exec('UPDATE mail_queue SET next_attempt_at = 1');
        [$job] = $queue->claim();
        $before = time();
        must($queue->fail($job, 'busy'), 'the lease stands');
        $after = $queue->job($id);
        $wait = $after->nextAttemptAt - $before;
        $delays[] = $after->status === MailQueue\Status::Parked ? "parked ($after->parkedFor)" : ($wait - $wait % 20);
        if ($after->status === MailQueue\Status::Parked) {
            break;
        }
    }
    echo implode(' ', $delays), "\n";
}

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    foreach ([Backoff::steps(), Backoff::exponential(), Backoff::fixed(), Backoff::steps(3), Backoff::exponential(1, 2, 0, 7), Backoff::fixed(5, 1)] as $b) {
        echo "$b->policy $b->maxAttempts\n";
    }
    foreach ([
        fn() => Backoff::steps(0),
        fn() => Backoff::steps(1001),
        fn() => Backoff::exponential(base: 0),
        fn() => Backoff::exponential(max: 0),
        fn() => Backoff::exponential(jitter: 1.5),
        fn() => Backoff::exponential(jitter: NAN),
        fn() => Backoff::exponential(maxAttempts: 0),
        fn() => Backoff::fixed(delay: -1),
        fn() => Backoff::fixed(maxAttempts: PHP_INT_MAX),
    ] as $call) {
        echo thrown($call), "\n";
    }

    failures($backend, null, 11);
    failures($backend, Backoff::steps(2), 11);
    failures($backend, Backoff::exponential(base: 10, max: 100, jitter: 0), 11);
    failures($backend, Backoff::fixed(20, 4), 11);
    failures($backend, Backoff::fixed(20, 4), 11, maxAttempts: 2);
});
?>
--EXPECT--
steps 10
exponential 5
fixed 50
steps 3
exponential 7
fixed 1
ValueError: MailQueue\Backoff::steps(): Argument #1 ($maxAttempts) must be between 1 and 1000
ValueError: MailQueue\Backoff::steps(): Argument #1 ($maxAttempts) must be between 1 and 1000
ValueError: MailQueue\Backoff::exponential(): Argument #1 ($base) must be between 1 and 31622400
ValueError: MailQueue\Backoff::exponential(): Argument #2 ($max) must be between 1 and 31622400
ValueError: MailQueue\Backoff::exponential(): Argument #3 ($jitter) must be between 0 and 1
ValueError: MailQueue\Backoff::exponential(): Argument #3 ($jitter) must be between 0 and 1
ValueError: MailQueue\Backoff::exponential(): Argument #4 ($maxAttempts) must be between 1 and 1000
ValueError: MailQueue\Backoff::fixed(): Argument #1 ($delay) must be between 1 and 31622400
ValueError: MailQueue\Backoff::fixed(): Argument #2 ($maxAttempts) must be between 1 and 1000
60 300 900 3600 3600 3600 3600 3600 3600 parked (exhausted)
60 parked (exhausted)
20 40 80 100 parked (exhausted)
20 20 20 parked (exhausted)
20 parked (exhausted)
