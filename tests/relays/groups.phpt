--TEST--
failover() and roundrobin(): mail of a relay that fails goes through another one in the same run, and counts no attempt; each has its own sessions
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

const MAILS = 60;
const LOGIN = ['--auth', 'user:secret'];

/** @param array<string, Sink> $sinks */
function group(string $what, string $group, array $sinks): void
{
    $queue = new TestQueue();
    for ($i = 1; $i <= MAILS; $i++) {
        $queue->add("t$i", ["a@d$i.example"]);
    }
    $dsn = $group;
    foreach ($sinks as $name => $sink) {
        $dsn = str_replace($name, "smtp://user:secret@127.0.0.1:$sink->port?tls=none", $dsn);
    }
    $report = $queue->work($dsn, connections: 4);
    $counts = $relays = $troubles = [];
    foreach ($sinks as $sink) {
        $counts[] = count($sink->counts());
    }
    foreach ($queue->events as $event) {
        if ($event['event'] === 'relay_trouble') {
            $relays[] = parse_url($event['relay'], PHP_URL_PORT) === $sinks['A']->port ? 'A' : 'B';
            $troubles[$event['relay']] = $event['time'];
        }
    }
    $attempts = array_filter($queue->events, static fn($event) => $event['attempt'] > 1);
    // In turn, but not to a relay that is busy.
    $shares = min($counts) >= MAILS / 4 ? 'both have' : implode(' + ', $counts);
    echo "$what: $report->end, $shares accepted, ",
        array_sum($counts) === MAILS ? 'each once' : 'WRONG', ', ', count(array_filter(
        $queue->states(), static fn($state) => $state !== 'gone')), ' left, ',
        count($attempts), ' later attempts, paused: ', implode(' ', $relays) ?: 'none', "\n";
    foreach ($queue->events as $event) {
        if (str_contains(json_encode($event), 'secret')) {
            echo 'A secret: ', json_encode($event), "\n";
        }
    }
    $pauses = json_decode((string) $queue->queue->config('mailRelayPause'), true) ?: [];
    foreach ($pauses as $relay => $pause) {
        echo '  paused for ', round(((int) $pause - $troubles[$relay]) / 5) * 5, " s\n";
    }
}

$sinks = fn(string $first): array => ['A' => new Sink($first, LOGIN),
    'B' => new Sink('', LOGIN)];
group('failover', 'failover(A B)', $sinks(''));
group('roundrobin', 'roundrobin(A B)', $sinks(''));
$dead = $sinks('');
$dead['A']->stop();
group('dead', 'failover(A B)', $dead);
group('denies', 'roundrobin(A B)?retry_period=20', $sinks('at mail reply="554 5.7.1 denied"'));
group('hangs up', 'failover(A B)?retry_period=20', $sinks('at data close'));
group('is full', 'failover(A B)', $sinks('at mail after=20 reply="452 4.3.1 disk full"'));
group('one within the other', 'failover(roundrobin(A A)?retry_period=20 B)',
    $sinks('at auth reply="535 5.7.8 no"'));
$both = $sinks('at rcpt reply="451 4.3.0 later"');
$both['B']->rules('at connect reply="554 5.3.2 no"');
group('both', 'failover(A B)', $both);

echo "sessions of each relay:\n";
$slow = $sinks('at dot delay-ms=50');
$slow['B']->rules('at dot delay-ms=50');
$queue = new TestQueue();
for ($i = 1; $i <= MAILS; $i++) {
    $queue->add("t$i", ["a@d$i.example"]);
}
$dsn = array_map(static fn(Sink $sink): string => "smtp://user:secret@127.0.0.1:$sink->port?tls=none", $slow);
$report = $queue->work("roundrobin($dsn[A]&connections=2 $dsn[B]&connections=5)", connections: 10);
$sessions = array_map(static fn(Sink $sink): int
    => count(array_unique(array_column($sink->accepted(), 'connection'))), $slow);
echo "  $report->sent sent, A: ", $sessions['A'] <= 2 ? 'at most 2' : $sessions['A'], ', B: ',
    $sessions['B'] > 2 && $sessions['B'] <= 5 ? 'more, at most 5' : $sessions['B'], "\n";
?>
--EXPECTF--
failover: empty, 60 + 0 accepted, each once, 0 left, 0 later attempts, paused: none
roundrobin: empty, both have accepted, each once, 0 left, 0 later attempts, paused: none
dead: empty, 0 + 60 accepted, each once, 0 left, 0 later attempts, paused: A
  paused for 60 s
denies: empty, 0 + 60 accepted, each once, 0 left, 0 later attempts, paused: A
  paused for 20 s
hangs up: empty, 0 + 60 accepted, each once, 0 left, 0 later attempts, paused: A
  paused for 20 s
is full: empty, both have accepted, each once, 0 left, 0 later attempts, paused: A
  paused for 60 s
one within the other: empty, 0 + 60 accepted, each once, 0 left, 0 later attempts, paused: A
  paused for 20 s
both: relay, 0 + 0 accepted, WRONG, 60 left, 0 later attempts, paused: A B
  paused for 60 s
  paused for 60 s
sessions of each relay:
  60 sent, A: at most 2, B: more, at most 5
