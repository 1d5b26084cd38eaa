--TEST--
Mail APIs: what each answer, and each way to lose it, makes of the mail and of the relay
--EXTENSIONS--
mailqueue
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/../lib/api.inc';

function says(int $status, string $type = '', string $message = '', array $fields = []): array
{
    return ['status' => $status, 'body' => json_encode(['message' => $message]),
        'fields' => $fields + ($type === '' ? [] : ['x-amzn-ErrorType' => "$type:http://x/"])];
}

/** One mail meets these answers; an accepted one goes before it, so that the relay is known to work. */
function meets(string $what, array ...$answers): void
{
    // Only where nothing answers is a short timeout, so that no other mail meets it on a slow machine.
    $timeout = in_array('hang', array_column($answers, 'do'), true) ? 4 : 100;
    $api = new Api(SES);
    $queue = new TestQueue();
    $queue->add('before', ['a@example.org'], priority: 1);
    $queue->add('mail', ['a@example.org']);
    $api->answers(['status' => 200, 'body' => SES['answer']['body']], ...$answers);
    $begun = time();
    // The API that leaves has to get the mail on a connection that is kept.
    $connections = in_array('leave', array_column($answers, 'do'), true) ? ['connections' => 1] : [];
    $report = $queue->work(ses($api, "&final_timeout=$timeout"), ...$connections, onUncertain: \MailQueue\OnUncertain::Hold);
    $until = $queue->queue->stats()->pausedUntil;
    $seconds = $until === null ? 0 : $until - $begun;
    $seconds = match (true) {
        $seconds >= 36 && $seconds <= 59 => '40',
        $seconds > 3000 => 'long',
        default => $seconds === 0 ? 'no' : 'some',
    };
    $replies = [];
    foreach ($queue->events as $event) {
        if (!in_array($event['event'], ['claimed', 'sent', 'run'], true)) {
            $replies[] = "$event[event]: $event[reply]";
        }
    }
    echo "$what: ", $queue->state('mail'), ", $report->sent sent, ", count($api->requests()), " requests, $seconds s pause\n  ",
        str_replace([(string) $api->port, str_repeat('x', 235)], ['PORT', 'xxx'], implode("\n  ", array_unique($replies))), "\n";
    echo str_contains(json_encode($queue->events, JSON_UNESCAPED_SLASHES), substr(SES['aws']['secret'], 0, 8)) ? "  the secret is shown\n" : '';
}

echo "-- answers\n";
meets('400', says(400, 'BadRequestException', 'Bad thing'));
meets('400 about the sender', says(400, 'MessageRejected', 'Email address is not verified.'));
meets('400 about the key', says(400, 'AccessDeniedException'));
meets('413', says(413, '', 'Too large'));
meets('413 of a proxy', ['status' => 413, 'body' => '<html><h1>Too large</h1></html>']);
meets('401', says(401, 'UnrecognizedClientException', 'The key AKIDEXAMPLE is bad'));
meets('401 with the secret for a code', says(401, SES['aws']['secret']));
meets('401 with a piece of the secret', says(401, '', str_repeat('x', 235) . SES['aws']['secret']));
meets('429 with seconds', says(429, 'TooManyRequestsException', 'Slow down', ['Retry-After' => '40']));
meets('429 with a date', says(429, '', '', ['Retry-After' => gmdate('D, d M Y H:i:s', time() + 52) . ' GMT']));
meets('500, then well', says(500, 'InternalServiceError', 'Oops'));
meets('503 with Retry-After', says(503, '', '', ['Retry-After' => '40']));
meets('502', says(502));
meets('504', says(504));
meets('a redirect', ['status' => 307, 'body' => '', 'fields' => ['Location' => 'http://127.0.0.1:1/elsewhere']]);
meets('408, then well', says(408));
meets('200 without a receipt', ['status' => 200, 'body' => '<html>Welcome</html>']);

echo "-- no answer\n";
meets('the connection ends behind the request', ['do' => 'close']);
meets('the connection ends behind the request, and no other can be made', ['do' => 'leave']);
meets('silence', ['do' => 'hang']);
meets('half an answer', ['raw' => "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"MessageId\":\"1", 'do' => 'close']);
meets('the head alone', ['raw' => "HTTP/1.1 200 OK\r\nContent-Le", 'do' => 'close']);

echo "-- one silence among 20 answers: the API works\n";
$api = new Api(SES);
$api->answers(['do' => 'hang']);
$queue = new TestQueue();
$queue->add('silent', ['a@example.org'], priority: 1);
array_map(static fn(int $i): int => $queue->add("m$i", ['a@example.org']), range(1, 20));
$report = $queue->work(ses($api, '&final_timeout=4'), connections: 3, onUncertain: \MailQueue\OnUncertain::Hold);
echo "$report->end, $report->sent sent, silent: ", $queue->state('silent'), ', ',
    $queue->queue->stats()->pausedUntil === null ? 'goes on' : 'is paused', "\n";

