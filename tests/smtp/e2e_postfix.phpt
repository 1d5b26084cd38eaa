--TEST--
End to end: bin/mailqueue through Postfix with STARTTLS and a login at Dovecot
--EXTENSIONS--
posix
pdo_sqlite
--SKIPIF--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/servers.inc';
require dirname(__DIR__) . '/lib/postfix.inc';
echo Postfix::missing();
?>
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';
require dirname(__DIR__) . '/lib/certificates.inc';
require dirname(__DIR__) . '/lib/postfix.inc';

const PASSWORD = 'se/cr@t %?&=';
$certificates = new Certificates();
$sink = new Sink();
$postfix = new Postfix($sink->port, $certificates->issue(), ['alice' => PASSWORD]);
$server = "localhost:$postfix->port?tls=required&cafile=$certificates->ca";
$login = 'alice:' . rawurlencode(PASSWORD);

echo "-- what is enqueued arrives, once and as it was\n";
$queue = new TestQueue();
$stored = [];
for ($i = 1; $i <= 30; $i++) {
    $queue->add("t$i", ["a$i@example.org", "b$i@example.org"],
        message("t$i", str_repeat("line $i\n.dot\n", $i * 40)));
    $stored["t$i"] = $queue->queue->job($queue->ids["t$i"])->message;
}
$run = command_line($queue, "smtp://$login@$server", 'work', '--connections', '3', '--quiet');
echo "exit $run[code] $run[output]$run[errors]\n";
var_dump($queue->queue->jobs() === []);
wait_for('60 deliveries', fn() => array_sum($sink->counts()) >= 60);
usleep(200000);
echo count($sink->counts()), ' pairs, at most ', max($sink->counts()), " each\n";
var_dump($queue->lost($sink->counts()) === []);
$same = count($sink->saved()) >= 30;
foreach ($sink->saved() as $message) {
    preg_match('/^X-Test-Id: (.*)\r$/m', $message, $test);
    $rest = preg_replace('/\A(?:(?:Received|Return-Path):[^\r]*\r\n(?:[ \t][^\r]*\r\n)*)+/', '',
        $message);
    $same = $same && $rest === $stored[$test[1]];
}
var_dump($same);
// Postfix's log is written by a separate process, so it can lag.
$match = wait_for('the login in the log', fn() => preg_match(
    '/sasl_method=([A-Z0-9-]+), sasl_username=(\w+)/', $postfix->log(), $match) ? $match : null);
echo "logged in as $match[2]\n";

echo "-- a wrong password is the relay's trouble, and shows up nowhere\n";
$queue = new TestQueue();
$queue->add('w1', ['a@example.org']);
$run = command_line($queue, "smtp://alice:wr0ng%20secret@$server", 'work');
echo "exit $run[code]\n";
$all = $run['output'] . $run['errors'] . file_get_contents("$queue->path.log")
    . $queue->queue->config('mailRelayPause')
    . command_line($queue, "smtp://alice:wr0ng%20secret@$server", 'status')['output'];
var_dump(str_contains($all, 'wr0ng'), str_contains($all, base64_encode("\0alice\0wr0ng secret")),
    str_contains($all, '***'));
echo $queue->state('w1'), "\n";
echo preg_match('/535|[Ll]ogin|[Aa]uthentication/', $run['errors'] . $run['output']) ? "says why\n"
    : $run['errors'] . $run['output'];
// The next run does not connect until the pause is over.
wait_for('the end of that in the log', fn() => preg_match(
    '/authentication failed.*disconnect from/s', $postfix->log()));
$before = substr_count($postfix->log(), ' connect from');
echo 'exit ', command_line($queue, "smtp://alice:wr0ng%20secret@$server", 'work')['code'], ', ';
usleep(100000);
echo substr_count($postfix->log(), ' connect from') - $before, " connects\n";

echo "-- without login it denies every recipient: the mails are not at fault\n";
$queue = new TestQueue();
foreach (['d1', 'd2', 'd3', 'd4'] as $test) {
    $queue->add($test, ['a@example.org']);
}
$report = $queue->work("smtp://$server");
echo $report->end, ' ', implode(', ', $queue->states()), "\n";
echo preg_match('/554 5\.7\.1/', (string) $report->reason) ? "says why\n" : "$report->reason\n";
$queue->timePasses();
$report = $queue->work("smtp://$login@$server");
echo $report->end, ' ', implode(', ', $queue->states()), "\n";
?>
--EXPECT--
-- what is enqueued arrives, once and as it was
exit 0 
bool(true)
60 pairs, at most 1 each
bool(true)
bool(true)
logged in as alice
-- a wrong password is the relay's trouble, and shows up nowhere
exit 69
bool(false)
bool(false)
bool(true)
pending 0
says why
exit 69, 0 connects
-- without login it denies every recipient: the mails are not at fault
relay pending 0, pending 0, pending 0, pending 0
says why
empty gone, gone, gone, gone
