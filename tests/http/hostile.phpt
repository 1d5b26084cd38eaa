--TEST--
Mail APIs: what a hostile server answers costs neither memory nor time, reaches no other host, and marks nothing as sent
--EXTENSIONS--
mailqueue
posix
pdo_sqlite
zlib
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/../lib/api.inc';

/** By how much this process's memory grew at most since the last call, in MiB. (Sanitizers keep what is freed.) */
function growth(): float
{
    static $before = 0;
    preg_match('/VmHWM:\s+(\d+).*VmRSS:\s+(\d+)/s', file_get_contents('/proc/self/status'), $match);
    file_put_contents('/proc/self/clear_refs', '5');
    $growth = $match[1] - $before;
    $before = $match[2];
    return $growth / 1024;
}

$elsewhere = new Api(SES);
$bomb = gzencode(str_repeat("\0", 50 << 20));
$ok = SES['answer']['body'];
$plain = "HTTP/1.1 200 OK\r\nContent-Length: " . strlen($ok) . "\r\n\r\n$ok";
$cases = [
    'endless header fields' => ['raw' => "HTTP/1.1 200 OK\r\n", 'endless' => "X-Field: value\r\n"],
    'one endless header field' => ['raw' => "HTTP/1.1 200 OK\r\nX-Field: ", 'endless' => 'value value '],
    'endless 100 Continue' => ['endless' => "HTTP/1.1 100 Continue\r\n\r\n"],
    'an endless body' => ['raw' => "HTTP/1.1 200 OK\r\n\r\n{\"MessageId\":\"1\"", 'endless' => '          '],
    'an endless body in chunks' => ['raw' => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 'endless' => "5\r\nhello\r\n"],
    'an endless refusal' => ['raw' => "HTTP/1.1 400 No\r\n\r\n", 'endless' => 'no no no '],
    'a bomb of gzip' => ['raw' => mb_convert_encoding("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " . strlen($bomb) . "\r\n\r\n$bomb", 'UTF-8', 'ISO-8859-1')],
    'the same as a transfer encoding' => ['raw' => mb_convert_encoding("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n$bomb", 'UTF-8', 'ISO-8859-1'), 'do' => 'close'],
    'a negative length' => ['raw' => "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n$ok", 'do' => 'close'],
    'a length that is too long' => ['raw' => "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n$ok", 'do' => 'close'],
    'two lengths' => ['raw' => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 30\r\n\r\n$ok", 'do' => 'close'],
    'no HTTP' => ['raw' => "220 smtp.example ESMTP\r\n", 'do' => 'close'],
    'HTTP/0.9' => ['raw' => $ok, 'do' => 'close'],
    'zeros' => ['raw' => str_repeat("\0", 70000), 'do' => 'close'],
    'a redirect to another host' => ['status' => 307, 'fields' => ['Location' => "http://127.0.0.1:$elsewhere->port/v2/email/outbound-emails"]],
    'a redirect by POST' => ['status' => 308, 'fields' => ['Location' => "http://localhost:$elsewhere->port/"]],
    'a request for another login' => ['status' => 401, 'fields' => ['WWW-Authenticate' => 'Negotiate']],
    'a cookie' => ['status' => 200, 'body' => $ok, 'fields' => ['Set-Cookie' => 'a=b', 'Alt-Svc' => "h2=\":$elsewhere->port\"", 'Strict-Transport-Security' => 'max-age=999']],
];
/** The config table, without the relay's pause, and what each run notes. */
$config = static fn(TestQueue $queue): array => (new \PDO("sqlite:$queue->path"))
    ->query("SELECT key, value FROM config WHERE key NOT IN ('mailRelayPause', 'mailRelayRoutes', 'mailLastRun')")->fetchAll(\PDO::FETCH_KEY_PAIR);
growth();
foreach ($cases as $what => $answer) {
    $api = new Api(SES);
    $api->answers($answer);
    $queue = new TestQueue();
    $queue->add('first', ['a@example.org'], priority: 1);
    $queue->add('second', ['a@example.org']);
    $before = $config($queue);
    $begun = microtime(true);
    $report = $queue->work(ses($api, '&final_timeout=20'), onUncertain: \MailQueue\OnUncertain::Hold);
    $seconds = microtime(true) - $begun;
    $after = implode(' and ', $queue->states());
    $pause = $queue->queue->stats()->pausedUntil === null ? 'no pause' : 'paused';
    $changes = array_diff_assoc($config($queue), $before);
    $queue->timePasses();
    $queue->work(ses($api));
    $growth = growth();
    $cookies = array_filter(array_map(static fn(array $request): ?string => $request['fields']['cookie'] ?? null, $api->requests()));
    echo "$what: $after, $pause", $changes ? ', ' . json_encode($changes) : '', "\n    then ", explode(' for ', $queue->state('first'))[0], ', ', $queue->state('second'), $seconds > 15 ? ", it took $seconds s" : '', $growth > 40 ? ", $growth MiB" : '', $cookies ? ', a cookie went back' : '', "\n";
}
echo count($elsewhere->requests()), " requests elsewhere\n";
?>
--EXPECT--
endless header fields: parked 1 uncertain 1 for uncertain and gone, no pause
    then parked 1 uncertain 1, gone
one endless header field: parked 1 uncertain 1 for uncertain and gone, no pause
    then parked 1 uncertain 1, gone
endless 100 Continue: parked 1 uncertain 1 for uncertain and gone, no pause
    then parked 1 uncertain 1, gone
an endless body: parked 1 uncertain 1 for uncertain and gone, no pause
    then parked 1 uncertain 1, gone
an endless body in chunks: parked 1 uncertain 1 for uncertain and gone, no pause
    then parked 1 uncertain 1, gone
an endless refusal: parked 1 uncertain 1 for uncertain and gone, no pause
    then parked 1 uncertain 1, gone
a bomb of gzip: parked 1 uncertain 1 for uncertain and gone, no pause
    then parked 1 uncertain 1, gone
the same as a transfer encoding: parked 1 uncertain 1 for uncertain and gone, no pause
    then parked 1 uncertain 1, gone
a negative length: parked 1 uncertain 1 for uncertain and gone, no pause
    then parked 1 uncertain 1, gone
a length that is too long: gone and gone, no pause
    then gone, gone
two lengths: parked 1 uncertain 1 for uncertain and gone, no pause
    then parked 1 uncertain 1, gone
no HTTP: parked 1 uncertain 1 for uncertain and gone, no pause
    then parked 1 uncertain 1, gone
HTTP/0.9: parked 1 uncertain 1 for uncertain and gone, no pause
    then parked 1 uncertain 1, gone
zeros: parked 1 uncertain 1 for uncertain and gone, no pause
    then parked 1 uncertain 1, gone
a redirect to another host: pending 0 and pending 0, paused
    then gone, gone
a redirect by POST: pending 0 and pending 0, paused
    then gone, gone
a request for another login: pending 0 and pending 0, paused
    then gone, gone
a cookie: gone and gone, no pause
    then gone, gone
0 requests elsewhere
