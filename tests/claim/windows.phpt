--TEST--
mailLimits on each database: what goes, what waits and for which limit, and what is counted
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
    $pdo = $backend->pdo([PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    $queue->setConfig('mailRateMode', 'strict');
    $queue->setConfig('mailLimits', '2/1h per sender, 5/1d mails');
    foreach (['shop@example.org', 'Shop@Example.org', 'shop@example.org', 'news@example.org', 'shop@example.org'] as $i => $from) {
        $queue->enqueue(mail_fields(), "r$i", envelopeFrom: $from, recipients: ['a@example.net']);
    }
    $jobs = $queue->claim(10);
    echo 'claimed ', implode(' ', array_map(fn($job) => $job->reference, $jobs)), "\n";
    foreach ($queue->jobs(MailQueue\Status::Pending) as $job) {
        echo "$job->reference waits for $job->waitsFor, ", $job->attempts, ' attempts, ', intdiv($job->nextAttemptAt - time() + 900, 1800), " half hours\n";
    }
    must($queue->complete($jobs[0]) && $queue->release($jobs[1]) && $queue->fail($jobs[2], 'x'), 'settled');
    foreach ($pdo->query('SELECT scope, SUM(n) FROM mail_window WHERE scope NOT LIKE \'line %\' GROUP BY scope ORDER BY scope DESC', PDO::FETCH_NUM) as $row) {
        echo 'counted: ', implode(' ', $row), "\n";
    }
    echo 'claimed ', implode(' ', array_map(fn($job) => $job->reference, $queue->claim(10))), ', ', json_encode($queue->stats()->limits[1]['left']), " mails left\n";
    echo "a run with two relays\n";
    $queue->delete(array_column($queue->jobs(), 'id'));
    for ($i = 0; $i < 5; $i++) {
        $queue->enqueue(mail_fields(), "s$i", envelopeFrom: 'shop@example.org', recipients: ['a@example.net', 'b@example.net']);
    }
    $queue->setConfig('mailLimits', '3/1h per relay, 100/1d');
    $maildir = 'file://' . temp_directory() . '/maildir';
    $relay = fn(string $text): string => str_ireplace($maildir, 'MAILDIR', $text);
    $report = $queue->runWorker("failover(null://null null://null?connections=2 $maildir)", log: '');
    echo "$report->sent sent, $report->recipients recipients, $report->end\n";
    foreach ($pdo->query('SELECT scope, SUM(n) FROM mail_window WHERE scope LIKE \'3600 %relay%\' GROUP BY scope ORDER BY scope', PDO::FETCH_NUM) as $row) {
        echo 'counted: ', $relay(implode(' ', $row)), "\n";
    }
    foreach (array_filter($queue->jobs(), fn($job) => $job->reference[0] === 's') as $job) {
        echo "$job->reference to ", count($job->recipients), ' waits for ', preg_replace('~(MAILDIR|null://null)$~', 'RELAY', $relay($job->waitsFor)), ", $job->attempts attempts\n";
    }
    $queue->setConfig('mailLimits', '1/1h per relay null://null');
    $report = $queue->runWorker('null://null', fn() => null, log: '');
    echo "$report->sent sent, $report->end $report->reason\n";
    $queue->setConfig('mailLimits', '2/1h to @full.example, 1/1h mails per recipient domain');
    foreach (['a@full.example b@full.example c@full.example', 'd@full.example', 'a@other.example e@full.example'] as $i => $to) {
        $queue->enqueue(mail_fields(), "t$i", priority: 9, envelopeFrom: 'to@example.org', recipients: explode(' ', $to));
    }
    echo 'claimed ', implode(' ', array_map(fn($job) => "$job->reference: " . implode(' ', $job->recipients), array_filter($queue->claim(10),
        fn($job) => $job->priority === 9))), "\n";
    echo $queue->jobs(MailQueue\Status::Pending, reference: 't1')[0]->waitsFor, "\n";
    $queue->setConfig('mailLimits', null);
    $queue->setConfig('mailWarmup', gmdate('Y-m-d') . ': 100');
    echo count($queue->claim(10)), ' claimed in the warm-up', "\n";
    $queue->setConfig('mailWarmup', null);
    $queue->setConfig('mailSlowDomains', json_encode(['@slow.example' => '40 ' . time() . ' 1 0 20 450 later']));
    foreach (['s0', 's1'] as $reference) {
        $queue->enqueue(mail_fields(), $reference, priority: 99, envelopeFrom: 'to@example.org', recipients: ['a@slow.example']);
    }
    $slow = static fn(): string => implode(' ', array_map(fn($job) => $job->reference, array_filter($queue->claim(10), fn($job) => $job->priority === 99)));
    echo 'slowed down: ', $slow(), ', then ', $slow() ?: 'none', '; ', $queue->jobs(MailQueue\Status::Pending, reference: 's1')[0]->waitsFor, "\n";
    $queue->setConfig('mailSlowDomains', null);
    echo 'forgotten: ', $slow(), "\n";
});
?>
--EXPECT--
claimed r0 r1 r3
r2 waits for 2/1h per sender, 0 attempts, 0 half hours
r4 waits for 2/1h per sender, 0 attempts, 1 half hours
counted: 86400 mails 1
counted: 3600 recipients sender shop@example.org 1
claimed r1, 3 mails left
a run with two relays
4 sent, 6 recipients, empty
counted: 3600 recipients relay MAILDIR 3
counted: 3600 recipients relay null://null 3
s1 to 1 waits for 3/1h per relay RELAY, 0 attempts
s3 to 1 waits for 3/1h per relay RELAY, 0 attempts
s4 to 2 waits for 3/1h per relay RELAY, 0 attempts
1 sent, tokens 1/1h per relay null://null
claimed t0: a@full.example b@full.example t2: a@other.example
2/1h to @full.example
3 claimed in the warm-up
slowed down: s0, then none; mailSlowdown: 1 mail in 40s to @slow.example
forgotten: s1
