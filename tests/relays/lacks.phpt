--TEST--
Mail that a relay cannot take, because it is too large or SMTPUTF8 is missing there, goes to the next relay of its group, and to each one once
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

/** Runs, then says who has which mails, and what became of the others. */
function run_group(string $what, TestQueue $queue, string $group, Sink ...$sinks): void
{
    $dsns = array_map(static fn(Sink $sink): string => "smtp://127.0.0.1:$sink->port", $sinks);
    $report = $queue->work(sprintf($group, ...$dsns));
    echo "$what: $report->end\n";
    foreach ($sinks as $i => $sink) {
        foreach ($sink->counts() as $mail => $count) {
            echo '  ', 'ABC'[$i], ": $mail", $count > 1 ? " $count times" : '', "\n";
        }
    }
    foreach (array_diff($queue->states(), ['gone']) as $test => $state) {
        echo "  $test: $state: {$queue->queue->job($queue->ids[$test])->lastError}\n";
    }
}

$small = new Sink('', ['--size', '1000']);
$old = new Sink('', ['--no-smtputf8']);
$queue = new TestQueue();
$large = static fn(string $test): string => message($test, str_repeat("a line of text\n", 200));
$queue->add('small', ['a@example.org']);
$queue->add('large', ['a@example.org'], $large('large'));
$queue->add('both', ['jörg@example.org'], $large('both'));
run_group('three relays', $queue, 'failover(%s %s %s)', $small, $old, new Sink());

$queue = new TestQueue();
$queue->add('both', ['jörg@example.org'], $large('both'));
run_group('no relay can', $queue, 'failover(%s %s %s)', new Sink('', ['--size', '1000']),
    new Sink('', ['--no-smtputf8']), new Sink('', ['--size', '1000']));

$queue = new TestQueue();
$queue->add('closes', ['a@example.org']);
$closes = 'at mail reply="421 4.3.2 not now"';
run_group('two give it back', $queue, 'failover(%s %s %s)', new Sink($closes), new Sink($closes),
    new Sink());
?>
--EXPECTF--
three relays: empty
  A: small a@example.org
  B: large a@example.org
  C: both jörg@example.org
no relay can: empty
  both: parked 1 for refused refused jörg@example.org: 5.3.4 the message has %d bytes, the relay takes 1000; not sent
two give it back: empty
  C: closes a@example.org
