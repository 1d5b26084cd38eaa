--TEST--
PostgreSQL: plans made for an almost empty table are not kept when it is full
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
$pdo->exec('ALTER TABLE mail_queue SET (autovacuum_enabled = false)');
$insert = fn(int $count) => $pdo->exec("INSERT INTO mail_queue (mail_type, status, next_attempt_at, created_at, message_id)
    SELECT 'mail', 'pending', 1000, 1000, '<x@example.org>' FROM generate_series(1, $count)");
$insert(5);
$pdo->exec('VACUUM ANALYZE mail_queue');
for ($i = 0; $i < 10; $i++) {
    array_map($queue->release(...), $queue->claim(10));
}
$names = $pdo->query("SELECT CASE WHEN statement LIKE '%max(priority)%' THEN 'priority' ELSE 'due' END, name FROM pg_prepared_statements
    WHERE statement NOT LIKE '%pg_prepared%' AND (statement LIKE '%ORDER BY next_attempt_at%' OR statement LIKE '%max(priority)%') ORDER BY 1 DESC")->fetchAll(PDO::FETCH_KEY_PAIR);
$show = function (string $when) use ($pdo, $names): void {
    foreach ($names as $what => $name) {
        $plan = implode($pdo->query("EXPLAIN EXECUTE $name(" . ($what === 'due' ? '0, 2000000000, 100' : '1000') . ')')->fetchAll(PDO::FETCH_COLUMN));
        echo "$when, $what: ", str_contains($plan, 'Seq Scan') ? 'the whole table' : 'the index', "\n";
    }
};
$insert(20000);
$show('next to nothing');
for ($i = 0; $i < 3; $i++) {
    echo count($queue->claim(100)), "\n";
}
$show('many');
?>
--EXPECT--
next to nothing, priority: the whole table
next to nothing, due: the whole table
100
100
100
many, priority: the index
many, due: the index
