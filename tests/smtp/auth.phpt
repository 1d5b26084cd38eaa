--TEST--
Logins: PLAIN, LOGIN, odd characters; a wrong password pauses the relay and is never shown
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

const USER = 'user@example.com', PASSWORD = 'pä:s/s@w?o#r%d &=+"\\';
$login = rawurlencode(USER) . ':' . rawurlencode(PASSWORD);

foreach (['PLAIN', 'LOGIN', 'PLAIN LOGIN'] as $mechanisms) {
    $sink = new Sink('', ['--auth', USER . ':' . PASSWORD, '--auth-mechanisms', $mechanisms,
        '--require-auth']);
    $queue = new TestQueue();
    $queue->add('t1', ['a@example.org']);
    $report = $queue->work("smtp://$login@127.0.0.1:$sink->port");
    preg_match('/^< AUTH (\w+)/m', $sink->transcript(), $match);
    echo "$mechanisms: $report->end, {$queue->state('t1')}, ", $match[1] ?? '', ' ',
        count($sink->accepted()), " accepted\n";
}

echo "-- a login is wanted, and none is set\n";
$sink = new Sink('', ['--auth', 'u:p', '--require-auth']);
$queue = new TestQueue();
$queue->add('t1', ['a@example.org']);
$report = $queue->work("smtp://127.0.0.1:$sink->port");
echo "$report->end, {$queue->state('t1')}: $report->reason\n";

echo "-- a wrong password\n";
$sink = new Sink('', ['--auth', USER . ':' . PASSWORD]);
$secret = 's3cret wr0ng';
$dsn = 'smtp://' . rawurlencode(USER) . ':' . rawurlencode($secret) . "@127.0.0.1:$sink->port";
$queue = new TestQueue();
$queue->add('t1', ['a@example.org']);
$queue->add('t2', ['b@example.org']);
$work = command_line($queue, $dsn, 'work');
$again = command_line($queue, $dsn, 'work');
echo "exit $work[code], then exit $again[code]; ", implode(', ', $queue->states()), "\n";
$commands = $sink->transcript();
var_dump($sink->received('AUTH') > 0, str_contains($commands, 'MAIL'));
$pause = $queue->queue->stats();
echo $pause->pausedUntil > time() + 30 ? 'paused: ' : 'not paused: ', $pause->pauseReason, "\n";

// All places in which a run's texts end up.
$places = $work['output'] . $work['errors'] . $again['output'] . $again['errors']
    . file_get_contents("$queue->path.log") . $queue->queue->config('mailRelayPause');
foreach (['status', 'status --json', 'list --json', 'show ' . $queue->ids['t1'], 'config',
    'doctor'] as $command) {
    $run = command_line($queue, $dsn, ...explode(' ', $command));
    $places .= $run['output'] . $run['errors'];
}
$queue->timePasses();
$report = $queue->work($dsn, log: "$queue->path.log2");
$places .= json_encode($queue->events) . file_get_contents("$queue->path.log2")
    . var_export((array) $report, true);
foreach (array_filter(glob(dirname($queue->path) . '/*'), is_file(...)) as $file) {
    $places .= \MailQueueTest\run(['cat', $file]); // this process would drop SQLite's locks
}
$secrets = [$secret, rawurlencode($secret), base64_encode($secret),
    base64_encode("\0" . USER . "\0$secret")];
foreach ($secrets as $one) {
    var_dump(str_contains($places, $one));
}
var_dump(str_contains($places, ':***@127.0.0.1'));

// Texts of exceptions and their traces.
foreach (["smtp://u:s3cret@127.0.0.1:99999", "smtp://u:s3cret@127.0.0.1:25?no=option",
    "smtp://u:s3cret@h/o:25", "gopher://u:s3cret@127.0.0.1",
        "smtp://u:s3cret@127.0.0.1?ehlo=s p"] as $bad) {
    try {
        $queue->work($bad);
        echo "taken: $bad\n";
    } catch (\Throwable $e) {
        echo str_contains((string) $e, 's3cret') ? "SHOWN: $e\n" : get_class($e) . "\n";
    }
}
$run = command_line($queue, 'smtp://u:s3cret@127.0.0.1:99999', 'work');
echo "exit $run[code] ", str_contains($run['output'] . $run['errors'], 's3cret') ? 'SHOWN'
    : 'not shown', "\n";

echo "-- it is put right\n";
$queue->timePasses();
$right = command_line($queue, "smtp://$login@127.0.0.1:$sink->port", 'work', '--quiet');
echo "exit $right[code] $right[errors], ", implode(', ', $queue->states()), "\n";
?>
--EXPECT--
PLAIN: empty, gone, PLAIN 1 accepted
LOGIN: empty, gone, LOGIN 1 accepted
PLAIN LOGIN: empty, gone, PLAIN 1 accepted
-- a login is wanted, and none is set
relay, pending 0: 530 5.7.0 authentication required
-- a wrong password
exit 69, then exit 69; pending 0, pending 0
bool(true)
bool(false)
paused: Login denied; it said: 535 5.7.8 credentials invalid
bool(false)
bool(false)
bool(false)
bool(false)
bool(true)
ValueError
ValueError
ValueError
ValueError
ValueError
exit 78 not shown
-- it is put right
exit 0 , gone, gone
