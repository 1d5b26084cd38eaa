--TEST--
SQLite: new MailQueue($pdo) within a transaction reads nothing, so that a commit elsewhere does not block later writes
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';

foreach (['wal', 'truncate'] as $journal) {
    $path = database();
    (new MailQueue($path, journal: $journal))->stats();
    $other = new PDO("sqlite:$path");
    $other->exec('CREATE TABLE registrations (number)');
    foreach (['beginTransaction', 'exec'] as $how) {
        $pdo = new PDO("sqlite:$path");
        $how === 'exec' ? $pdo->exec('BEGIN') : $pdo->beginTransaction();
        $queue = new MailQueue($pdo);
        $other->exec('INSERT INTO registrations VALUES (1)');
        echo "$journal, $how: ", $queue->enqueue(mail_fields()), "\n";
        $pdo->exec('COMMIT');
    }
    echo $other->query('SELECT count(*) FROM mail_queue')->fetchColumn(), " stored\n";
}
?>
--EXPECT--
wal, beginTransaction: 1
wal, exec: 2
2 stored
truncate, beginTransaction: 1
truncate, exec: 2
2 stored
