--TEST--
SQLite: a row whose expires_at is not a whole number never expires
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$path = database();
$queue = new MailQueue($path);
$pdo = new PDO("sqlite:$path");
$values = ["'2030-01-01 00:00:00'", '1e20', '4102444800.5', '4102444800', "'1970'"];
foreach ($values as $value) {
    $id = $queue->enqueue(mail_fields());
    $pdo->exec("UPDATE mail_queue SET expires_at = $value WHERE id = $id");
}
$report = $queue->runWorker('null://null', log: '');
echo "sent $report->sent expired $report->expired\n";
?>
--EXPECT--
sent 4 expired 1
