--TEST--
Mail APIs: kill -9 during requests leaves as uncertain only mail whose request may be there as a whole
--EXTENSIONS--
mailqueue
posix
pdo_sqlite
--INI--
open_basedir=
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/../transports/programs.inc';
require __DIR__ . '/../lib/api.inc';

/** Whether the server has seen so many whole requests. */
function await_requests(Api $api, int $count): void
{
    wait_for("$count requests", static fn(): bool => count($api->requests()) >= $count);
}

foreach (['kill -9' => SIGKILL, 'SIGTERM twice' => SIGTERM] as $what => $signal) {
    $api = new Api(SES);
    $queue = new TestQueue();
    $api->answers(['status' => 200, 'body' => SES['answer']['body']], ['do' => 'hang'], ['do' => 'hang'], ['do' => 'hang']);
    foreach (['accepted' => 3, 'asked 1' => 2, 'asked 2' => 2, 'asked 3' => 2] as $name => $priority) {
        $queue->add($name, ['a@example.org'], priority: $priority);
    }
    $queue->add('waiting', ['a@example.org']);
    $worker = worker($queue, ses($api), 'echo "up\n";
        $report = $queue->runWorker($dsn, connections: 3, log: "", batch: 5, onUncertain: MailQueue\OnUncertain::Hold);
        echo "$report->end $report->sent sent\n";');
    $worker->line();
    await_requests($api, 4);
    posix_kill($worker->pid(), $signal);
    if ($signal === SIGTERM) {
        usleep(300000);
        posix_kill($worker->pid(), $signal);
    }
    $said = $worker->end()[0];
    echo "-- $what\n", $said === '' ? "dead\n" : $said;
    $next = new Api(SES);
    $report = $queue->work(ses($next), connections: 3, onUncertain: \MailQueue\OnUncertain::Hold);
    foreach ($queue->states() as $name => $state) {
        echo "$name: $state\n";
    }
    echo count($next->requests()), " more requests\n";
}

// The server stops reading: a part of the request is there, and the rest never left.
echo "-- kill -9 while a large request leaves\n";
$socket = stream_socket_server('tcp://127.0.0.1:0');
$port = (int) substr(strrchr(stream_socket_get_name($socket, false), ':'), 1);
$queue = new TestQueue();
$queue->add('large', ['a@example.org'], message('large', str_repeat("0123456789 abcdef\n", 1200000)));
$worker = worker($queue, "ses+https://KEY:SECRET@127.0.0.1:$port?region=x&tls=none", 'echo "up\n";
    $queue->runWorker($dsn, log: "", onUncertain: MailQueue\OnUncertain::Hold);');
$worker->line();
$client = stream_socket_accept($socket, 30);
fgets($client);
fwrite($client, "HTTP/1.1 100 Continue\r\n\r\n");
usleep(500000);
posix_kill($worker->pid(), SIGKILL);
$worker->end();
$api = new Api(SES);
$queue->work(ses($api), onUncertain: \MailQueue\OnUncertain::Hold, messageLimit: 1);
echo $queue->state('large'), "\n";

// SES takes 50 recipients in a request: the other ten get a second one.
echo "-- kill -9 between the two requests of a mail\n";
foreach (['200 OK' => SES['answer']['body'], '502 Bad Gateway' => ''] as $status => $body) {
    $queue = new TestQueue();
    $queue->add('many', array_map(static fn(int $i): string => "r$i@example.org", range(1, 60)),
        message('many', str_repeat("0123456789 abcdef\n", 120000)));
    $worker = worker($queue, "ses+https://KEY:SECRET@127.0.0.1:$port?region=x&tls=none", 'echo "up\n";
        $queue->runWorker($dsn, log: "", onUncertain: MailQueue\OnUncertain::Hold);');
    $worker->line();
    $client = stream_socket_accept($socket, 30);
    for ($left = 0; ($line = rtrim(fgets($client), "\r\n")) !== '';) {
        $left = sscanf($line, 'Content-Length: %d')[0] ?? $left;
    }
    fwrite($client, "HTTP/1.1 100 Continue\r\n\r\n");
    for (; $left > 0; $left -= strlen($piece)) {
        $piece = fread($client, min($left, 65536));
    }
    fwrite($client, "HTTP/1.1 $status\r\nContent-Length: " . strlen($body) . "\r\n\r\n$body");
    echo strtok(fgets($client), ' '), "\n"; // the second one begins
    posix_kill($worker->pid(), SIGKILL);
    $worker->end();
    $api = new Api(SES);
    $queue->work(ses($api), onUncertain: \MailQueue\OnUncertain::Hold);
    foreach ($api->requests() as $request) {
        $to = json_decode($request['body'], true)['Destination']['ToAddresses'];
        echo count($to), ' recipients, from ', $to[0], "\n";
    }
    echo substr($queue->state('many'), 0, 34), "\n";
}

// The token endpoint takes each refresh token once; then PHP code runs for long.
echo "-- kill -9 after a new refresh token came\n";
$accounts = temporary_directory('accounts');
putenv("MAILQUEUE_ACCOUNTS=$accounts");
$tokens = new Api(['delay' => 0.3, 'answer' => ['status' => 200, 'body' => '{"access_token":"two","refresh_token":"refresh-02"}']]);
file_put_contents("$accounts/shop.json", json_encode(['provider' => 'generic', 'grant' => 'refresh_token', 'client_id' => 'client',
    'token_endpoint' => "http://127.0.0.1:$tokens->port/token", 'refresh_token' => 'refresh-01', 'access_token' => 'one',
    'expires_at' => time() + 300, 'refresh_at' => time() - 1]));
chmod("$accounts/shop.json", 0600);
$api = new Api(['answer' => ['status' => 202]]);
$queue = new TestQueue();
foreach (['a', 'b'] as $reference) {
    $queue->queue->enqueue(message: null, reference: $reference);
}
$worker = worker($queue, "microsoftgraph+https://127.0.0.1:$api->port?account=shop&tls=none", 'echo "up\n";
    $queue->runWorker($dsn, log: "", connections: 1, compose: function () {
        static $calls = 0;
        echo "composes\n";
        $calls++ === 0 || sleep(60);
        return ["from" => "a@example.com", "to" => "b@example.org", "subject" => "x", "text" => "x"];
    });');
echo $worker->line(), ', ', $worker->line(), ', ', $worker->line(), "\n";
await_requests($tokens, 1);
wait_for('the new token', static fn () => str_contains((string) file_get_contents("$accounts/shop.json"), 'refresh-02'));
posix_kill($worker->pid(), SIGKILL);
$worker->end();
echo json_decode(file_get_contents("$accounts/shop.json"))->refresh_token, "\n";
?>
--EXPECT--
-- kill -9
dead
accepted: gone
asked 1: parked 1 uncertain 1 for uncertain
asked 2: parked 1 uncertain 1 for uncertain
asked 3: parked 1 uncertain 1 for uncertain
waiting: gone
1 more requests
-- SIGTERM twice
signal 1 sent
accepted: gone
asked 1: parked 1 uncertain 1 for uncertain
asked 2: parked 1 uncertain 1 for uncertain
asked 3: parked 1 uncertain 1 for uncertain
waiting: gone
1 more requests
-- kill -9 while a large request leaves
failed 1
-- kill -9 between the two requests of a mail
POST
10 recipients, from r51@example.org
gone
POST
parked 1 uncertain 1 for uncertain
-- kill -9 after a new refresh token came
up, composes, composes
refresh-02
