--TEST--
A function that chooses the relays: the transport's pause stops only the mail that goes there
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

$sink = new Sink('');
$queue = new TestQueue();
$choose = static fn(\MailQueue\Job $job): string
    => str_starts_with($job->envelopeFrom, 'ours') ? '' : "smtp://127.0.0.1:$sink->port";
$run = static function (string ...$senders) use ($queue, $sink, $choose): void {
    foreach ($senders as $sender) {
        $queue->queue->enqueue(message($sender), envelopeFrom: "$sender@example.org", recipients: ['a@example.net']);
    }
    echo $queue->work('smtp://127.0.0.1:1', relays: $choose)->end, ', arrived: ', count($sink->counts()), ', wait: ';
    foreach ($queue->queue->jobs() as $job) {
        echo " $job->envelopeFrom (attempts $job->attempts, ", $job->nextAttemptAt > time() + 30 ? 'later' : 'now', ')';
    }
    echo "\n";
};
$run('ours1');
$run('theirs1');
$run('ours2', 'theirs2', 'ours3', 'theirs3');
// A relay that only the function names is opened in the run; it is paused all the same.
$queue->timePasses();
$queue->queue->setConfig('mailRelayPause', json_encode(["smtp://127.0.0.1:$sink->port" => time() + 600 . ' 1 full']));
$run('theirs4');

echo "-- a relay that is waited for longer than a lease\n";
$queue = new TestQueue();
$queue->add('m1', ['a@example.net']);
$names = static fn(string $options): string => $queue->work('smtp://127.0.0.1:1',
    relays: static fn(): string => "smtp://127.0.0.1:$sink->port?final_timeout=$options")->end;
echo $names('1000'), ', ', $queue->state('m1'), ': ', $queue->queue->job($queue->ids['m1'])?->lastError, "\n";
$queue->timePasses();
echo $names('899'), ', ', $queue->state('m1'), "\n";

echo "-- it may accept a mail until the lease ends, for limits that are strict\n";
$lost = new Sink('at dot close');
$queue = new TestQueue();
$queue->queue->setConfig('mailMaxPerHour', '3600');
$queue->queue->setConfig('mailRateMode', 'strict');
$queue->add('m1', ['a@example.net']);
$queue->work('null://null', relays: static fn(): string => "smtp://127.0.0.1:$lost->port");
$at = (int) (new \PDO("sqlite:$queue->path"))->query('SELECT max(at) FROM mail_spent')->fetchColumn();
echo $queue->state('m1'), ', counted ', $at > time() + 600 ? 'later' : 'now', "\n";
?>
--EXPECT--
empty, arrived: 0, wait:  ours1@example.org (attempts 0, later)
empty, arrived: 1, wait:  ours1@example.org (attempts 0, later)
empty, arrived: 3, wait:  ours1@example.org (attempts 0, later) ours2@example.org (attempts 0, later) ours3@example.org (attempts 0, later)
empty, arrived: 3, wait:  ours1@example.org (attempts 0, later) ours2@example.org (attempts 0, later) ours3@example.org (attempts 0, later) theirs4@example.org (attempts 0, later)
-- a relay that is waited for longer than a lease
empty, pending 0: the transport waits 1000 seconds for the reply to the final dot, but a lease ends after 900: lower final_timeout in the DSN
empty, gone
-- it may accept a mail until the lease ends, for limits that are strict
failed 1 uncertain 1, counted later
