--TEST--
Graph and Gmail send a mail to all its recipients at once: a limit that has room for fewer keeps it whole, and one that never has room refuses it
--EXTENSIONS--
mailqueue
posix
pdo_sqlite
--INI--
open_basedir=
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/../lib/api.inc';

$accounts = temporary_directory('accounts');
putenv("MAILQUEUE_ACCOUNTS=$accounts");
file_put_contents("$accounts/shop.json", json_encode(['provider' => 'generic', 'grant' => 'refresh_token',
    'token_endpoint' => 'https://127.0.0.1:1/token', 'client_id' => 'client', 'scope' => 'mail', 'refresh_token' => 'refresh-01',
    'access_token' => 'token-one', 'expires_at' => time() + 3600, 'refresh_at' => time() + 3000]));
chmod("$accounts/shop.json", 0600);

$settings = ['answer' => ['status' => 202, 'body' => '{"id":"18c"}'], 'authorization' => 'Bearer token-one'];
$dsn = static fn(Api $api, string $scheme = 'gmail'): string => "$scheme+https://127.0.0.1:$api->port?account=shop&tls=none";
/** A message to so many. */
$message = static fn(string $test, int $to, int $first = 1): string => "X-Test-Id: $test\nFrom: sender@example.com\nTo: "
    . implode(', ', array_map(static fn(int $i): string => "a$i@example.org", range($first, $first + $to - 1))) . "\nSubject: x\n\nx\n";
/** Runs mails to so many recipients each, and says what became of them. */
$run = static function (string $what, array $config, array $mails, mixed ...$options) use ($settings, $dsn, $message): TestQueue {
    $api = new Api($settings);
    $queue = new TestQueue();
    array_walk($config, static fn(mixed $value, string $key) => $queue->queue->setConfig($key, $value));
    foreach ($mails as $test => $count) {
        $queue->ids[$test] = $queue->queue->enqueue($message($test, $count), reference: $test);
        $queue->recipients[$test] = $queue->queue->job($queue->ids[$test])->recipients;
    }
    $group = $options['group'] ?? null;
    unset($options['group']);
    $report = $queue->work($group ? sprintf($group, $dsn($api), $dsn($api, 'microsoftgraph')) : $dsn($api), ...$options);
    $claims = count(array_keys(array_column($queue->events, 'event'), 'claimed'));
    echo "-- $what\n$report->end, $report->sent sent, ", count($api->requests()), " requests, $claims claims\n";
    foreach ($queue->states() as $test => $state) {
        $job = $queue->queue->job($queue->ids[$test]);
        $waits = $job?->waitsFor !== null ? ", waits for $job->waitsFor" : '';
        $error = $job?->lastError !== null ? "\n    $job->lastError" : '';
        echo preg_replace("~\w+\+https://127.0.0.1:$api->port\S*~", 'API', "  $test: $state$waits$error\n");
    }
    return $queue;
};

$strict = ['mailRateMode' => 'strict', 'mailLimits' => '3/1h'];
$run('a limit for all', $strict, ['first' => 2, 'second' => 2, 'third' => 1]);
$run('a limit per sender', ['mailLimits' => '3/1h per sender'] + $strict, ['first' => 2, 'second' => 2, 'third' => 1]);
$run('a limit per recipient domain', ['mailLimits' => '3/1h per recipient domain'] + $strict, ['first' => 2, 'second' => 2, 'third' => 1]);
$run('of mails', ['mailLimits' => '3/1h mails'] + $strict, ['first' => 2, 'second' => 2, 'third' => 5]);
$run('the hourly limit', ['mailMaxPerHour' => 3, 'mailRateMode' => 'strict'], ['first' => 2, 'second' => 2, 'third' => 1], timeLimit: 3);
$run('a limit for each relay of a group', ['mailLimits' => '3/1h per relay'] + $strict,
    ['first' => 2, 'second' => 2, 'third' => 2, 'fourth' => 1, 'fifth' => 1], group: 'failover(%s %s)');
$run('in average mode', ['mailLimits' => '60/1h', 'mailBurst' => 3], ['first' => 2, 'second' => 2, 'third' => 1], timeLimit: 3);

$run('a limit that never has room', $strict, ['never' => 4, 'other' => 1]);
$run('the hourly limit never has', ['mailMaxPerHour' => 3, 'mailRateMode' => 'strict'], ['never' => 4, 'other' => 1]);
$run('a limit for each relay never has', ['mailLimits' => '3/1h per relay'] + $strict, ['never' => 4, 'other' => 1],
    group: 'roundrobin(%s %s)');
$run('a burst never has', ['mailLimits' => '60/1h'], ['never' => 6, 'other' => 1]);
$run('a warm-up does not have today', ['mailRateMode' => 'strict', 'mailWarmup' => gmdate('Y-m-d', time() - 86400) . ': 2, 2, 2, 500'],
    ['tomorrow' => 3, 'other' => 1]);
$run('more than 100 recipients', [], ['never' => 101, 'other' => 100]);

echo "-- a mail that is composed waits whole, too\n";
$api = new Api($settings);
$queue = new TestQueue();
array_walk($strict, static fn(mixed $value, string $key) => $queue->queue->setConfig($key, $value));
foreach (['a', 'b'] as $test) {
    $queue->ids[$test] = $queue->queue->enqueue(reference: $test);
    $queue->recipients[$test] = ['a1@example.org', 'a2@example.org'];
}
$report = $queue->work($dsn($api), compose: static fn(\MailQueue\Job $job): string => $message($job->reference, 2));
echo "$report->end, $report->sent sent, ", count($api->requests()), ' requests; ', implode(', ', $queue->states()), "\n";

