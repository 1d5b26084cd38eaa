--TEST--
A relay denies every mail for days: no attempt is counted, and all mail arrives when that ends
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

// Seen to fail with the denied mails of a run counted as failed attempts instead of given back: all
// are parked after the tenth run.
$sink = new Sink('at rcpt reply="554 5.7.1 Relay access denied"');
$queue = new TestQueue();
for ($i = 1; $i <= 40; $i++) {
    $queue->add("t$i", ["a$i@example.org", "b$i@example.org"], priority: $i % 3);
}
$pauses = $ends = [];
for ($run = 1; $run <= 15; $run++) {
    $report = $queue->work("smtp://127.0.0.1:$sink->port", connections: 3);
    $ends[] = $report->end;
    $pauses[] = (int) round(($report->resumeAt - time()) / 30) * 30;
    // Only the wait is over; the queue remembers the earlier pauses.
    $config = (string) $queue->queue->config('mailRelayPause');
    $queue->queue->setConfig('mailRelayPause', preg_replace('/"\d{10} /', '"1 ', $config) ?: null);
    $queue->waitsAreOver();
}
echo implode(' ', array_unique($ends)), ': ', preg_replace('/\ba\d+@/', 'somebody@',
    $report->reason), "\n";
echo 'paused for ', implode(', ', $pauses), "\n";
echo implode(', ', array_unique($queue->states())), "\n";
$stats = $queue->queue->stats();
echo "$stats->parked parked, $stats->failed failed, $stats->pending pending\n";

// While the relay is paused, a run ends before it connects.
$report = $queue->work("smtp://127.0.0.1:$sink->port");
$connects = $sink->received('EHLO');
$again = $queue->work("smtp://127.0.0.1:$sink->port");
echo "$again->end, ", $sink->received('EHLO') - $connects, " connects\n";

$sink->rules('');
$queue->timePasses();
$report = $queue->work("smtp://127.0.0.1:$sink->port", connections: 1);
echo "$report->end, $report->sent sent, pause: ",
    json_encode($queue->queue->config('mailRelayPause')), "\n";
echo count($sink->counts()), ' pairs, at most ', max($sink->counts()), " each\n";
var_dump($queue->lost($sink->counts()) === [], $sink->violations() === []);
// In the order of priority.
$order = array_map(static fn($mail) => -(substr($mail['test'], 1) % 3), $sink->accepted());
$sorted = $order;
sort($sorted);
var_dump($order === $sorted);
?>
--EXPECT--
relay: the relay denied every mail of this run: somebody@example.org: 554 5.7.1 Relay access denied
paused for 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600
pending 0
0 parked, 0 failed, 40 pending
relay, 0 connects
empty, 40 sent, pause: null
80 pairs, at most 1 each
bool(true)
bool(true)
bool(true)
