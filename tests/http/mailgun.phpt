--TEST--
mailgun+https://: a form with the message and the envelope's recipients, shaped as Mailgun documents it
--EXTENSIONS--
mailqueue
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/../lib/api.inc';

$mailgun = ['authorization' => 'Basic ' . base64_encode('api:key-0123456789'),
    'answer' => ['status' => 200, 'body' => '{"id":"<1.2@mg.example.org>","message":"Queued. Thank you."}']];
$dsn = static fn(Api $api, string $key = 'key-0123456789'): string =>
    "mailgun+https://$key:mg.example.org@127.0.0.1:$api->port?region=eu&tls=none";

/** @return list<array{name: string, value: string}> the parts of a form */
function form(array $request): array
{
    preg_match('~^multipart/form-data; boundary=([0-9a-f]{32})$~', $request['fields']['content-type'], $match);
    $pieces = explode("--$match[1]", $request['body']);
    echo $pieces[0] === '' && end($pieces) === "--\r\n" ? '' : "a bad form\n";
    $parts = [];
    foreach (array_slice($pieces, 1, -1) as $piece) {
        [$head, $value] = explode("\r\n\r\n", $piece, 2);
        preg_match('/form-data; name="(\w+)"/', $head, $name);
        $parts[] = ['name' => $name[1], 'value' => substr($value, 0, -2)];
    }
    return $parts;
}

$api = new Api($mailgun);
$queue = new TestQueue();
$queue->add('plain', ['a@example.org', 'b@example.org']);
$queue->ids['bcc'] = $queue->queue->enqueue(['from' => 'Shop <shop@example.com>', 'to' => 'c@example.org',
    'bcc' => 'secret@example.net', 'subject' => 'x', 'text' => 'x'], 'bcc');
$stored = array_map(static fn(int $id): string => $queue->queue->job($id)->message, $queue->ids);
$report = $queue->work($dsn($api));
echo "$report->end, $report->sent sent\n";
foreach ($api->requests() as $request) {
    $form = form($request);
    $message = array_pop($form);
    echo "$request[method] $request[target] ", $request['fault'] ?? 'ok', "\n";
    foreach ($form as $part) {
        echo "  $part[name]: $part[value]\n";
    }
    echo "  $message[name]: ", in_array($message['value'], $stored, true) ? 'as it was stored' : 'changed',
        str_contains($message['value'], 'secret') ? ', Bcc leaks' : '', "\n";
}
echo $queue->events[array_search('sent', array_column($queue->events, 'event'), true)]['reply'], "\n";

echo "-- errors\n";
foreach ([
    'the recipient' => ['status' => 400, 'body' => '{"message":"to parameter is not a valid address. please check documentation"}'],
    'the domain' => ['status' => 404, 'body' => '{"message":"Domain not found: mg.example.org"}'],
    'too many' => ['status' => 429, 'body' => '{"message":"Too many requests"}', 'fields' => ['Retry-After' => '30']],
] as $what => $answer) {
    $queue = new TestQueue();
    $queue->add('mail', ['a@example.org']);
    $api->answers($answer);
    $report = $queue->work($dsn($api));
    echo "$what: $report->end, ", $queue->state('mail'), ', ', $queue->queue->stats()->pauseReason ?? 'no pause', "\n";
}
$queue = new TestQueue();
$queue->add('mail', ['a@example.org']);
$report = $queue->work($dsn($api, 'key-of-another'));
echo "another key: $report->end, ", $queue->state('mail'), ", $report->reason\n";
echo \MailQueue::checkTransport($dsn($api)) === "mailgun+https://***:mg.example.org@127.0.0.1:$api->port?region=eu" ? "the key is not shown\n" : "the key is shown\n";
foreach (['mailgun+https://key@default', 'mailgun+https://key:a%20b@default', 'mailgun+https://key:example.org@default?region=mars'] as $bad) {
    try {
        echo \MailQueue::checkTransport($bad), "\n";
    } catch (\ValueError $e) {
        echo preg_replace('/^.*?cannot be used: /', '', $e->getMessage()), "\n";
    }
}
?>
--EXPECT--
empty, 2 sent
POST /v3/mg.example.org/messages.mime ok
  to: a@example.org
  to: b@example.org
  message: as it was stored
POST /v3/mg.example.org/messages.mime ok
  to: c@example.org
  to: secret@example.net
  message: as it was stored
200 <1.2@mg.example.org>
-- errors
the recipient: empty, parked 1 for refused refused a@example.org, no pause
the domain: relay, pending 0, 404 Domain not found: mg.example.org
too many: relay, pending 0, 429 Too many requests
another key: relay, pending 0, 401 wrong authorization
the key is not shown
transport: mailgun+https:// needs a key and a domain; write mailgun+https://KEY:DOMAIN@default, with ?region=eu for a domain in the EU
transport: mailgun+https:// needs a key and a domain; write mailgun+https://KEY:DOMAIN@default, with ?region=eu for a domain in the EU
transport: the region of mailgun+https:// is us or eu; write one of these, or leave it out for us
