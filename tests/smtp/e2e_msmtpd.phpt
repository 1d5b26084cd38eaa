--TEST--
End to end: msmtpd, which offers no extensions
--EXTENSIONS--
posix
pdo_sqlite
mbstring
--SKIPIF--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/servers.inc';
require dirname(__DIR__) . '/lib/msmtpd.inc';
echo missing('/usr/bin/python3') ?: Msmtpd::missing();
?>
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';
require dirname(__DIR__) . '/lib/eight_bit.inc';
require dirname(__DIR__) . '/lib/msmtpd.inc';

$server = new Msmtpd();
$queue = new TestQueue();
$stored = [];
foreach (eight_bit_mails() + signed_mails() as $test => $mail) {
    $queue->add($test, ["$test@example.org"], $mail);
    $stored[$test] = $queue->queue->job($queue->ids[$test])->message;
}
$report = $queue->work("smtp://127.0.0.1:$server->port", connections: 2);
echo "$report->end: $report->sent sent, $report->refused refused, $report->parked parked\n";
echo same_octets($stored, $server->mails());
?>
--EXPECT--
empty: 51 sent, 5 refused, 5 parked
51 received, bad: 0
