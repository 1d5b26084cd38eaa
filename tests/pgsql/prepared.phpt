--TEST--
PostgreSQL: DISCARD ALL and DEALLOCATE ALL take prepared statements away: they are prepared anew, within the application's transaction too
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
$pdo->exec('CREATE TABLE orders (n int)');
$queue->enqueue(mail_fields(), 'first');
$path = $pdo->query('SHOW search_path')->fetchColumn();

$pdo->exec('DISCARD ALL');
$pdo->exec("SET search_path = $path");
echo 'a transaction of its own: ', thrown(fn() => $queue->enqueue(mail_fields(), 'second')), "\n";
$pdo->exec('DEALLOCATE ALL');
echo 'reading: ', thrown(fn() => print($queue->stats()->pending . ' ')), "\n";

$pdo->exec('DEALLOCATE ALL');
$pdo->beginTransaction();
$pdo->exec('INSERT INTO orders VALUES (1)');
echo 'joined: ', thrown(fn() => $queue->enqueue(mail_fields(), 'third')), "\n";
$pdo->exec('DEALLOCATE ALL');
echo 'reading, joined: ', thrown(fn() => print($queue->stats()->pending . ' ')), "\n";
$pdo->exec('INSERT INTO orders VALUES (2)');
$pdo->commit();
echo $pdo->query('SELECT count(*) FROM orders')->fetchColumn(), ' orders, ',
    implode(' ', array_map(fn($job) => $job->reference, $backend->queue()->jobs())), "\n";

$pdo->exec('DEALLOCATE ALL');
echo 'deleting: ', thrown(fn() => print($queue->delete([$queue->enqueue(mail_fields(), 'fourth')]) . ' ')), "\n";
?>
--EXPECT--
a transaction of its own: nothing
reading: 2 nothing
joined: nothing
reading, joined: 3 nothing
2 orders, first second third
deleting: 1 nothing
