--TEST--
PostgreSQL: no operation on a long queue reads all of its table
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
$backend = new Backend('pgsql');
$backend->queue()->setConfig('mailMaxPerHour', 1000000);
$backend->queue()->setConfig('mailBurst', 1000000);
$backend->queue()->setConfig('mailRateMode', 'strict');
$look = $backend->pdo();
$look->exec("INSERT INTO mail_queue (reference, mail_type, status, priority, next_attempt_at, created_at, message_id, expires_at, locked_until, locked_by, parked_for)
    SELECT 'r' || i, 'mail', CASE WHEN i % 50 = 0 THEN 'sending' WHEN i % 50 = 1 THEN 'parked' WHEN i % 50 = 2 THEN 'failed' ELSE 'pending' END,
        i % 3, i, 1000, '<x@example.org>', CASE WHEN i % 100 = 7 THEN 4000000000 END,
        CASE WHEN i % 50 = 0 THEN 4000000000 END, CASE WHEN i % 50 = 0 THEN 'x' END, CASE WHEN i % 50 = 1 THEN 'exhausted' END
    FROM generate_series(1, 20000) i");
$scans = function () use ($look): int {
    /* PostgreSQL publishes counts when a session ends, or after a second. */
    must(wait_until(fn() => $look->query("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")->fetchColumn() === 1), 'the others are gone');
    usleep(1000000);
    $look->query('SELECT pg_stat_clear_snapshot()');
    return (int) $look->query("SELECT seq_scan FROM pg_stat_user_tables WHERE relid = 'mail_queue'::regclass")->fetchColumn();
};
$work = function (MailQueue $queue): void {
    $queue->enqueue(mail_fields(), reference: 'r3');
    $queue->enqueue(mail_fields(), reference: 'r1');
    $id = $queue->enqueue(mail_fields(), reference: 'new');
    for ($i = 0; $i < 10; $i++) { // the server may change to a generic plan after five times
        [$one, $two, $three] = $queue->claim(3);
        $queue->complete($one);
        $queue->fail($two, 'x');
        $queue->renew($three);
    }
    $queue->recoverStuckSending();
    $queue->takeTokens(1);
    $queue->hold([$id]);
    $queue->retryFailed([$id]);
    $queue->delete([$id]);
    foreach ([null, ...MailQueue\Status::cases()] as $status) {
        $queue->jobs($status, limit: 10);
    }
    $queue->job($id);
};
foreach (['before', 'after'] as $when) {
    $before = $scans();
    $work($backend->queue());
    gc_collect_cycles();
    echo "$when ANALYZE: ", $scans() - $before, " scans of the table\n";
    $look->exec('ANALYZE mail_queue');
}
?>
--EXPECT--
before ANALYZE: 0 scans of the table
after ANALYZE: 0 scans of the table
