--TEST--
new MailQueue($pdo): a duplicate is answered after a write, whose commit syncs what others have only just stored
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
// A commit over the queue's own connection is seen before it is on the disk. Who finds such a mail
// there over a PDO must not say so earlier: AUTOINCREMENT makes SQLite write with every INSERT.
$path = database();
$pdo = new PDO("sqlite:$path");
$pdo->exec('PRAGMA journal_mode=WAL');
$own = new MailQueue($path);
$over = new MailQueue($pdo);
$end = function () use ($path): int {
    clearstatcache();
    return filesize("$path-wal");
};

$fields = mail_fields();
var_dump($own->enqueue($fields, 'R-1'));
$before = $end();
var_dump($over->enqueue($fields, 'R-1'));
must($end() > $before, 'it wrote');
$before = $end();
$pdo->beginTransaction();
var_dump($over->enqueue($fields, 'R-1'));
$pdo->commit();
must($end() > $before, 'it wrote within the transaction of the application');
?>
--EXPECT--
int(1)
NULL
NULL
