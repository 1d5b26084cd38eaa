--TEST--
Counts are exact up to a number and estimated beyond it; when a mail will go
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
    $show = function (?int $exactUpTo = null) use ($queue): void {
        $s = $queue->stats($exactUpTo);
        echo $exactUpTo ?? 'all', ": $s->pending $s->sending $s->failed $s->parked, due $s->due, estimated: ", implode(' ', $s->estimated), "\n";
    };
    $show(1);
    $queue->enqueueMany((function () {
        for ($i = 0; $i < 200; $i++) {
            yield ['message' => mail_fields(), 'priority' => intdiv($i, 4) % 3, ...$i < 100 ? ['sendAt' => time() + 3600] : []];
        }
    })());
    $queue->hold(range(101, 140));
    $queue->retryFailed(range(101, 110));
    [$job, $other] = $queue->claim(2);
    $queue->fail($job, 'not now');
    // All ids of a short range are looked up, so the estimate is right, too.
    foreach ([null, 170, 90, 20, 1] as $exactUpTo) {
        $show($exactUpTo);
    }
    $queue->complete($other);
    echo thrown(fn() => $queue->stats(0)), "\n";
    // 12,000 mails: the estimate is near.
    $queue->enqueueMany((function () {
        for ($i = 0; $i < 12000; $i++) {
            yield ['reference' => "c$i", 'type' => 'composed'];
        }
    })());
    $s = $queue->stats(1000);
    echo abs($s->pending - 12157) < 1500 && abs($s->due - 12057) < 1500 ? 'near' : json_encode($s), ', oldest ', time() - $s->oldestWaitingSince < 60 ? 'known' : 'not', "\n";
});

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $ids = [];
    foreach ([0, 0, 5, 0, 5] as $i => $priority) {
        $ids[] = $queue->enqueue(mail_fields(), priority: $priority);
    }
    $later = $queue->enqueue(mail_fields(), sendAt: time() + 900);
    $two = $queue->enqueue(['to' => ['a@example.org', 'b@example.org']] + mail_fields());
    $now = time();
    $in = fn(?int $at): string => $at === null ? 'null' : (string) (int) round(($at - $now) / 30) * 30;
    $all = fn(): string => implode(' ', array_map(fn(int $id) => $in($queue->expectedAt($id)), [...$ids, $later, $two]));
    echo 'no limit: ', $all(), "\n";
    $queue->setConfig('mailMaxPerHour', 60);
    $queue->setConfig('mailTokens', 1.5);
    $queue->setConfig('mailLastRefill', $now);
    echo 'one a minute: ', $all(), "\n";
    echo 'as a list: ', implode(' ', array_map(fn($job) => $in($job->expectedAt), $queue->jobs(expected: true))), '; ',
        $in($queue->job($ids[0])->expectedAt), '; ', json_encode(array_unique(array_column($queue->jobs(), 'expectedAt'))), "\n";
    $queue->hold([$ids[1]]);
    echo 'one is held: ', $all(), "\n";
    $queue->setConfig('mailRelayPause', json_encode(['smtp://a' => $now + 600 . ' 1 busy']));
    echo 'a relay is paused that the last run did not have: ', $all(), "\n";
    $queue->setConfig('mailRelayRoutes', json_encode(['mail_queue' => 'smtp://a']));
    echo 'the relay is paused: ', $all(), "\n";
    $queue->setConfig('mailQueueEnabled', 0);
    echo 'off: ', $all(), ' ', json_encode($queue->expectedAt(4711)), "\n";
    $queue->claim(1);
});
?>
--EXPECT--
1: 0 0 0 0, due 0, estimated: 
all: 168 1 1 30, due 68, estimated: 
170: 168 1 1 30, due 68, estimated: 
90: 168 1 1 30, due 68, estimated: pending
20: 168 1 1 30, due 68, estimated: pending parked due
1: 168 1 1 30, due 68, estimated: pending parked due
ValueError: MailQueue::stats(): Argument #1 ($exactUpTo) must be between 1 and 1000000000 or null
near, oldest known
no limit: 0 0 0 0 0 900 0
one a minute: 90 150 0 210 30 900 330
as a list: 90 150 0 210 30 900 330; 90; [null]
one is held: 90 null 0 150 30 900 270
a relay is paused that the last run did not have: 90 null 0 150 30 900 270
the relay is paused: 600 null 600 600 600 900 600
off: null null null null null null null null
