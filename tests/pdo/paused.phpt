--TEST--
Mail of a paused relay is put back without a claim, holds up no other relay's mail, and goes when a person ends the pause
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
putenv('XDG_STATE_HOME=' . temp_directory());
on_backends(['native', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $mails = fn(string $from, int $count): array => array_map(fn() => ['message' => mail_fields(from: $from)], range(1, $count));
    $queue->enqueueMany([...$mails('f@one.example', 400), ...$mails('f@other.example', 1)]);
    $until = time() + 900;
    $queue->setConfig('mailRelayPause', json_encode(['null://null' => "$until 1 no"]));
    $maildir = 'file://' . temp_directory() . '/maildir';
    $run = function () use ($backend, $maildir): void {
        $events = [];
        $report = $backend->queue()->runWorker('null://null', log: '', relays: ['@other.example' => $maildir],
            onEvent: function (array $event) use (&$events): void {
                $events[] = $event['event'];
            });
        $count = array_count_values($events);
        echo "$report->sent sent, ", ($count['claimed'] ?? 0) < 110 ? 'few' : "$count[claimed]", ' claimed, ',
            $count['released'] ?? 0 ? 'some' : 'none', " released\n";
    };
    $run();
    $jobs = $queue->jobs(limit: 1000);
    echo count($jobs), ' wait for ', implode(' or ', array_unique(array_map(fn($job) => $job->waitsFor, $jobs))), ', ',
        max(array_map(fn($job) => abs($job->nextAttemptAt - $until), $jobs)) < 3 ? 'until then' : 'until another time', "\n";
    $queue->setConfig('mailRelayPause', null);
    $run();
});
?>
--EXPECT--
1 sent, few claimed, some released
400 wait for pause, until then
400 sent, 400 claimed, none released
