--TEST--
expectedAt and waitsFor wait for a pause of the mail's own relay, or of its whole group, and for no other relay
--EXTENSIONS--
pcntl
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

$sink = new Sink('');
$one = 'smtp://127.0.0.1:' . closed_port() . '?tls=none';
$two = "smtp://127.0.0.1:$sink->port?tls=none";
$map = ['@two.example' => $two, 'boss@two.example' => $one, 'both' => "failover($one $two)"];
$queue = new TestQueue();
$pauses = static function (int $ofOne, int $ofTwo) use (&$queue, $one, $two): void {
    $queue->queue->setConfig('mailRelayPause', json_encode(array_filter([
        strtok($one, '?') => $ofOne ? time() + $ofOne . ' 1 no' : null, strtok($two, '?') => $ofTwo ? time() + $ofTwo . ' 1 no' : null])));
};
foreach (['a@one.example' => null, 'b@two.example' => null, 'Boss@Two.example' => null, 'c@two.example' => 'both', 'd@two.example' => 'gone'] as $from => $relay) {
    $queue->queue->enqueue(message('later'), envelopeFrom: $from, recipients: ['x@example.org'], relay: $relay, sendAt: time() + 100);
}
$tell = static function (string $what) use (&$queue): void {
    echo "$what:";
    foreach ($queue->queue->jobs(expected: true) as $job) {
        echo ' ', strtok($job->envelopeFrom, '@'), ' ', round(($job->expectedAt - time()) / 50) * 50, $job->waitsFor ? " $job->waitsFor," : ',';
    }
    echo "\n";
};
$pauses(600, 0);
$tell('before the first run');
$queue->work($one, relays: $map);
$tell('one is paused');
$pauses(600, 300);
$tell('both are');
$pauses(0, 300);
$tell('two is');
$pauses(600, 300);
$queue->work($one);
$tell('only one is there');
$queue->work("failover($two $one)");
$tell('one group');
$queue->work($one, relays: static fn(\MailQueue\Job $job): string => $two);
$tell('a function');

echo "-- as the worker finds it out\n";
$queue = new TestQueue();
$queue->add('due', ['x@example.org']);
$queue->queue->enqueue(message('named'), recipients: ['x@example.org'], envelopeFrom: 'n@two.example', sendAt: time() + 20);
echo $queue->work($one, relays: $map)->end, "\n";
$job = $queue->queue->job($queue->ids['due']);
echo 'due: ', $job->waitsFor, ', the other: ';
[, $job] = $queue->queue->jobs(expected: true);
echo json_encode($job->waitsFor), ' ', $job->expectedAt - time() <= 20 ? 'at its time' : 'later', "\n";

echo "-- a function: what it has named a paused relay for waits for that\n";
$queue = new TestQueue();
$choose = static fn(\MailQueue\Job $job): string => str_starts_with($job->envelopeFrom, 'p') ? $one : $two;
foreach (['p1' => 0, 'p2' => 0, 'p3' => 100, 'h1' => 0, 'h2' => 100] as $from => $later) {
    $queue->queue->enqueue(message('chosen'), envelopeFrom: "$from@one.example", recipients: ['x@example.org'], sendAt: $later ? time() + $later : null);
}
$pauses(600, 0);
echo $queue->work($two, relays: $choose)->sent, " sent\n";
$tell('put back');
?>
--EXPECT--
before the first run: a 100, b 100, Boss 100, c 100, d 100,
one is paused: a 600 pause, b 100, Boss 600 pause, c 100, d 100,
both are: a 600 pause, b 300 pause, Boss 600 pause, c 300 pause, d 100,
two is: a 100, b 300 pause, Boss 100, c 100, d 100,
only one is there: a 600 pause, b 600 pause, Boss 600 pause, c 100, d 100,
one group: a 300 pause, b 300 pause, Boss 300 pause, c 100, d 100,
a function: a 100, b 100, Boss 100, c 100, d 100,
-- as the worker finds it out
empty
due: pause, the other: null at its time
-- a function: what it has named a paused relay for waits for that
1 sent
put back: p1 600 pause, p2 600 pause, p3 100, h2 100,
