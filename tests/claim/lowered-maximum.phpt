--TEST--
A lowered maximum of attempts counts at the next claim
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
use MailQueue\Status;

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $many = $backend->queue(backoff: Backoff::fixed(1, maxAttempts: 50));
    $one = $many->enqueue(mail_fields(), reference: 'one');
    $two = $many->enqueue(mail_fields(), reference: 'two', recipients: ['a@example.net', 'b@example.net']);
    $own = $many->enqueue(mail_fields(), reference: 'own', maxAttempts: 9);
    for ($i = 1; $i <= 3; $i++) {
        foreach ($many->claim(9) as $job) {
            must($many->fail($job, "451 4.3.0 later, $i", retryAfter: 0), 'fails');
        }
    }
    $few = $backend->queue(backoff: Backoff::fixed(1, maxAttempts: 3));
    foreach ($few->claim(9) as $job) {
        echo "$job->reference is tried, attempt $job->attempts\n";
        $few->fail($job, '451 4.3.0 later', retryAfter: 0);
    }
    foreach ($few->jobs(Status::Parked) as $job) {
        echo "$job->reference: $job->parkedFor after $job->attempts, $job->lastError\n";
    }
    echo count($few->claim(9)), " more\n";
    $few->retryFailed([$one]);
    echo $few->claim(1)[0]->attempts, " again\n";
});
?>
--EXPECT--
two is tried, attempt 4
own is tried, attempt 4
one: exhausted after 3, 451 4.3.0 later, 3
two: exhausted after 4, 451 4.3.0 later
1 more
1 again
