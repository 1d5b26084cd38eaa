--TEST--
DSN option pipelining: one command at a time, one mail's commands together, the next mail's after a dot
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';
require dirname(__DIR__) . '/lib/smtp.inc';

function try_option(string $option): void
{
    $server = new \SmtpServer();
    $queue = new TestQueue();
    for ($i = 1; $i <= 200; $i++) {
        $queue->add("t$i", ["a$i@example.org"]);
    }
    $report = $queue->work("smtp://127.0.0.1:$server->port$option", connections: 4);
    $pieces = $server->pieces();
    echo "-- $option: $report->end, $report->sent sent\n";
    echo "   a mail's commands together: ", preg_grep('/MAIL RCPT DATA/', $pieces) ? 'yes' : 'no',
        "\n   after a dot: ", preg_grep('/\. MAIL/', $pieces) ? 'yes' : 'no',
        "\n   kept: ", strtr($queue->queue->config('mailRelayPipelining') ?? 'nothing',
        [$server->port => 'port']), "\n";
    $server->end();
}

try_option('?pipelining=0');
try_option('?pipelining=1');
try_option('?pipelining=dot');
try_option('');

$queue = new TestQueue();
foreach (['2', 'DOT'] as $value) {
    try {
        $queue->work("smtp://127.0.0.1:1?pipelining=$value");
    } catch (\ValueError|\MailQueue\Exception $e) {
        echo get_class($e), ": {$e->getMessage()}\n";
    }
}
?>
--EXPECT--
-- ?pipelining=0: empty, 200 sent
   a mail's commands together: no
   after a dot: no
   kept: nothing
-- ?pipelining=1: empty, 200 sent
   a mail's commands together: yes
   after a dot: no
   kept: nothing
-- ?pipelining=dot: empty, 200 sent
   a mail's commands together: yes
   after a dot: yes
   kept: nothing
-- : empty, 200 sent
   a mail's commands together: yes
   after a dot: yes
   kept: {"smtp://127.0.0.1:port":"dot"}
ValueError: MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: option pipelining must be auto, 0, 1 or dot
ValueError: MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: option pipelining must be auto, 0, 1 or dot
