--TEST--
End to end: Dovecot's submission service, which before 2.4.2 crashes on an envelope after an unanswered dot
--EXTENSIONS--
posix
pdo_sqlite
--SKIPIF--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/servers.inc';
require dirname(__DIR__) . '/lib/dovecot.inc';
echo Dovecot::missing(submission: true);
?>
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';
require dirname(__DIR__) . '/lib/dovecot.inc';

$sink = new Sink();
$dovecot = new Dovecot(['alice' => 'secret'], $sink->port);
$dsn = "smtp://alice:secret@127.0.0.1:$dovecot->port";
$queue = new TestQueue();
$uncertain = [];
for ($run = 1; $run <= 3; $run++) {
    for ($i = 1; $i <= 200; $i++) {
        $queue->add("r{$run}t$i", ["a$i@example.org"]);
    }
    $report = $queue->work($dsn, connections: 4);
    $uncertain[$run] = $report->uncertain;
    echo "run $run: $report->end\n";
    $queue->waitsAreOver(); // but the finding stays
}
$report = $queue->work($dsn);
echo "$report->end, ", count(array_diff($queue->states(), ['gone'])), " left\n";

// The next run knows what this run found. Seen to fail without that: 63 of the first 200, 114
// copies.
$panics = substr_count($dovecot->log(), 'Panic:');
echo "uncertain: ", $uncertain[1] === $panics && $panics <= 1 ? 'the trial at most' : $uncertain[1],
    ", $uncertain[2], $uncertain[3]\n";
$copies = array_sum($sink->counts()) - count($sink->counts());
echo count($sink->counts()), ' pairs, ', $copies === $panics ? 'a copy for each that is uncertain'
    : "$copies copies", "\n";
$kept = json_decode($queue->queue->config('mailRelayPipelining'), true);
$found = $kept["smtp://alice:***@127.0.0.1:$dovecot->port"] ?? '';
var_dump(count($kept) === 1 && preg_match($panics ? '/\Agroup \d{10}\z/' : '/\Adot\z/', $found) === 1);
var_dump($queue->lost($sink->counts()) === [], $sink->violations() === []);
?>
--EXPECT--
run 1: empty
run 2: empty
run 3: empty
empty, 0 left
uncertain: the trial at most, 0, 0
600 pairs, a copy for each that is uncertain
bool(true)
bool(true)
bool(true)
