--TEST--
PostgreSQL: times come from the server, whatever this machine's clock says
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/backends.inc';
echo backends_missing('pgsql') ?: (MailQueueTest\PostgreSQL::faketime() ? '' : 'skip faketime is missing; tools/setup installs it');
?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
foreach (['+90s', '-90s'] as $off) {
    $server = new MailQueueTest\PostgreSQL(off: $off);
    $pdo = $server->connect();
    $now = fn(): int => (int) $pdo->query('SELECT extract(epoch FROM clock_timestamp())')->fetchColumn();
    /* How many seconds it is later than the server's clock; the test itself may have been slow. */
    $about = fn(int $time, int $wanted): string => abs($time - $now() - $wanted) < 40 ? "as it should be\n" : $time - $now() . "\n";
    echo "$off: ", abs($now() - time()) > 80 ? "another clock\n" : "the same clock\n";
    $queue = new MailQueue($pdo);
    $id = $queue->enqueue(mail_fields());
    echo 'due: ', $queue->stats()->due, ' ', $about($queue->job($id)->nextAttemptAt, 0);
    [$job] = $queue->claim(lease: 60);
    echo 'lease: ', $about($job->lockedUntil, 60);
    $queue->renew($job, 120);
    echo 'renewed: ', $about($queue->job($id)->lockedUntil, 120);
    echo 'recovered: ', $queue->recoverStuckSending(), "\n";
    $queue->fail($job, 'x', retryAfter: 300);
    echo 'next: ', $about($queue->job($id)->nextAttemptAt, 300);
    echo 'tried: ', $about($queue->job($id)->lastAttemptAt, 0);
    foreach (['mailMaxPerHour' => 3600, 'mailRateMode' => 'strict', 'mailBurst' => 3600, 'mailTokens' => 0, 'mailLastRefill' => $now() - 100] as $key => $value) {
        $queue->setConfig($key, $value);
    }
    $tokens = $queue->stats()->tokens;
    $taken = $queue->takeTokens(3600);
    echo 'tokens: ', $tokens >= 100 && $tokens < 140 && $taken >= 100 && $taken < 140 ? "of 100 seconds\n" : "$tokens, $taken\n";
    echo 'spent: ', $about((int) $pdo->query('SELECT at FROM mail_spent')->fetchColumn(), 0);
    $server->stop();
}
?>
--EXPECT--
+90s: another clock
due: 1 as it should be
lease: as it should be
renewed: as it should be
recovered: 0
next: as it should be
tried: as it should be
tokens: of 100 seconds
spent: as it should be
-90s: another clock
due: 1 as it should be
lease: as it should be
renewed: as it should be
recovered: 0
next: as it should be
tried: as it should be
tokens: of 100 seconds
spent: as it should be
