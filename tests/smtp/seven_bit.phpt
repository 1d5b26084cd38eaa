--TEST--
Relays without 8BITMIME: 8-bit mail is converted when it is sent, signed mail is not
--EXTENSIONS--
posix
pdo_sqlite
mbstring
--SKIPIF--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/servers.inc';
echo missing('/usr/bin/python3');
?>
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';
require dirname(__DIR__) . '/lib/eight_bit.inc';

function try_relay(string $name, array $mails, string $script, array $options = []): void
{
    $sink = new Sink($script, $options);
    $queue = new TestQueue();
    $stored = [];
    foreach ($mails as $test => $mail) {
        $queue->add($test, ["$test@example.org"], $mail);
        $stored[$test] = $queue->queue->job($queue->ids[$test])->message;
    }
    $report = $queue->work("smtp://127.0.0.1:$sink->port", connections: 3);
    echo "-- $name: $report->end, $report->sent sent\n", same_octets($stored, $sink->saved());
    foreach ($queue->states() as $test => $state) {
        if ($state !== 'gone') {
            echo "$test: $state\n   ", current($queue->queue->job($queue->ids[$test])->refused), "\n";
        }
    }
    $sink->stop();
    foreach ($sink->violations() as $violation) {
        echo "$violation\n";
    }
    preg_match_all('/^< MAIL.*(?:BODY|SMTPUTF8).*/m', $sink->transcript(), $asked);
    echo implode("\n", $asked[0]);
}

$mails = eight_bit_mails();
echo count($mails), " mails\n";
try_relay('no 8BITMIME', $mails, '', ['--no-8bitmime']);
try_relay('HELO only', $mails, 'at ehlo reply="502 5.5.1 what"');
try_relay('no PIPELINING, SIZE, 8BITMIME', $mails, 'at ehlo hide=PIPELINING,SIZE,8BITMIME,SMTPUTF8');
try_relay('signed', signed_mails(), '', ['--no-8bitmime']);
?>
--EXPECT--
51 mails
-- no 8BITMIME: empty, 51 sent
51 received, bad: 0
-- HELO only: empty, 51 sent
51 received, bad: 0
-- no PIPELINING, SIZE, 8BITMIME: empty, 51 sent
51 received, bad: 0
-- signed: empty, 0 sent
0 received, bad: 0
dkim: parked 1 for refused refused dkim@example.org
   5.6.3 the message has bytes over 127, the relay does not offer 8BITMIME, and its DKIM-Signature forbids changing it; not sent
smime: parked 1 for refused refused smime@example.org
   5.6.3 the message has bytes over 127, the relay does not offer 8BITMIME, and a part of it is signed or encrypted; not sent
pgp: parked 1 for refused refused pgp@example.org
   5.6.3 the message has bytes over 127, the relay does not offer 8BITMIME, and a part of it is signed or encrypted; not sent
pgp-inside: parked 1 for refused refused pgp-inside@example.org
   5.6.3 the message has bytes over 127, the relay does not offer 8BITMIME, and a part of it is signed or encrypted; not sent
unknown: parked 1 for refused refused unknown@example.org
   5.6.3 the message has bytes over 127, the relay does not offer 8BITMIME, and a part of it has an unknown encoding; not sent
