--TEST--
End to end: Postfix's smtp-sink, over TCP and over a Unix socket
--EXTENSIONS--
posix
pdo_sqlite
--SKIPIF--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/servers.inc';
echo missing('/usr/sbin/smtp-sink');
?>
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

foreach ([false, true] as $onSocket) {
    $server = new SmtpSink(onSocket: $onSocket);
    $queue = new TestQueue();
    $stored = [];
    for ($i = 1; $i <= 20; $i++) {
        $queue->add("t$i", ["a$i@example.org", "b$i@example.org"],
            message("t$i", str_repeat("line $i\n.dot\n", $i * 40)));
        $stored["a$i@example.org"] = $queue->queue->job($queue->ids["t$i"])->message;
    }
    $report = $queue->work($server->port ? "smtp://127.0.0.1:$server->port" : "smtp://$server->socket", connections: 3);
    echo "$report->end: $report->claimed claimed, $report->sent sent to $report->recipients\n";

    $mails = wait_for('20 mails', fn() => count($server->mails()) >= 20 ? $server->mails() : null);
    $arrived = array_count_values(array_merge(...array_column($mails, 'to')));
    echo count($mails), ' mails to ', count($arrived), ' recipients, at most ', max($arrived),
        " each\n";
    $same = true;
    foreach ($mails as $mail) {
        // It writes line ends as LF, and an empty line after each mail.
        $same = $same && $mail['message'] === str_replace("\r\n", "\n", $stored[$mail['to'][0]]) . "\n";
    }
    var_dump($same, $queue->queue->jobs() === []);
}
?>
--EXPECT--
empty: 20 claimed, 20 sent to 40
20 mails to 40 recipients, at most 1 each
bool(true)
bool(true)
empty: 20 claimed, 20 sent to 40
20 mails to 40 recipients, at most 1 each
bool(true)
bool(true)
