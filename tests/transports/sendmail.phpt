--TEST--
sendmail://: the program's input, what its exit status means for the mail; a missing program pauses the relay
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/programs.inc';

$programs = new Programs();

echo "-- what it gets\n";
$dsn = $programs->dsn('keep', 'echo "$@" >> $DIR/args; cat > $DIR/input');
$queue = new TestQueue();
$queue->add('k1', ['a@example.org', 'b@example.org'], message('k1', "one\n.\ntwo\n"));
$stored = $queue->queue->job($queue->ids['k1'])->message;
$report = $queue->work($dsn);
echo "$report->end $report->sent to $report->recipients: ", $programs->file('args');
var_dump($programs->file('input') === str_replace("\r\n", "\n", $stored));
echo $queue->events[0]['relay'] === "sendmail://default?command={$programs->path('keep')}"
    ? "its name is known\n" : $queue->events[0]['relay'];

// Seen to fail with DENIED made LATER: all are failed 1 in the second.
echo "-- what its end means\n";
// The recipient's name says how the program ends.
$by_name = 'cat > /dev/null; for last; do :; done; case $last in code*)
    n=${last#code}; exit ${n%@*};; kill*) kill -9 $$;; hang*) sleep 60;; esac';
foreach ([
    'one is accepted: the others are at fault themselves' => ['ok', 'code67', 'code65', 'code75',
        'code1', 'kill', 'hang'],
    'none is: it is the program' => ['code75', 'code69', 'code64', 'code78'],
    'a program within is missing: no more are tried' => ['code127', 'ok', 'ok2'],
] as $what => $names) {
    $queue = new TestQueue();
    foreach ($names as $i => $name) {
        $queue->add($name, ["$name@example.org"], priority: -$i);
    }
    $report = $queue->work($programs->dsn('by-name', $by_name, '&final_timeout=3'),
        connections: $i < 4 ? 1 : 4);
    echo "$what: $report->end\n";
    foreach ($queue->states() as $name => $state) {
        echo "  $name: $state, ", str_replace($programs->directory, '%',
            (string) $queue->queue->job($queue->ids[$name])?->lastError), "\n";
    }
}

echo "-- without a program\n";
$queue = new TestQueue();
$queue->add('m1', ['a@example.org']);
$dsn = 'sendmail://default?command=' . $programs->path('missing');
$report = $queue->work($dsn);
echo "$report->end: ", str_replace($programs->directory, '%', $report->reason), "\n";
echo $queue->state('m1'), ', paused for ', (int) round(($report->resumeAt - time()) / 30) * 30,
    "\n";
echo $queue->work($dsn)->end, ' again, ', $queue->state('m1'), "\n";
echo 'through another: ', $queue->work($programs->dsn('other', 'cat > /dev/null'))->end, ', ',
    $queue->state('m1'), "\n";

echo "-- our own drop-in behind a script: nothing comes back into the queue\n";
$php = escapeshellarg(getenv('TEST_PHP_EXECUTABLE') ?: PHP_BINARY) . ' '
    . getenv('TEST_PHP_EXTRA_ARGS');
$queue = new TestQueue();
$queue->add('l1', ['a@example.org']);
$report = $queue->work($programs->dsn('loop', "MAILQUEUE_DATABASE=$queue->path exec $php "
    . dirname(__DIR__, 2) . '/bin/mailqueue sendmail "$@"'));
echo "$report->end, ", count($queue->queue->jobs()), ' waits, ',
    preg_match('/^exit 78 .*in circles/', $queue->queue->job($queue->ids['l1'])->lastError)
    ? "says why\n" : $queue->queue->job($queue->ids['l1'])->lastError . "\n";

echo "-- several at once\n";
$queue = new TestQueue();
for ($i = 1; $i <= 8; $i++) {
    $queue->add("s$i", ['a@example.org']);
}
// Each program waits until four have started.
$dsn = $programs->dsn('four', 'cat > /dev/null; touch $DIR/began.$$
    until [ $(ls $DIR | grep -c began) -ge 4 ]; do sleep 0.02; done');
$report = $queue->work($dsn, connections: 4);
echo "$report->end $report->sent\n";
?>
--EXPECT--
-- what it gets
empty 1 to 2: -i -f sender@example.com -- a@example.org b@example.org
bool(true)
its name is known
-- what its end means
one is accepted: the others are at fault themselves: empty
  ok: gone, 
  code67: parked 1 for refused refused code67@example.org, exit 67 (unknown user)
  code65: failed 1, exit 65 (the message is wrong)
  code75: failed 1, exit 75 (try again later)
  code1: failed 1, exit 1
  kill: failed 1 uncertain 1, killed by signal 9
  hang: failed 1 uncertain 1, did not end within 3 s and was ended
none is: it is the program: relay
  code75: pending 0, exit 75 (try again later)
  code69: pending 0, exit 69 (unavailable)
  code64: pending 0, exit 64 (wrong usage)
  code78: pending 0, exit 78 (wrong configuration)
a program within is missing: no more are tried: relay
  code127: pending 0, 
  ok: pending 0, 
  ok2: pending 0, 
-- without a program
relay: %/missing: No such file or directory; install it, or give another transport
pending 0, paused for 60
relay again, pending 0
through another: empty, gone
-- our own drop-in behind a script: nothing comes back into the queue
relay, 1 waits, says why
-- several at once
empty 8
