--TEST--
End to end: Exim, which insists on the order of commands and ends a connection after 20 mails
--EXTENSIONS--
posix
pdo_sqlite
--SKIPIF--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/servers.inc';
require dirname(__DIR__) . '/lib/exim.inc';
echo Exim::missing();
?>
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';
require dirname(__DIR__) . '/lib/exim.inc';

$sink = new Sink();
$exim = new Exim($sink->port, ['smtp_accept_max_per_connection' => 20,
    'acl_smtp_predata' => 'acl_three_later']);
$queue = new TestQueue();
$stored = [];
// Its DATA is refused, which leaves the transaction open: Exim would add the next mail's
// recipients to it. Seen to fail with both protections taken out, RSET and the check of MAIL's
// reply.
$queue->add('d1', ['x@example.net', 'y@example.net', 'z@example.net'], priority: 1);
for ($i = 1; $i <= 50; $i++) {
    $queue->add("t$i", ["a$i@example.org", $i % 10 ? "b$i@example.org" : "unknown@example.org"],
        message("t$i", str_repeat("line $i\n.dot\n", $i * 4)));
    $stored["t$i"] = $queue->queue->job($queue->ids["t$i"])->message;
}
$report = $queue->work("smtp://127.0.0.1:$exim->port", connections: 2);
echo "$report->end: $report->sent sent to $report->recipients, $report->refused refused\n";
print_r(array_count_values($queue->states()));

wait_for('95 deliveries', fn() => array_sum($sink->counts()) >= 95);
usleep(300000);
echo count($sink->counts()), ' pairs, at most ', max($sink->counts()), " each\n";
var_dump($queue->lost($sink->counts()) === []);
$same = count($sink->saved()) >= 50;
foreach ($sink->saved() as $message) {
    preg_match('/^X-Test-Id: (.*)\r$/m', $message, $test);
    $rest = preg_replace('/\A(?:Received:[^\r]*\r\n(?:[ \t][^\r]*\r\n)*)+/', '', $message);
    $same = $same && $rest === $stored[$test[1]];
}
var_dump($same);
// Exim's words for a client that ignores the order of commands.
echo implode("\n", preg_grep('/synchroni[sz]ation|syntax/i', explode("\n", $exim->log())));
?>
--EXPECT--
empty: 50 sent to 95, 5 refused
Array
(
    [failed 1] => 1
    [gone] => 45
    [parked 1 for refused refused unknown@example.org] => 5
)
95 pairs, at most 1 each
bool(true)
bool(true)
