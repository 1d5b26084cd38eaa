--TEST--
mailWarmup on each database, without another limit: what waits for a day's amount goes when that changes, whoever changed it
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
    $queue->setConfig('mailWarmup', "$day: 4, 4, 4 per sender domain");
    echo 'claimed, 4 a day: ', $claim(), "\n";
    $pdo->exec("UPDATE config SET value = '$day: 5, 5, 5 per sender domain' WHERE " . match ($backend->name) {
        'mysql' => '`key`',
        default => 'key',
    } . " = 'mailWarmup'");
    echo 'claimed, 5 a day: ', $claim(), "\n";
    $queue->setConfig('mailWarmup', null);
    echo 'claimed, no limit: ', $claim(), "\n";
});
?>
--EXPECT--
claimed: r1 r2
r3 waits for 2/1d per sender domain, 0 h
r4 waits for 2/1d per sender domain, 12 h
r5 waits for 2/1d per sender domain, 24 h
r6 waits for 2/1d per sender domain, 36 h
claimed: 
claimed, 4 a day: r3 r4
claimed, 5 a day: r5
claimed, no limit: r6
