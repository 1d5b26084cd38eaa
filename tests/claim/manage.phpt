--TEST--
jobs(), job(), stats(), hold(), delete(), retryFailed()
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
use MailQueue\Status;
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $pdo = $backend->pdo();
    $ids = [];
    for ($i = 1; $i <= 8; $i++) {
        $ids[] = $queue->enqueue(mail_fields(), "r$i");
    }
    $list = fn(array $jobs): string => implode(' ', array_map(fn($job) => $job->reference . ':' . strtolower($job->status->name), $jobs));
    echo $list($queue->jobs()), "\n", $list($queue->jobs(limit: 2)), "\n", $list($queue->jobs(limit: 2, after: $ids[4])), "\n", $list($queue->jobs(after: $ids[7])), "\n";
    var_dump($queue->jobs(limit: 1)[0]->message, strlen($queue->job($ids[0])->message) > 100, $queue->job(999), $queue->job(-1));

    [$sending, $refused, $exhausted, $failed] = $queue->claim(4);
    $queue->fail($refused, '550 no such user', permanent: true);
    $queue->fail($failed, '451 later');
    $pdo->exec("UPDATE mail_queue SET max_attempts = 1 WHERE id = $exhausted->id");
    $queue->release($exhausted);
    [$exhausted] = $queue->claim();
    $queue->fail($exhausted, '451 once too often');
    echo 'hold: ', $queue->hold([$ids[4], $sending->id, 999, $ids[4]]), "\n";
    echo $list($queue->jobs()), "\n";
    foreach (Status::cases() as $status) {
        echo "$status->value: ", $list($queue->jobs($status)), "\n";
    }
    $stats = $queue->stats();
    echo "pending $stats->pending sending $stats->sending failed $stats->failed parked $stats->parked held $stats->held due $stats->due\n";
    var_dump($stats->limit, $stats->tokens, $stats->emptyIn, $stats->lastRunAt, $stats->pausedUntil, $stats->pauseReason, abs($stats->oldestWaitingSince - time()) < 60);

    echo 'delete: ', $queue->delete([$sending->id, $ids[7], 999]), ' ', $queue->delete([]), "\n";
    echo 'retry all: ', $queue->retryFailed(), "\n", $list($queue->jobs()), "\n";
    echo 'retry these: ', $queue->retryFailed([$ids[4], $failed->id, $sending->id, 999]), "\n", $list($queue->jobs()), "\n";
    echo implode(' ', array_map(fn($job) => $job->attempts, $queue->jobs())), "\n";
    [$again] = $queue->claim();
    $queue->fail($again, 'no', permanent: true);
    echo 'once more: ', $queue->retryFailed([$again->id], resetAttempts: false), "\n";
    $job = $queue->job($again->id);
    echo $job->status->name, " $job->attempts of 10\n";
    $again = array_column($queue->claim(6), null, 'reference')['r4'];
    $queue->fail($again, '451 later');
    echo 'what waits: ', $queue->retryFailed(resetAttempts: false), "\n";
    $job = $queue->job($again->id);
    echo $job->status->name, " $job->attempts of 10, ", $job->nextAttemptAt <= time() ? 'now' : 'later', "\n";

    foreach ([
        fn() => $queue->hold(['1']), fn() => $queue->delete([1.0]), fn() => $queue->retryFailed([null]),
        fn() => $queue->jobs(limit: 0), fn() => $queue->jobs(limit: 10001), fn() => $queue->jobs(after: -1),
    ] as $call) {
        echo thrown($call), "\n";
    }
});
?>
--EXPECT--
r1:pending r2:pending r3:pending r4:pending r5:pending r6:pending r7:pending r8:pending
r1:pending r2:pending
r6:pending r7:pending

NULL
bool(true)
NULL
NULL
hold: 1
r1:sending r2:parked r3:parked r4:failed r5:parked r6:pending r7:pending r8:pending
pending: r6:pending r7:pending r8:pending
sending: r1:sending
failed: r4:failed
parked: r2:parked r3:parked r5:parked
held: 
pending 3 sending 1 failed 1 parked 3 held 0 due 3
int(0)
NULL
NULL
NULL
NULL
NULL
bool(true)
delete: 1 0
retry all: 3
r1:sending r2:pending r3:pending r4:pending r5:parked r6:pending r7:pending
retry these: 1
r1:sending r2:pending r3:pending r4:pending r5:pending r6:pending r7:pending
1 0 0 0 0 0 0
once more: 1
Pending 9 of 10
what waits: 1
Pending 1 of 10, now
TypeError: MailQueue::hold(): Argument #1 ($ids) must be a list of ids of type int, string given
TypeError: MailQueue::delete(): Argument #1 ($ids) must be a list of ids of type int, float given
TypeError: MailQueue::retryFailed(): Argument #1 ($ids) must be a list of ids of type int, null given
ValueError: MailQueue::jobs(): Argument #2 ($limit) must be between 1 and 10000
ValueError: MailQueue::jobs(): Argument #2 ($limit) must be between 1 and 10000
ValueError: MailQueue::jobs(): Argument #3 ($after) must be an id, or 0 to begin
