--TEST--
Mail APIs in a group: mail goes to the other one while one is in trouble, and the first is used again after its pause
--EXTENSIONS--
mailqueue
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/../lib/api.inc';

$first = new Api(SES);
$second = new Api(SES);
$group = 'failover(' . ses($first) . ' ' . ses($second, '&connections=2') . ')';
echo preg_replace('/:\d{4,}/', ':PORT', \MailQueue::checkTransport($group)), "\n";
$first->answers(['status' => 429, 'body' => '{}', 'fields' => ['Retry-After' => '600']]);
$queue = new TestQueue();
for ($i = 0; $i < 5; $i++) {
    $queue->add("m$i", ['a@example.org']);
}
$report = $queue->work($group, connections: 3);
echo "$report->end, $report->sent sent, ", count($first->requests()) + count($second->requests()), " requests, the second had some: ",
    json_encode($second->requests() !== []), "\n";
$queue->queue->setConfig('mailRelayPause', null);
$before = count($first->requests());
$queue->add('later', ['a@example.org']);
$report = $queue->work($group, connections: 3);
echo "$report->end, $report->sent sent, the first had it: ", json_encode(count($first->requests()) > $before), "\n";
?>
--EXPECT--
failover(ses+https://***:***@127.0.0.1:PORT?region=eu-west-1 ses+https://***:***@127.0.0.1:PORT?region=eu-west-1)
empty, 5 sent, 6 requests, the second had some: true
empty, 1 sent, the first had it: true
