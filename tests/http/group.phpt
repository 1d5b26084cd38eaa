--TEST--
Mail APIs in a group: mail goes to the other one while one is in trouble, and the first is used again after its pause; two accounts are two relays
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

echo "-- two accounts at one host: each has its own count and its own pause\n";
foreach (['ses+https://AKIA%d:secret@127.0.0.1:PORT?region=x&tls=none',
    'ses+https://ASIA%1$d:secret@127.0.0.1:PORT?region=x&tls=none&session_token=t%1$d&name=n%1$d', 'mailgun+https://key:mg%d.example@127.0.0.1:PORT?tls=none'] as $dsn) {
    $api = new Api(['answer' => ['status' => 200, 'body' => '{"MessageId":"1","id":"1"}']]);
    [$one, $two] = array_map(static fn(int $i): string => str_replace('PORT', (string) $api->port, sprintf($dsn, $i)), [1, 2]);
    $queue = new TestQueue();
    $queue->queue->setConfig('mailRateMode', 'strict');
    $queue->queue->setConfig('mailLimits', '3/1h per relay');
    for ($i = 0; $i < 9; $i++) {
        $queue->add("m$i", ['a@example.org']);
    }
    $work = static function (string $dsn) use ($queue): string {
        $queue->waitsAreOver();
        $report = $queue->work($dsn);
        return "$report->end $report->sent";
    };
    echo implode(', ', array_map($work, [$one, $one, $two])), "\n";
    $queue->queue->setConfig('mailLimits', null);
    $api->answers(['status' => 429, 'body' => '{}', 'fields' => ['Retry-After' => '600']]);
    echo implode(', ', array_map($work, [$one, $one, $two])), "\n";
}
?>
--EXPECT--
failover(ses+https://AKIDEXAMPLE:***@127.0.0.1:PORT?region=eu-west-1 ses+https://AKIDEXAMPLE:***@127.0.0.1:PORT?region=eu-west-1)
empty, 5 sent, 6 requests, the second had some: true
empty, 1 sent, the first had it: true
-- two accounts at one host: each has its own count and its own pause
tokens 3, tokens 0, tokens 3
relay 0, relay 0, empty 3
tokens 3, tokens 0, tokens 3
relay 0, relay 0, empty 3
tokens 3, tokens 0, tokens 3
relay 0, relay 0, empty 3
