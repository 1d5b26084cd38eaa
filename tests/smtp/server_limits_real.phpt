--TEST--
Exim and Postfix that allow 50 connections where 80 are wanted: all mail arrives
--EXTENSIONS--
posix
pdo_sqlite
--SKIPIF--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/servers.inc';
require dirname(__DIR__) . '/lib/exim.inc';
require dirname(__DIR__) . '/lib/postfix.inc';
echo Exim::missing() ?: Postfix::missing();
?>
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';
require dirname(__DIR__) . '/lib/exim.inc';
require dirname(__DIR__) . '/lib/postfix.inc';

function fill_and_work(string $name, int $port, Sink $sink, callable $log, string $pattern): void
{
    $queue = new TestQueue();
    for ($i = 1; $i <= 150; $i++) {
        $queue->add("t$i", ["a$i@example.org"]);
    }
    $report = $queue->work("smtp://127.0.0.1:$port", connections: 80, batch: 150);
    echo "$name: $report->end, $report->sent sent $report->reason\n";
    echo implode(', ', array_unique($queue->states())), "\n";
    $attempts = array_filter($queue->events, static fn($event) => $event['event'] === 'try_later');
    echo count($attempts), " attempts failed\n";
    echo preg_match($pattern, $log()) ? "the limit was reached\n" : "the limit was NOT reached\n"
        . substr($log(), -2000);
}

$sink = new Sink();
// Each mail takes a second, so that connections pile up. The servers' logs show which mails were
// accepted; delivering them as well would only take time.
$exim = new Exim($sink->port, ['smtp_accept_max' => 50, 'queue_only' => 'true',
    'smtp_accept_max_per_connection' => 20,
    'acl_smtp_data' => 'acl_slow']);
fill_and_work('Exim', $exim->port, $sink, $exim->log(...), '/too many connections/i');
preg_match_all('/ <= .* id=(\S+)/', $exim->log(), $ids);
echo count($ids[1]), ' taken, ', count(array_unique($ids[1])), " different\n";

$postfix = new Postfix($sink->port, settings: ['smtpd_client_connection_count_limit' => '50',
    'smtpd_client_event_limit_exceptions' => '', 'defer_transports' => 'smtp',
    'smtpd_end_of_data_restrictions' => 'sleep 1, permit']);
fill_and_work('Postfix', $postfix->port, $sink, $postfix->log(...),
    '/Connection concurrency limit exceeded/');
preg_match_all('/message-id=(\S+)/', $postfix->log(), $ids);
echo count($ids[1]), ' taken, ', count(array_unique($ids[1])), " different\n";
?>
--EXPECT--
Exim: empty, 150 sent 
gone
0 attempts failed
the limit was reached
150 taken, 150 different
Postfix: empty, 150 sent 
gone
0 attempts failed
the limit was reached
150 taken, 150 different
