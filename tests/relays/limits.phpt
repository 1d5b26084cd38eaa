--TEST--
Limits of relays in a run with several: failover(), roundrobin(), a map, a function; what waits and for which relay; a worker that is killed
--EXTENSIONS--
pcntl
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

const LOGIN = ['--auth', 'user:secret'];

/** @return array<string, Sink> */
function sinks(string $first = ''): array
{
    return ['A' => new Sink($first, LOGIN), 'B' => new Sink('', LOGIN)];
}

/** @param array<string, Sink> $sinks */
function dsn(string $group, array $sinks): string
{
    foreach ($sinks as $name => $sink) {
        $group = str_replace($name, "smtp://user:secret@127.0.0.1:$sink->port?tls=none", $group);
    }
    return $group;
}

function limited(string $limits, int $mails, string $mode = 'strict'): TestQueue
{
    $queue = new TestQueue();
    $queue->queue->setConfig('mailRateMode', $mode);
    $queue->queue->setConfig('mailLimits', $limits);
    for ($i = 1; $i <= $mails; $i++) {
        $queue->add("t$i", ["a@d$i.example"]);
    }
    return $queue;
}

/** @param array<string, Sink> $sinks */
function tell(string $what, TestQueue $queue, array $sinks, string $end, bool $either = false): void
{
    $names = $waits = [];
    foreach ($sinks as $name => $sink) {
        $names["127.0.0.1:$sink->port"] = $either ? 'A or B' : $name;
    }
    $early = 0;
    foreach ($queue->queue->jobs(expected: true) as $job) {
        $early += $job->attempts > 0 || $job->expectedAt <= time();
        $limit = strtr((string) $job->waitsFor, $names);
        $waits[$limit] = ($waits[$limit] ?? 0) + 1;
    }
    ksort($waits);
    echo "$what: $end, ", count($sinks['A']->counts()), ' + ', count($sinks['B']->counts()), ' accepted, waiting: ',
        implode(', ', array_map(static fn($n, $limit) => "$n for $limit", $waits, array_keys($waits))) ?: 'none',
        $early ? " WRONG $early" : '', "\n";
}

$sinks = sinks();
$queue = limited('12/1h per relay', 40);
tell('failover', $queue, $sinks, $queue->work(dsn('failover(A B)', $sinks), connections: 4)->end, true);
$id = $queue->queue->jobs()[0]->id;
preg_match('/^waitsFor .*$/m', command_line($queue, 'null://null', 'show', "$id")['output'], $line);
echo preg_replace(['/ +/', '/:\d+$/'], [' ', ':PORT'], $line[0] ?? 'show does not say it'), "\n";
tell('again', $queue, $sinks, $queue->work(dsn('failover(A B)', $sinks), connections: 4)->end, true);

$sinks = sinks();
$queue = limited("5/1h mails per relay smtp://user:***@127.0.0.1:{$sinks['A']->port}", 40);
tell('roundrobin', $queue, $sinks, $queue->work(dsn('roundrobin(A B)', $sinks), connections: 4)->end);

$sinks = sinks();
$dead = new Sink('', LOGIN);
$dead->stop();
$queue = limited('12/1h per relay', 20);
tell('dead', $queue, $sinks, $queue->work(dsn('failover(D A B)', $sinks + ['D' => $dead]), connections: 4)->end);

$half = static function (TestQueue $queue): void {
    $pdo = new \PDO("sqlite:$queue->path");
    $pdo->exec("UPDATE mail_queue SET envelope_from = 'other@b.example' WHERE id > 30");
};
$sinks = sinks();
$queue = limited('7/1h per relay', 40);
$half($queue);
tell('map', $queue, $sinks,
    $queue->work(dsn('A', $sinks), connections: 4, relays: ['@b.example' => dsn('B', $sinks)])->end);

$sinks = sinks();
$queue = limited('7/1h per relay, 100/1h', 40);
$half($queue);
tell('function', $queue, $sinks, $queue->work(dsn('A', $sinks), connections: 4,
    relays: static fn(\MailQueue\Job $job): string => dsn($job->envelopeFrom === 'other@b.example' ? 'B' : 'A', $sinks))->end);

// Killed while relays think about mails: what may have arrived counts, what was only paid does not.
$sinks = sinks('at dot after=3 delay-ms=30000');
$queue = limited('12/1h per relay', 40);
$child = pcntl_fork();
if ($child === 0) {
    $own = new \MailQueue($queue->path);
    $own->runWorker(dsn('roundrobin(A B)', $sinks), connections: 4, log: '');
    posix_kill(getmypid(), SIGKILL); // no cleanup of the test's own
}
while (count($sinks['A']->counts()) < 7) {
    usleep(5000);
}
posix_kill($child, SIGKILL);
pcntl_waitpid($child, $status);
$sinks['A']->rules('');
for ($run = 0; $run < 3; $run++) {
    $queue->waitsAreOver();
    $queue->work(dsn('roundrobin(A B)', $sinks), connections: 4);
}
foreach ($sinks as $name => $sink) {
    $n = array_sum($sink->counts());
    echo "killed: $name ", $n <= 12 && $n >= 12 - 4 ? 'has what its limit lets go' : "has $n", "\n";
}
?>
--EXPECT--
failover: empty, 12 + 12 accepted, waiting: 16 for 12/1h per relay smtp://user:***@A or B
waitsFor 12/1h per relay smtp://user:***@127.0.0.1:PORT
again: empty, 12 + 12 accepted, waiting: 16 for 12/1h per relay smtp://user:***@A or B
roundrobin: empty, 5 + 35 accepted, waiting: none
dead: empty, 12 + 8 accepted, waiting: none
map: empty, 7 + 7 accepted, waiting: 23 for 7/1h per relay smtp://user:***@A, 3 for 7/1h per relay smtp://user:***@B
function: empty, 7 + 7 accepted, waiting: 23 for 7/1h per relay smtp://user:***@A, 3 for 7/1h per relay smtp://user:***@B
killed: A has what its limit lets go
killed: B has what its limit lets go
