--TEST--
Three recipients, 250, 450 and 550: three outcomes, and each gets the mail at most once
--EXTENSIONS--
posix
pdo_sqlite
--SKIPIF--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/servers.inc';
echo Aiosmtpd::missing();
?>
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

$server = new Aiosmtpd(['replies' => ['later@example.org' => '450 4.2.1 greylisted',
    'dead@example.org' => '550 5.1.1 unknown']]);
$queue = new TestQueue(\MailQueue\Backoff::fixed(3600));
$id = $queue->add('t1', ['ok@example.org', 'later@example.org', 'dead@example.org']);

function show(TestQueue $queue, Aiosmtpd $server, string $what, \MailQueue\Report $report): void
{
    echo "-- $what: $report->end, $report->sent sent to $report->recipients,",
        " $report->tryLater later, $report->refused refused\n";
    echo $queue->state('t1'), "\n";
    foreach ($queue->queue->job($queue->ids['t1'])?->refused ?? [] as $to => $reply) {
        echo "refused $to: $reply\n";
    }
    foreach ($server->asked() as $to => $times) {
        echo "asked for $to: $times\n";
    }
    foreach ($server->mails() as $mail) {
        echo 'arrived at ', implode(', ', $mail['to']), "\n";
    }
}

show($queue, $server, 'first run', $queue->work("smtp://127.0.0.1:$server->port"));
show($queue, $server, 'at once again', $queue->work("smtp://127.0.0.1:$server->port"));
$queue->waitsAreOver();
show($queue, $server, 'after the delay', $queue->work("smtp://127.0.0.1:$server->port"));

// Another server now accepts the deferred recipient; the refused one is not tried.
$other = new Aiosmtpd();
$queue->waitsAreOver();
$report = $queue->work("smtp://127.0.0.1:$other->port");
show($queue, $other, 'let in', $report);
// A person retries the refused one.
echo $queue->queue->retryFailed([$id]), " brought back\n";
show($queue, $other, 'brought back', $queue->work("smtp://127.0.0.1:$other->port"));
?>
--EXPECT--
-- first run: empty, 1 sent to 1, 1 later, 1 refused
failed 1 refused dead@example.org left later@example.org
refused dead@example.org: 550 5.1.1 unknown
asked for ok@example.org: 1
asked for later@example.org: 1
asked for dead@example.org: 1
arrived at ok@example.org
-- at once again: empty, 0 sent to 0, 0 later, 0 refused
failed 1 refused dead@example.org left later@example.org
refused dead@example.org: 550 5.1.1 unknown
asked for ok@example.org: 1
asked for later@example.org: 1
asked for dead@example.org: 1
arrived at ok@example.org
-- after the delay: empty, 0 sent to 0, 1 later, 0 refused
failed 2 refused dead@example.org left later@example.org
refused dead@example.org: 550 5.1.1 unknown
asked for ok@example.org: 1
asked for later@example.org: 2
asked for dead@example.org: 1
arrived at ok@example.org
-- let in: empty, 1 sent to 1, 0 later, 0 refused
parked 3 for refused refused dead@example.org
refused dead@example.org: 550 5.1.1 unknown
asked for later@example.org: 1
arrived at later@example.org
1 brought back
-- brought back: empty, 1 sent to 1, 0 later, 0 refused
gone
asked for later@example.org: 1
asked for dead@example.org: 1
arrived at later@example.org
arrived at dead@example.org
