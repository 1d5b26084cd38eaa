--TEST--
PostgreSQL: a claim is planned a few times, not on each call
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
$pdo = $backend->pdo();
$queue = new MailQueue($pdo);
$pdo->exec("INSERT INTO mail_queue (mail_type, status, next_attempt_at, created_at, message_id)
    SELECT 'mail', 'pending', 1000, 1000, '<x@example.org>' FROM generate_series(1, 20000)");
$pdo->exec('ANALYZE mail_queue');
for ($i = 0; $i < 24; $i++) {
    array_map($queue->complete(...), $queue->claim(3));
}
if ((int) $pdo->query('SHOW server_version_num')->fetchColumn() < 140000) {
    exit("few\n"); // which does not count plans
}
$most = $pdo->query("SELECT max(custom_plans) FROM pg_prepared_statements
    WHERE statement LIKE '%ORDER BY next_attempt_at%' AND custom_plans + generic_plans >= 20")->fetchColumn();
echo is_int($most) && $most <= 5 ? 'few' : "planned $most times", "\n";
?>
--EXPECT--
few
