--TEST--
A queue cannot be moved into its own file, under any name
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/copy.inc';
$queue = new MailQueue($path = database());
$queue->enqueue(mail_fields());
symlink($path, "$path-link");
link($path, "$path-hard");
foreach (['', '-link', '-hard'] as $other) {
    [$code, , $errors] = cli(['migrate-store', $path, "$path$other"]);
    echo "$code $errors";
}
var_dump($queue->config('mailQueueMovedTo'), count($queue->claim(1)));
?>
--EXPECT--
78 mailqueue: source and target are the same file: a queue is moved into another database
78 mailqueue: source and target are the same file: a queue is moved into another database
78 mailqueue: source and target are the same file: a queue is moved into another database
NULL
int(1)
