--TEST--
End to end: sendmail:// with Postfix's sendmail: all mail arrives, once, byte for byte, at the envelope's recipients
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
require __DIR__ . '/programs.inc';
require dirname(__DIR__) . '/lib/postfix.inc';

putenv('LD_PRELOAD'); // Postfix must not run under a sanitizer
$sink = new Sink();
$postfix = new Postfix($sink->port, settings: ['message_size_limit' => '3000000']);
$dsn = 'sendmail://default?command=' . rawurlencode("/usr/sbin/sendmail -C $postfix->config -t -i");
$queue = new TestQueue();
$stored = [];
$bodies = [1 => ".\n..\n.\n", 2 => "From the start\n\nFrom here\n", 3 => "no end of line",
    4 => str_repeat("0123456789 abcdef\n", 100000), 5 => "Gr\xC3\xBC\xC3\x9Fe\n"];
for ($i = 1; $i <= 20; $i++) {
    $queue->add("t$i", ["a$i@example.org", "b$i@example.org"],
        message("t$i", $bodies[$i] ?? "line\n"));
    $stored["t$i"] = $queue->queue->job($queue->ids["t$i"])->message;
}
$report = $queue->work($dsn, connections: 3);
echo "$report->end: $report->sent sent to $report->recipients\n";
wait_for('40 deliveries', fn() => array_sum($sink->counts()) >= 40);
usleep(200000);
echo count($sink->counts()), ' pairs, at most ', max($sink->counts()), " each\n";
var_dump($queue->lost($sink->counts()) === []);
$same = count($sink->saved()) >= 20;
foreach ($sink->saved() as $message) {
    preg_match('/^X-Test-Id: (.*)\r$/m', $message, $test);
    $rest = preg_replace('/\A(?:(?:Received|Return-Path):[^\r]*\r\n(?:[ \t][^\r]*\r\n)*)+/', '',
        $message);
    $same = $same && $rest === $stored[$test[1]];
}
var_dump($same);

echo "-- the envelope is the queue's: Bcc, the null sender, the test redirect\n";
$one = $queue->queue->enqueue(['from' => 'me@example.com', 'to' => 'to@example.org',
    'subject' => 'x', 'text' => 'x', 'headers' => ['X-Test-Id' => 'n1']],
    envelopeFrom: '', recipients: ['hidden@example.org']);
$queue->work($dsn);
$queue->queue->setConfig('mailRedirectTo', 'tester@example.net');
$queue->add('r1', ['somebody@example.org']);
$queue->work($dsn);
wait_for('two more', fn() => count($sink->accepted()) >= 42);
$two = array_map(fn($mail) => "$mail[test] '$mail[from]' $mail[to]\n",
    array_slice($sink->accepted(), -2));
sort($two); // Postfix delivers them in any order
echo implode($two);
$queue->queue->setConfig('mailRedirectTo', null);

echo "-- one that is too big for it stops no other, and costs attempts only then\n";
$queue->add('big', ['a@example.org'], message('big', str_repeat("0123456789 abcdef\n", 200000)),
    priority: 1);
$queue->add('small', ['a@example.org']);
$report = $queue->work($dsn, connections: 1);
echo "$report->end $report->sent ", $queue->state('big'), ', ', $queue->state('small'), "\n";
echo preg_match('/^exit 75 .*too big/', $queue->queue->job($queue->ids['big'])->lastError)
    ? "says why\n" : $queue->queue->job($queue->ids['big'])->lastError . "\n";

echo "-- a configuration that is missing: the mails are not at fault\n";
$queue = new TestQueue();
foreach (['c1', 'c2', 'c3', 'c4'] as $test) {
    $queue->add($test, ['a@example.org']);
}
$report = $queue->work('sendmail://default?command=' . rawurlencode('/usr/sbin/sendmail -C /no'));
echo "$report->end ", implode(', ', $queue->states()), "\n$report->reason\n";
?>
--EXPECT--
empty: 20 sent to 40
40 pairs, at most 1 each
bool(true)
bool(true)
-- the envelope is the queue's: Bcc, the null sender, the test redirect
n1 '<>' hidden@example.org
r1 'sender@example.com' tester@example.net
-- one that is too big for it stops no other, and costs attempts only then
empty 1 failed 1, gone
says why
-- a configuration that is missing: the mails are not at fault
relay pending 0, pending 0, pending 0, pending 0
the relay denied every mail of this run: exit 75 (try again later): sendmail: fatal: open /no/main.cf: No such file or directory