echo "-- before the request is there: nothing is uncertain\n";
$large = message('large', str_repeat("0123456789 abcdef\n", 500000));
foreach (['once' => 1, 'always' => 9] as $what => $times) {
    $api = new Api(SES);
    $queue = new TestQueue();
    $queue->add('large', ['a@example.org'], $large);
    $api->answers(...array_fill(0, $times, ['early' => true, 'do' => 'close']));
    $report = $queue->work(ses($api));
    echo "the connection ends, $what: ", $queue->state('large'), ", $report->sent sent\n";
}
foreach (['a refusal' => says(413, '', 'Too large'), 'thanks' => ['status' => 200, 'body' => SES['answer']['body']]] as $what => $answer) {
    $api = new Api(SES);
    $queue = new TestQueue();
    $queue->add('large', ['a@example.org'], $large);
    $api->answers(['early' => true] + $answer);
    $report = $queue->work(ses($api));
    echo "$what: ", $queue->state('large'), ", $report->sent sent, $report->end\n";
}

echo "-- nobody is there\n";
$queue = new TestQueue();
$queue->add('a', ['a@example.org']);
$queue->add('b', ['a@example.org']);
$port = closed_port();
$report = $queue->work(str_replace('PORT', (string) $port, 'ses+https://KEY:SECRET@127.0.0.1:PORT?tls=none&region=x'), connections: 5);
echo "$report->end, ", preg_match('/refused|connect/i', $report->reason) ? 'cannot connect' : $report->reason, ': ', implode(', ', $queue->states()), "\n";
echo str_contains(json_encode($queue->events), 'SECRET') ? "the secret is shown\n" : '';
?>
--EXPECT--
-- answers
400: parked 1 for refused refused a@example.org, 1 sent, 2 requests, no s pause
  refused: 400 BadRequestException: Bad thing
  parked: 400 BadRequestException: Bad thing
400 about the sender: failed 1, 1 sent, 2 requests, no s pause
  try_later: 400 MessageRejected: Email address is not verified.
400 about the key: pending 0, 1 sent, 2 requests, some s pause
  relay_trouble: 400 AccessDeniedException
  released: 400 AccessDeniedException
413: parked 1 for refused refused a@example.org, 1 sent, 2 requests, no s pause
  refused: 413 Too large
  parked: 413 Too large
413 of a proxy: failed 1, 1 sent, 2 requests, no s pause
  try_later: 413
401: pending 0, 1 sent, 2 requests, some s pause
  relay_trouble: 401 UnrecognizedClientException: The key *********** is bad
  released: 401 UnrecognizedClientException: The key *********** is bad
401 with the secret for a code: pending 0, 1 sent, 2 requests, some s pause
  relay_trouble: 401 ****************************************
  released: 401 ****************************************
401 with a piece of the secret: pending 0, 1 sent, 2 requests, some s pause
  relay_trouble: 401 xxx****************
  released: 401 xxx****************
429 with seconds: pending 0, 1 sent, 2 requests, 40 s pause
  relay_trouble: 429 TooManyRequestsException: Slow down
  released: 429 TooManyRequestsException: Slow down
429 with a date: pending 0, 1 sent, 2 requests, 40 s pause
  relay_trouble: 429
  released: 429
500, then well: failed 1, 1 sent, 2 requests, no s pause
  try_later: 500 InternalServiceError: Oops
503 with Retry-After: pending 0, 1 sent, 2 requests, 40 s pause
  relay_trouble: 503
  released: 503
502: parked 1 uncertain 1 for uncertain, 1 sent, 2 requests, no s pause
  uncertain: 502
  parked: 502
504: parked 1 uncertain 1 for uncertain, 1 sent, 2 requests, no s pause
  uncertain: 504
  parked: 504
a redirect: pending 0, 1 sent, 2 requests, some s pause
  relay_trouble: 307 it sends us to another address, where no key goes: check the transport's host
  released: 307 it sends us to another address, where no key goes: check the transport's host
408, then well: gone, 2 sent, 3 requests, no s pause
  
200 without a receipt: parked 1 uncertain 1 for uncertain, 1 sent, 2 requests, no s pause
  uncertain: 200
  parked: 200
-- no answer
the connection ends behind the request: parked 1 uncertain 1 for uncertain, 1 sent, 2 requests, no s pause
  uncertain: it closed the connection without an answer
  parked: it closed the connection without an answer
the connection ends behind the request, and no other can be made: parked 1 uncertain 1 for uncertain, 1 sent, 2 requests, no s pause
  uncertain: it closed the connection without an answer
  parked: it closed the connection without an answer
silence: parked 1 uncertain 1 for uncertain, 1 sent, 2 requests, some s pause
  relay_trouble: it did not answer in time
  uncertain: it did not answer in time
  parked: it did not answer in time
half an answer: parked 1 uncertain 1 for uncertain, 1 sent, 2 requests, no s pause
  uncertain: transfer closed with 485 bytes remaining to read
  parked: transfer closed with 485 bytes remaining to read
the head alone: parked 1 uncertain 1 for uncertain, 1 sent, 2 requests, no s pause
  uncertain: its answer was cut off
  parked: its answer was cut off
-- one silence among 20 answers: the API works
empty, 20 sent, silent: parked 1 uncertain 1 for uncertain, goes on
-- before the request is there: nothing is uncertain
the connection ends, once: gone, 1 sent
the connection ends, always: failed 1, 0 sent
a refusal: parked 1 for refused refused a@example.org, 0 sent, empty
thanks: failed 1 uncertain 1, 0 sent, empty
-- nobody is there
relay, cannot connect: pending 0, pending 0
