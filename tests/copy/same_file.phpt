--TEST--
A queue is not moved into another table of its own file
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$queue = new MailQueue($path = database());
$queue->enqueue(mail_fields());
$other = new MailQueue($path, table: 'other_queue');
$other->migrate();
echo thrown(fn() => $queue->moveTo($other, 'one', 'two')), "\n";
var_dump($queue->config('mailQueueMovedTo'), count($queue->claim(1)));
?>
--EXPECTF--
%ssource and target are the same file: a queue is moved into another database%S
NULL
int(1)
