--TEST--
enqueue(): mailqueue.max_message_size
--EXTENSIONS--
mailqueue
--INI--
mailqueue.max_message_size=4K
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$queue = new MailQueue(database());
$envelope = ['envelopeFrom' => 'a@example.org', 'recipients' => ['b@example.org']];
$body = str_repeat(str_repeat('x', 78) . "\r\n", 60);
echo 'raw: ', thrown(fn() => $queue->enqueue("Subject: x\r\n\r\n$body", ...$envelope)), "\n";
echo 'fields: ', thrown(fn() => $queue->enqueue(mail_fields(text: $body))), "\n";
echo 'grows over it by its encoding: ', thrown(fn() => $queue->enqueue(mail_fields(text: str_repeat('ü', 1900)))), "\n";
var_dump($queue->enqueue("Subject: x\r\n\r\n" . substr($body, 0, 3200), ...$envelope));
echo strlen($queue->job(1)->message) <= 4096 ? "fits\n" : "does not fit\n";
echo count($queue->jobs()), " stored\n";
?>
--EXPECT--
raw: MailQueue\MessageException [message]: message: it has 4913 bytes, allowed are 4096; make it smaller or raise the limit
fields: MailQueue\MessageException [text]: text: the message has 4800 bytes or more, allowed are 4096; make it smaller or raise the limit
grows over it by its encoding: MailQueue\MessageException [text]: text: the message has 5470 bytes or more, allowed are 4096; make it smaller or raise the limit
int(1)
fits
1 stored
