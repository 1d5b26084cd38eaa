--TEST--
Delivery status notifications through Postfix: a report of success comes back with the envelope id, and no report comes unrequested
--EXTENSIONS--
posix
pdo_sqlite
--SKIPIF--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/servers.inc';
require dirname(__DIR__) . '/lib/postfix.inc';
echo Postfix::missing();
?>
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';
require dirname(__DIR__) . '/lib/queue.inc';
require dirname(__DIR__) . '/lib/postfix.inc';


$sink = new Sink();
$postfix = new Postfix($sink->port);
$queue = new TestQueue();
$mail = ['envelopeFrom' => 'sender@example.com', 'message' => message('t')];
$queue->queue->enqueue(...$mail, recipients: ['plain@example.org']);
$queue->queue->enqueue(...$mail, recipients: ['asked@example.org'],
    dsn: ['notify' => ['success'], 'ret' => 'hdrs', 'envid' => 'order+17']);
$report = $queue->work("smtp://127.0.0.1:$postfix->port");
echo "$report->sent sent\n";
$arrived = wait_for('the report', fn() => count($sink->saved()) >= 3 ? $sink->saved() : null);
usleep(300_000);
echo count($sink->saved()), " arrived\n";
$reports = array_values(preg_grep('/^Content-Type: multipart\/report/m', $arrived));
echo count($reports), " report\n";
preg_match_all('/^(?:Original-Envelope-Id|Original-Recipient|Final-Recipient|Action): .*/m', $reports[0], $lines);
echo str_replace("\r", '', implode("\n", $lines[0])), "\n";

echo "-- by its sendmail\n";
putenv('LD_PRELOAD'); // Postfix must not run under a sanitizer
$queue->queue->enqueue(...$mail, recipients: ['again@example.org'],
    dsn: ['notify' => ['success', 'delay'], 'envid' => 'order=18']);
$report = $queue->work('sendmail://default?command=' . rawurlencode("/usr/sbin/sendmail -C $postfix->config -t -i"));
echo "$report->sent sent\n";
$arrived = wait_for('the report', fn() => count($sink->saved()) >= 5 ? $sink->saved() : null);
preg_match_all('/^Original-Envelope-Id: .*/m', implode($arrived), $lines);
echo str_replace("\r", '', implode("\n", $lines[0])), "\n";
?>
--EXPECT--
2 sent
3 arrived
1 report
Original-Envelope-Id: order+17
Final-Recipient: rfc822; asked@example.org
Original-Recipient: rfc822;asked@example.org
Action: relayed
-- by its sendmail
1 sent
Original-Envelope-Id: order+17
Original-Envelope-Id: order=18
