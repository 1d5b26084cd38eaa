--TEST--
sendmail://: a worker that dies leaves no half mail, and only mail that was handed over is uncertain
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/programs.inc';

$slow = 'echo x > $DIR/begun; until [ -e $DIR/go ]; do sleep 0.02; done; cat > $DIR/input.part
    mv $DIR/input.part $DIR/input';
foreach ([
    // Seen to fail with the pipe alone (src/send/sendmail/process.c): the program gets a part of it.
    'kill -9 while the program reads 3 MB' => [SIGKILL, 1],
    // A terminal's Ctrl-C goes to the group. Seen to fail without a session of the program's own.
    'Ctrl-C while it reads' => [SIGINT, -1],
    'SIGTERM while it reads' => [SIGTERM, 1],
] as $what => [$signal, $sign]) {
    $programs = new Programs();
    $dsn = $programs->dsn('slow', $slow);
    $queue = new TestQueue();
    $queue->add('w1', ['a@example.org'],
        message('w1', str_repeat("0123456789 abcdef\n", 170000)), priority: 1);
    $queue->add('w2', ['a@example.org']);
    $stored = $queue->queue->job($queue->ids['w1'])->message;
    $worker = worker($queue, $dsn, 'posix_setpgid(0, 0); echo "up\n";
        $report = $queue->runWorker($dsn, connections: 1, log: "");
        echo "$report->end $report->sent sent\n";');
    $worker->line();
    $programs->await('begun');
    posix_kill($sign * $worker->pid(), $signal);
    $said = $signal === SIGKILL ? $worker->end()[0] : null;
    touch($programs->path('go'));
    $said ??= $worker->end()[0];
    $programs->await('input');
    echo "-- $what\n", $said === '' ? "dead\n" : $said;
    var_dump($programs->file('input') === str_replace("\r\n", "\n", $stored));
    $report = $queue->work($programs->dsn('fast', 'cat > /dev/null'), connections: 1,
        onUncertain: \MailQueue\OnUncertain::Hold);
    echo "then $report->end, $report->sent sent, $report->uncertain uncertain: ",
        implode(', ', $queue->states()), "\n";
}

echo "-- kill -9 before the program is there\n";
$programs = new Programs();
$queue = new TestQueue();
$id = $queue->queue->enqueue(null, 'c1', envelopeFrom: 'me@example.org',
    recipients: ['a@example.org']);
$worker = worker($queue, $programs->dsn('any', 'touch $DIR/ran'), '
    $queue->runWorker($dsn, function () { echo "composing\n"; sleep(30); }, log: "");');
$worker->line();
posix_kill($worker->pid(), SIGKILL);
$worker->end();
$report = $queue->work($programs->dsn('fast', 'cat > /dev/null'),
    compose: fn() => ['from' => 'a@example.org', 'to' => 'a@example.org', 'subject' => 'x',
        'text' => 'x'], onUncertain: \MailQueue\OnUncertain::Hold);
$job = $queue->queue->job($id);
echo "$report->uncertain uncertain, ", $job === null ? 'gone' : "{$job->status->value} $job->attempts",
    $programs->file('ran') === null ? "\n" : ", it ran\n";
?>
--EXPECT--
-- kill -9 while the program reads 3 MB
dead
bool(true)
then empty, 1 sent, 1 uncertain: parked 1 uncertain 1 for uncertain, gone
-- Ctrl-C while it reads
signal 1 sent
bool(true)
then empty, 1 sent, 0 uncertain: gone, gone
-- SIGTERM while it reads
signal 1 sent
bool(true)
then empty, 1 sent, 0 uncertain: gone, gone
-- kill -9 before the program is there
0 uncertain, failed 1
