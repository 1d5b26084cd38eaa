--TEST--
End to end: enqueued mail arrives, byte for byte and once (tests/sink)
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

$sink = new Sink();
$queue = new TestQueue();
$stored = [];
for ($i = 1; $i <= 30; $i++) {
    $queue->add("t$i", ["a$i@example.org", "b$i@example.org"],
        message("t$i", str_repeat("line $i\n.dot\n", $i * 40)));
    $stored["t$i"] = $queue->queue->job($queue->ids["t$i"])->message;
}
$report = $queue->work("smtp://127.0.0.1:$sink->port", connections: 3);
echo "$report->end: $report->claimed claimed, $report->sent sent to $report->recipients\n";
$sink->stop();

echo count($sink->counts()), ' pairs, at most ', max($sink->counts()), " each\n";
var_dump($queue->lost($sink->counts()) === [], $sink->violations() === [],
    $queue->queue->jobs() === []);
$same = true;
foreach ($sink->accepted() as $mail) {
    $same = $same && $mail['hash'] === hash('fnv1a64', $stored[$mail['test']])
        && $mail['from'] === 'sender@example.com';
}
var_dump($same);
?>
--EXPECT--
empty: 30 claimed, 30 sent to 60
60 pairs, at most 1 each
bool(true)
bool(true)
bool(true)
bool(true)
