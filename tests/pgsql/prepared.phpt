--TEST--
PostgreSQL: after DISCARD ALL and DEALLOCATE ALL, statements are prepared again, within the application's transaction too
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
$pdo->exec('CREATE TABLE orders (n int)');
$path = $pdo->query('SHOW search_path')->fetchColumn();
$many = array_fill(0, 2, ['message' => mail_fields()]);

/* A statement is prepared in the server from its third use on. */
$warm = function () use ($backend, $many, &$pdo, &$queue): void {
    $pdo = $backend->pdo();
    $queue = new MailQueue($pdo);
    for ($i = 0; $i < 4; $i++) {
        $queue->enqueue(mail_fields());
        $queue->enqueueMany($many);
        $queue->delete([$queue->enqueue(mail_fields())]);
        $queue->stats();
    }
    must($pdo->query('SELECT count(*) FROM pg_prepared_statements')->fetchColumn() > 5, 'statements are prepared');
};
$queue = null;
$uses = [
    'enqueue' => function () use (&$queue, $many) { return $queue->enqueue(mail_fields()); },
    'enqueueMany' => function () use (&$queue, $many) { return $queue->enqueueMany($many); },
    'stats' => function () use (&$queue, $many) { return $queue->stats(); },
    'delete' => function () use (&$queue, $many) { return $queue->delete([3, 4]); },
    'setConfig' => function () use (&$queue, $many) { return $queue->setConfig('mailBurst', 3); },
    'claim' => function () use (&$queue) { array_map($queue->release(...), $queue->claim(2)); },
];
foreach ($uses as $name => $use) {
    $warm();
    $pdo->exec('DISCARD ALL');
    $pdo->exec("SET search_path = $path");
    echo "$name: ", thrown($use), ', again: ', thrown($use);
    if ($name !== 'claim') {
        $warm();
        $pdo->beginTransaction();
        $pdo->exec('INSERT INTO orders VALUES (1)');
        $pdo->exec('DEALLOCATE ALL');
        echo ', joined: ', thrown($use);
        $pdo->exec('INSERT INTO orders VALUES (2)');
        $pdo->commit();
    }
    echo "\n";
}
echo $pdo->query('SELECT count(*) FROM orders')->fetchColumn() ?: 0, " orders\n";
?>
--EXPECT--
enqueue: nothing, again: nothing, joined: nothing
enqueueMany: nothing, again: nothing, joined: nothing
stats: nothing, again: nothing, joined: nothing
delete: nothing, again: nothing, joined: nothing
setConfig: nothing, again: nothing, joined: nothing
claim: nothing, again: nothing
10 orders
