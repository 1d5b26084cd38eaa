--TEST--
migrate-store: an error that the next run would meet too exits with 78, not 75; an unreadable row is such an error; MariaDB limits locks
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_mysql
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('mysql'); ?>
--FILE--
<?php
require __DIR__ . '/copy.inc';

$hide = static fn(string $text): string => preg_replace('~/\S*/~', '%/', $text);
$move = static function (string $from, string $to) use ($hide): void {
    [$code, $output, $errors] = cli(['migrate-store', $from, $to]);
    echo "exit $code: ", $hide($output . $errors);
};
echo "-- a table that is missing\n";
(new MailQueue($from = database()))->enqueue(mail_fields());
$to = database();
(new PDO("sqlite:$from"))->exec('DROP TABLE mail_spent');
$move($from, $to);

echo "-- a body that cannot be read\n";
$queue = new MailQueue($from = database());
foreach (range(1, 40) as $i) {
    $queue->enqueue("From: a@example.org\r\nTo: b@example.org\r\n\r\n" . str_repeat("line $i\r\n", 3000));
}
unset($queue);
$pdo = new PDO("sqlite:$from");
$pdo->exec('PRAGMA journal_mode = DELETE');
$size = (int) $pdo->query('PRAGMA page_size')->fetchColumn();
unset($pdo);
$file = fopen($from, 'r+');
fseek($file, $size * 100); // behind the schema
fwrite($file, str_repeat("\xff", $size * 3));
fclose($file);
$move($from, database());

echo "-- a write-ahead log that the disk did not store, and does not store now\n";
$from = database();
new MailQueue($from);
mkdir("$from-unsynced"); // opening the queue cannot remove it
$move($from, database());

echo "-- a stopped process\n";
$backend = new Backend('mysql');
$pdo = $backend->pdo();
new MailQueue\Cli\Move\Store($pdo, new MailQueue($pdo), 'one');
echo implode(' ', $pdo->query('SELECT @@idle_transaction_timeout, @@innodb_lock_wait_timeout')->fetch(PDO::FETCH_NUM)), "\n";
?>
--EXPECT--
-- a table that is missing
exit 78: mailqueue: %/mail.db: SQLSTATE[HY000]: General error: 1 no such table: mail_spent. What is copied stays: correct this and repeat the command to go on, or cancel the move with --abort
-- a body that cannot be read
exit 78: mailqueue: %/mail.db: SQLSTATE[HY000]: General error: 11 database disk image is malformed. What is copied stays: correct this and repeat the command to go on, or cancel the move with --abort
-- a write-ahead log that the disk did not store, and does not store now
exit 74: mailqueue: The disk did not store the write-ahead log of %/mail.db: run mailqueue doctor first.
-- a stopped process
60 5
