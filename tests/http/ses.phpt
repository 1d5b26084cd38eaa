--TEST--
ses+https://: requests with a right signature, for the envelope's recipients; temporary keys; TLS
--EXTENSIONS--
mailqueue
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/../lib/api.inc';
require __DIR__ . '/../lib/certificates.inc';

echo "-- the checker of signatures, by AWS's published examples\n";
echo run(['python3', dirname(__DIR__) . '/lib/api_server.py', '--vectors']);

/** @return array<string, mixed> the request's JSON, with the message decoded */
function sent(array $request): array
{
    $json = json_decode($request['body'], true, flags: JSON_THROW_ON_ERROR);
    $json['Content']['Raw']['Data'] = base64_decode($json['Content']['Raw']['Data'], true);
    return $json;
}

echo "-- requests\n";
$api = new Api(SES);
$queue = new TestQueue();
$queue->add('one', ['a@example.org', 'b@example.org']);
$queue->add('big', ['a@example.org'], message('big', str_repeat("0123456789 abcdef\n", 170000)));
$queue->ids['bcc'] = $queue->queue->enqueue(['from' => 'Shop <shop@example.com>', 'to' => 'c@example.org', 'cc' => 'd@example.org',
    'bcc' => 'secret@example.net', 'subject' => 'x', 'text' => 'x'], 'bcc');
$queue->recipients['bcc'] = [];
$stored = [];
foreach (['one', 'big', 'bcc'] as $name) {
    $stored[$name] = $queue->queue->job($queue->ids[$name])->message;
}
$many = array_map(static fn(int $i): string => "r$i@example.org", range(1, 120));
$queue->add('many', $many);
$report = $queue->work(ses($api), connections: 4);
echo "$report->end, $report->sent sent\n";
$reached = [];
foreach ($api->requests() as $request) {
    $mail = sent($request);
    $to = $mail['Destination']['ToAddresses'];
    preg_match('/^X-Test-Id: (\w+)/mi', $mail['Content']['Raw']['Data'], $test);
    $reached[$test[1] ?? 'bcc'][] = $to;
    echo $request['fault'] ?? '', isset($stored[$test[1] ?? 'bcc']) && $mail['Content']['Raw']['Data'] !== $stored[$test[1] ?? 'bcc'] ? "another message\n" : '';
    $leaks = stripos($mail['Content']['Raw']['Data'], 'secret@') !== false || stripos($mail['Content']['Raw']['Data'], "\nBcc") !== false;
    echo $leaks ? "Bcc leaks\n" : '';
    if (($test[1] ?? '') === 'one') {
        echo "$request[method] $request[target] ", $request['fields']['content-type'], "\n",
            json_encode(['Content' => null] + $mail, JSON_UNESCAPED_SLASHES), "\n",
            'Accept-Encoding: ', $request['fields']['accept-encoding'] ?? 'none', ', User-Agent: ',
            $request['fields']['user-agent'] ?? 'none', "\n";
    }
}
ksort($reached);
foreach ($reached as $test => $lists) {
    echo "$test: ", implode(' and ', array_map(static fn(array $to): string => count($to) > 5 ? count($to) . ' recipients' : implode(', ', $to), $lists)), "\n";
}
$all = array_merge(...$reached['many']);
sort($many);
sort($all);
var_dump($all === $many);
print_r(array_count_values(array_filter(array_column($queue->events, 'event'), static fn($e) => $e !== 'claimed' && $e !== 'run')));
echo $queue->events[array_search('sent', array_column($queue->events, 'event'), true)]['reply'], "\n";

echo "-- temporary keys, and a wrong one\n";
$api = new Api(['aws' => SES['aws'] + ['token' => 'FQoG/+=x']] + SES);
$queue = new TestQueue();
$queue->add('token', ['a@example.org']);
$report = $queue->work(ses($api));
echo "$report->end: $report->reason; ", $queue->state('token'), "\n";
$queue->timePasses();
$report = $queue->work(ses($api, '&session_token=FQoG%2F%2B%3Dx'));
echo "$report->end, $report->sent sent; ", json_encode($api->requests()[1]['fault']), "\n";

echo "-- TLS\n";
$certificates = new Certificates();
['cert' => $cert, 'key' => $key] = $certificates->issue();
$api = new Api(['cert' => $cert, 'key' => $key] + SES);
foreach (['' => 'without our CA', "&cafile=$certificates->ca" => 'with it', '&verify_peer=0' => 'unchecked'] as $options => $what) {
    $queue = new TestQueue();
    $queue->add('tls', ['a@example.org']);
    $report = $queue->work(str_replace('&tls=none', '', ses($api, $options)));
    echo "$what: $report->end, $report->sent sent", preg_match('/certificate|unable to get/i', (string) $report->reason) ? ', the certificate' : '', '; ', $queue->state('tls'), "\n";
}

echo "-- what cannot be used\n";
foreach (['ses+https://KEY@default?region=eu-west-1', 'ses+https://KEY:SECRET@default', 'ses+https://KEY:SECRET@relay.example?tls=none&region=x'] as $dsn) {
    try {
        echo \MailQueue::checkTransport($dsn), "\n";
    } catch (\ValueError $e) {
        echo preg_replace('/^.*?cannot be used: /', '', $e->getMessage()), "\n";
    }
}
echo \MailQueue::checkTransport('ses+https://KEY:SECRET@default?region=eu-west-1'), "\n";
?>
--EXPECT--
-- the checker of signatures, by AWS's published examples
get-vanilla ok
get-vanilla-query-order-key-case ok
post-vanilla ok
post-sts-header-before ok
post-x-www-form-urlencoded ok
-- requests
empty, 5 sent
POST /v2/email/outbound-emails application/json
{"Content":null,"Destination":{"ToAddresses":["a@example.org","b@example.org"]},"FeedbackForwardingEmailAddress":"sender@example.com"}
Accept-Encoding: none, User-Agent: none
bcc: c@example.org, d@example.org, secret@example.net
big: a@example.org
many: 50 recipients and 50 recipients and 20 recipients
one: a@example.org, b@example.org
bool(true)
Array
(
    [sent] => 5
)
200 MessageId 0102-0304
-- temporary keys, and a wrong one
relay: 403 SignatureDoesNotMatch: another key; pending 0
empty, 1 sent; null
-- TLS
without our CA: relay, 0 sent, the certificate; pending 0
with it: empty, 1 sent; gone
unchecked: empty, 1 sent; gone
-- what cannot be used
transport: ses+https:// needs an access key; write ses+https://KEY:SECRET@default?region=eu-west-1, with / in SECRET as %2F
transport: ses+https:// needs the region of your SES account; add ?region=eu-west-1 or another
transport: tls=none is only for an API on this host (127.0.0.1, ::1, localhost): its key would go out unencrypted; leave it out
ses+https://KEY:***@default?region=eu-west-1
