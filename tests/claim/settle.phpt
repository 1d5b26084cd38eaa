--TEST--
claim() and the ways to settle its jobs: complete(), fail(), release(), renew()
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
    $pdo = $backend->pdo();
    $now = time();

    echo "nothing due: ", count($queue->claim(10)), "\n";
    foreach (['low' => -5, 'high' => 7, 'middle' => 0] as $reference => $priority) {
        $queue->enqueue(mail_fields(), $reference, priority: $priority);
    }
    $queue->enqueue(mail_fields(), 'later', sendAt: $now + 1000, priority: 100);
    $jobs = $queue->claim(10, 60);
    echo implode(' ', array_map(fn($job) => $job->reference, $jobs)), "\n";
    [$high, $middle, $low] = $jobs;
    echo $high->status->name, " $high->attempts ", strlen($high->lockedBy), ' ', $high->lockedUntil - $now >= 60 && $high->lockedUntil - $now <= 120 ? 'leased' : 'not leased',
        ' ', $high->lockedBy === $low->lockedBy ? 'one token' : 'tokens', ' ', strlen($high->message) > 100 ? 'with message' : 'empty', "\n";
    echo 'claimed again: ', count($queue->claim(10)), "\n";

    echo "complete:\n";
    var_dump($queue->complete($high), $queue->job($high->id), $queue->complete($high), $queue->fail($high, 'x'), $queue->release($high), $queue->renew($high));

    echo "fail:\n";
    var_dump($queue->fail($middle, "line one\nline two\x1b[31m"));
    $failed = $queue->job($middle->id);
    echo $failed->status->name, " $failed->attempts ", json_encode($failed->lastError), ' ', $failed->nextAttemptAt - $now >= 60 ? 'backoff' : 'at once',
        ' ', var_export([$failed->lockedBy, $failed->lockedUntil], true) === var_export([null, null], true) ? 'unlocked' : 'locked', "\n";

    echo "renew, release:\n";
    var_dump($queue->renew($low, 600));
    var_dump($queue->job($low->id)->lockedUntil - $now >= 600, $queue->release($low), $queue->renew($low));
    $released = $queue->job($low->id);
    echo $released->status->name, " $released->attempts ", var_export($released->lastError, true), ' ', $released->nextAttemptAt === $low->nextAttemptAt ? 'as before' : 'moved', "\n";

    echo "fail for good, and with a delay of its own:\n";
    [$low] = $queue->claim();
    var_dump($queue->fail($low, 'no such user', permanent: true));
    $parked = $queue->job($low->id);
    echo $parked->status->name, " ($parked->parkedFor) ", json_encode($parked->refused), "\n";
    $pdo->exec('UPDATE mail_queue SET next_attempt_at = 1 WHERE status = \'failed\'');
    [$middle] = $queue->claim();
    var_dump($queue->fail($middle, '', retryAfter: 5000));
    echo intdiv($queue->job($middle->id)->nextAttemptAt - $now, 1000), "\n";

    echo "fail for good of a part: the others were not tried\n";
    $queue->setConfig('mailMaxPerHour', 2);
    $id = $queue->enqueue(mail_fields(), recipients: ['a@example.org', 'b@example.org', 'c@example.org', 'd@example.org']);
    [$part] = $queue->claim();
    must($part->id === $id, 'the others are not due');
    var_dump($queue->fail($part, '550 5.1.1 no such user', permanent: true));
    $rest = $queue->job($id);
    echo json_encode($part->recipients), ' ', $rest->status->name, ' ', json_encode($rest->recipients), ' ', json_encode(array_keys($rest->refused)), " $rest->attempts\n";
    $queue->setConfig('mailMaxPerHour', 0);

    echo "arguments:\n";
    foreach ([
        fn() => $queue->claim(0), fn() => $queue->claim(1001), fn() => $queue->claim(1, 4), fn() => $queue->claim(1, 86401),
        fn() => $queue->renew($middle, 0), fn() => $queue->fail($middle, 'x', false, -1),
        fn() => $queue->complete($queue->job($middle->id)), fn() => $queue->release($queue->jobs()[0]), fn() => $queue->fail($parked, 'x'), fn() => $queue->renew($parked),
        fn() => $queue->recoverStuckSending(0), fn() => $queue->takeTokens(-1),
    ] as $call) {
        echo '  ', thrown($call), "\n";
    }
});
?>
--EXPECT--
nothing due: 0
high middle low
Sending 1 32 leased one token with message
claimed again: 0
complete:
bool(true)
NULL
bool(false)
bool(false)
bool(false)
bool(false)
fail:
bool(true)
Failed 1 "line one?line two?[31m" backoff unlocked
renew, release:
bool(true)
bool(true)
bool(true)
bool(false)
Pending 0 NULL as before
fail for good, and with a delay of its own:
bool(true)
Parked (refused) {"ann@example.net":"no such user"}
bool(true)
5
fail for good of a part: the others were not tried
bool(true)
["a@example.org","b@example.org"] Pending ["c@example.org","d@example.org"] ["a@example.org","b@example.org"] 0
arguments:
  ValueError: MailQueue::claim(): Argument #1 ($limit) must be between 1 and 1000
  ValueError: MailQueue::claim(): Argument #1 ($limit) must be between 1 and 1000
  ValueError: MailQueue::claim(): Argument #2 ($lease) must be between 5 and 86400 (seconds)
  ValueError: MailQueue::claim(): Argument #2 ($lease) must be between 5 and 86400 (seconds)
  ValueError: MailQueue::renew(): Argument #2 ($lease) must be between 5 and 86400 (seconds)
  ValueError: MailQueue::fail(): Argument #4 ($retryAfter) must be between 0 and 31622400 (seconds) or null
  ValueError: MailQueue::complete(): Argument #1 ($job) must be a job returned by claim() of this object's queue
  ValueError: MailQueue::release(): Argument #1 ($job) must be a job returned by claim() of this object's queue
  ValueError: MailQueue::fail(): Argument #1 ($job) must be a job returned by claim() of this object's queue
  ValueError: MailQueue::renew(): Argument #1 ($job) must be a job returned by claim() of this object's queue
  ValueError: MailQueue::recoverStuckSending(): Argument #1 ($now) must be seconds since 1970, or null for the clock
  ValueError: MailQueue::takeTokens(): Argument #1 ($wanted) must be between 0 and 1000000000
