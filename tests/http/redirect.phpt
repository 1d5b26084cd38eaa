--TEST--
Mail APIs: redirected mail reaches only the address that it is redirected to
--EXTENSIONS--
mailqueue
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/../lib/api.inc';

$cases = [
    'ses' => [SES, static fn(Api $api): string => ses($api)],
    'mailgun' => [['answer' => ['status' => 200, 'body' => '{"id":"1"}']],
        static fn(Api $api): string => "mailgun+https://key-01:example.org@127.0.0.1:$api->port?tls=none"],
];
foreach ($cases as $name => [$settings, $dsn]) {
    $api = new Api($settings);
    $queue = new TestQueue();
    $queue->queue->setConfig('mailRedirectTo', 'team@example.net');
    $id = $queue->queue->enqueue(['from' => 'shop@example.com', 'to' => 'customer@example.org', 'cc' => 'other@example.org',
        'bcc' => 'secret@example.org', 'subject' => 'x', 'text' => 'x']);
    $report = $queue->work($dsn($api));
    echo "-- $name: $report->sent sent, ", count($api->requests()), " requests\n";
    foreach ($api->requests() as $request) {
        preg_match('/"Destination":\{[^}]*\}/', $request['body'], $match);
        preg_match_all('/name="to"\r\n\r\n(.*)\r\n/', $request['body'], $matches);
        echo $match[0] ?? implode(', ', $matches[1]), "\n";
    }
}
?>
--EXPECT--
-- ses: 1 sent, 1 requests
"Destination":{"ToAddresses":["team@example.net"]}
-- mailgun: 1 sent, 1 requests
team@example.net
