--TEST--
mailWarmup on each database, without another limit
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
    $day = gmdate('Y-m-d', time() - 86400);
    $queue->setConfig('mailRateMode', 'strict');
    $queue->setConfig('mailWarmup', "$day: 2, 2, 2 per sender domain");
    for ($i = 1; $i <= 6; $i++) {
        $queue->enqueue(mail_fields(), "r$i", envelopeFrom: 'news@example.org', recipients: ['a@example.net']);
    }
    $claim = fn(): string => implode(' ', array_map(fn($job) => $job->reference, $queue->claim(10)));
    echo 'claimed: ', $claim(), "\n";
    foreach ($queue->jobs(MailQueue\Status::Pending) as $job) {
        echo "$job->reference waits for $job->waitsFor, ", round(($job->nextAttemptAt - time()) / 3600), " h\n";
    }
    echo 'claimed: ', $claim(), "\n";
});
?>
--EXPECT--
claimed: r1 r2
r3 waits for 2/1d per sender domain, 0 h
r4 waits for 2/1d per sender domain, 12 h
r5 waits for 2/1d per sender domain, 24 h
r6 waits for 2/1d per sender domain, 36 h
claimed: 