echo "-- beside a relay that sends in parts\n";
foreach (['failover(%s %s)', 'failover(%2$s %1$s)', 'roundrobin(%s %s)', 'failover(%s %3$s %2$s)'] as $group) {
    foreach ([[[], 101], [$strict, 5]] as [$config, $count]) {
        [$api, $sink, $queue] = [new Api($settings), new Sink(''), new TestQueue()];
        array_walk($config, static fn(mixed $value, string $key) => $queue->queue->setConfig($key, $value));
        $id = $queue->queue->enqueue($message('many', $count));
        $report = $queue->work(sprintf($group, $dsn($api), "smtp://127.0.0.1:$sink->port", $dsn($api, 'microsoftgraph')));
        $job = $queue->queue->job($id);
        echo "$group, $count: $report->end, ", count($sink->counts()), ' by SMTP, ', count($api->requests()), ' requests, ',
            $job === null ? 'gone' : count($job->recipients) . " left, {$job->status->value}", "\n";
        $sink->stop();
    }
}

echo "-- chosen by a function\n";
[$api, $queue] = [new Api($settings), new TestQueue()];
$id = $queue->queue->enqueue($message('many', 101));
$report = $queue->work($dsn($api), relays: static fn(\MailQueue\Job $job): string => $dsn($api));
$job = $queue->queue->job($id);
echo "$report->end, ", count($api->requests()), " requests, {$job->status->value} for $job->parkedFor: $job->lastError\n";

$run('it goes when there is room', ['mailRateMode' => 'strict', 'mailLimits' => '3/3s'], ['first' => 2, 'second' => 2, 'third' => 3], timeLimit: 40);
?>
--EXPECT--
-- a limit for all
tokens, 1 sent, 1 requests, 1 claims
  first: gone
  second: pending 0, waits for 3/1h
  third: pending 0, waits for 3/1h
-- a limit per sender
empty, 2 sent, 2 requests, 2 claims
  first: gone
  second: pending 0, waits for 3/1h per sender
  third: gone
-- a limit per recipient domain
empty, 2 sent, 2 requests, 2 claims
  first: gone
  second: pending 0, waits for 3/1h per recipient domain
  third: gone
-- of mails
empty, 3 sent, 3 requests, 3 claims
  first: gone
  second: gone
  third: gone
-- the hourly limit
tokens, 1 sent, 1 requests, 1 claims
  first: gone
  second: pending 0, waits for mailMaxPerHour
  third: pending 0, waits for mailMaxPerHour
-- a limit for each relay of a group
empty, 4 sent, 4 requests, 4 claims
  first: gone
  second: gone
  third: pending 0, waits for 3/1h per relay API
  fourth: gone
  fifth: gone
-- in average mode
tokens, 1 sent, 1 requests, 1 claims
  first: gone
  second: pending 0, waits for 60/1h
  third: pending 0, waits for 60/1h
-- a limit that never has room
empty, 1 sent, 1 requests, 1 claims
  never: parked 0 for refused
    recipients: this relay sends to all of them at once, and the limit 3/1h never lets 4 go at once; raise it, or mailBurst, or send the mail over SMTP
  other: gone
-- the hourly limit never has
empty, 1 sent, 1 requests, 1 claims
  never: parked 0 for refused
    recipients: this relay sends to all of them at once, and the limit mailMaxPerHour never lets 4 go at once; raise it, or mailBurst, or send the mail over SMTP
  other: gone
-- a limit for each relay never has
empty, 1 sent, 1 requests, 1 claims
  never: parked 0 for refused
    recipients: this relay sends to all of them at once, and the limit 3/1h per relay API never lets 4 go at once; raise it, or mailBurst, or send the mail over SMTP
  other: gone
-- a burst never has
empty, 1 sent, 1 requests, 1 claims
  never: parked 0 for refused
    recipients: this relay sends to all of them at once, and the limit 60/1h never lets 6 go at once; raise it, or mailBurst, or send the mail over SMTP
  other: gone
-- a warm-up does not have today
empty, 1 sent, 1 requests, 1 claims
  tomorrow: pending 0, waits for 2/1d
  other: gone
-- more than 100 recipients
empty, 1 sent, 1 requests, 1 claims
  never: parked 0 for refused
    recipients: this relay sends to all of them at once, and 101 are more than the 100 that a mail can go to at once; send it to fewer, or over SMTP
  other: gone
-- a mail that is composed waits whole, too
tokens, 1 sent, 1 requests; gone, pending 0
-- beside a relay that sends in parts
failover(%s %s), 101: empty, 101 by SMTP, 0 requests, gone
failover(%s %s), 5: tokens, 3 by SMTP, 0 requests, 2 left, pending
failover(%2$s %1$s), 101: empty, 101 by SMTP, 0 requests, gone
failover(%2$s %1$s), 5: tokens, 3 by SMTP, 0 requests, 2 left, pending
roundrobin(%s %s), 101: empty, 101 by SMTP, 0 requests, gone
roundrobin(%s %s), 5: tokens, 3 by SMTP, 0 requests, 2 left, pending
failover(%s %3$s %2$s), 101: empty, 101 by SMTP, 0 requests, gone
failover(%s %3$s %2$s), 5: tokens, 3 by SMTP, 0 requests, 2 left, pending
-- chosen by a function
empty, 0 requests, parked for refused: recipients: this relay sends to all of them at once, and they are more than 100; send it to fewer, or over SMTP
-- it goes when there is room
empty, 3 sent, 3 requests, 3 claims
  first: gone
  second: gone
  third: gone
