--TEST--
Delivery status notifications: the requests of enqueue() and sendmail -N -R -V go only to relays that offer DSN
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
require dirname(__DIR__) . '/lib/queue.inc';
require dirname(__DIR__) . '/sendmail/sendmail.inc';


function fill(TestQueue $queue): void
{
    $mail = ['envelopeFrom' => 'me@example.com', 'message' => "Subject: x\r\n\r\nx\r\n"];
    $queue->queue->enqueue(...$mail, recipients: ['all@example.org', 'b@example.org'],
        dsn: ['notify' => ['success', 'failure', 'DELAY'], 'ret' => 'hdrs', 'envid' => 'q+1=x']);
    $queue->queue->enqueue(...$mail, recipients: ['never@example.org'], dsn: ['notify' => 'never']);
    $queue->queue->enqueue(...$mail, recipients: ['plain@example.org'], dsn: []);
    $queue->queue->enqueue(...$mail, recipients: ['null@example.org'], dsn: ['notify' => null, 'ret' => null]);
    $queue->queue->enqueueMany([['recipients' => ['many@example.org'], 'dsn' => ['envid' => 'one']] + $mail,
        ['recipients' => ['other@example.org']] + $mail]);
    $environment = ['MAILQUEUE_DATABASE' => $queue->path];
    foreach ([['-N', 'success,delay', '-R', 'full', '-V', 'batch/7', '-f', 'me@example.com', 'cli@example.org'],
        ['-Nnever', '-fme@example.com', 'cli-never@example.org'], ['-fme@example.com', 'cli-plain@example.org'],
        ['-V', str_repeat('=', 50), '-fme@example.com', 'cli-bad@example.org']] as $words) {
        [$code, $output, $errors] = \sendmail($words, "Subject: x\n\nx\n", $environment);
        echo $code === 0 ? '' : "exit $code $output$errors";
    }
}

echo "-- a relay that offers DSN: Postfix's smtp-sink\n";
$server = new SmtpSink();
$queue = new TestQueue();
fill($queue);
echo 'stored: ', (new \PDO("sqlite:$queue->path"))->query('SELECT fields FROM mail_queue ORDER BY id')->fetchColumn(), "\n";
$report = $queue->work("smtp://127.0.0.1:$server->port");
echo "$report->sent sent\n";
echo implode("\n", wait_for('9 mails', fn() => count($server->envelopes()) >= 9 ? $server->envelopes() : null)), "\n";

echo "-- one that does not\n";
$sink = new Sink();
$queue = new TestQueue();
fill($queue);
$report = $queue->work("smtp://127.0.0.1:$sink->port");
$transcript = file_get_contents($sink->path('transcript'));
echo "$report->sent sent, ", preg_match('/NOTIFY|RET=|ENVID/', $transcript), ' with parameters, ',
    substr_count(file_get_contents($sink->path('log')), "violation\t"), " violations\n";

echo "-- a row that another program changed\n";
$server = new SmtpSink();
foreach (['{"dsn":"NOTIFY=NEVER"}', "{\"dsn\":\"ENVID=x>\\r\\nDATA\"}", 'x', '{"name":"Ann"}'] as $fields) {
    $id = $queue->queue->enqueue("Subject: x\r\n\r\nx\r\n", envelopeFrom: 'me@example.com', recipients: ["to@example.org"]);
    $pdo = new \PDO("sqlite:$queue->path");
    $pdo->prepare('UPDATE mail_queue SET fields = ? WHERE id = ?')->execute([$fields, $id]);
}
unset($pdo);
$report = $queue->work("smtp://127.0.0.1:$server->port");
echo "$report->sent sent\n";
echo implode("\n", wait_for('4 mails', fn() => count($server->envelopes()) >= 4 ? $server->envelopes() : null)), "\n";

echo "-- a campaign, and its test\n";
$server = new SmtpSink();
$campaign = $queue->queue->campaign('spring');
$campaign->setMessage(['from' => 'me@example.com', 'subject' => 'x', 'text' => 'x'], dsn: ['notify' => ['failure'], 'ret' => 'hdrs', 'envid' => 'spring']);
$campaign->add(['to@example.org']);
$campaign->test(['me@example.org']);
$campaign->start();
$report = $queue->work("smtp://127.0.0.1:$server->port");
echo "$report->sent sent\n";
echo implode("\n", wait_for('2 mails', fn() => count($server->envelopes()) >= 2 ? $server->envelopes() : null)), "\n";

echo "-- what is refused\n";
foreach ([['notify' => 'sometimes'], ['notify' => ['never', 'delay']], ['notify' => [1]], ['notify' => true],
    ['ret' => 'body'], ['ret' => 1], ['envid' => ''], ['envid' => "a\r\nDATA"], ['envid' => 'a b'],
    ['envid' => str_repeat('x', 101)], ['orcpt' => 'x'], ['never']] as $dsn) {
    echo json_encode($dsn), ': ', \thrown(fn() => $queue->queue->enqueue("Subject: x\r\n\r\nx\r\n",
        envelopeFrom: 'me@example.com', recipients: ['to@example.org'], dsn: $dsn)), "\n";
}
echo \thrown(fn() => $queue->queue->enqueueMany([['message' => "Subject: x\r\n\r\nx\r\n", 'envelopeFrom' => 'me@example.com',
    'recipients' => ['to@example.org'], 'dsn' => 'never']])), "\n";
echo count($queue->queue->jobs()), " stored\n";
?>
--EXPECT--
-- a relay that offers DSN: Postfix's smtp-sink
exit 64 mailqueue: sendmail: -V: must have 1 to 100 octets, not 150 ("+" and "=" count for three).
stored: {"dsn":"NOTIFY=SUCCESS,FAILURE,DELAY RET=HDRS ENVID=q+1=x"}
9 sent
<me@example.com> ENVID=one | <many@example.org>
<me@example.com> RET=FULL ENVID=batch/7 | <cli@example.org> NOTIFY=SUCCESS,DELAY
<me@example.com> RET=HDRS ENVID=q+2B1+3Dx | <all@example.org> NOTIFY=SUCCESS,FAILURE,DELAY | <b@example.org> NOTIFY=SUCCESS,FAILURE,DELAY
<me@example.com> | <cli-never@example.org> NOTIFY=NEVER
<me@example.com> | <cli-plain@example.org>
<me@example.com> | <never@example.org> NOTIFY=NEVER
<me@example.com> | <null@example.org>
<me@example.com> | <other@example.org>
<me@example.com> | <plain@example.org>
-- one that does not
exit 64 mailqueue: sendmail: -V: must have 1 to 100 octets, not 150 ("+" and "=" count for three).
9 sent, 0 with parameters, 0 violations
-- a row that another program changed
4 sent
<me@example.com> | <to@example.org>
<me@example.com> | <to@example.org>
<me@example.com> | <to@example.org>
<me@example.com> | <to@example.org> NOTIFY=NEVER
-- a campaign, and its test
2 sent
<me@example.com> RET=HDRS ENVID=spring | <me@example.org> NOTIFY=FAILURE
<me@example.com> RET=HDRS ENVID=spring | <to@example.org> NOTIFY=FAILURE
-- what is refused
{"notify":"sometimes"}: ValueError: dsn[notify]: must be "never", or any of "success", "failure" and "delay"
{"notify":["never","delay"]}: ValueError: dsn[notify]: "never" excludes the others; write it alone
{"notify":[1]}: MailQueue\MessageException [dsn[notify][0]]: dsn[notify][0]: must be a string, int given
{"notify":true}: MailQueue\MessageException [dsn[notify]]: dsn[notify]: must be a string, bool given
{"ret":"body"}: ValueError: dsn[ret]: must be "full" or "hdrs"
{"ret":1}: MailQueue\MessageException [dsn[ret]]: dsn[ret]: must be a string, int given
{"envid":""}: ValueError: dsn[envid]: must have 1 to 100 octets, not 0 ("+" and "=" count for three)
{"envid":"a\r\nDATA"}: ValueError: dsn[envid]: octet 2 is a space, a control character or not ASCII; use letters, digits and marks
{"envid":"a b"}: ValueError: dsn[envid]: octet 2 is a space, a control character or not ASCII; use letters, digits and marks
{"envid":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}: ValueError: dsn[envid]: must have 1 to 100 octets, not 101 ("+" and "=" count for three)
{"orcpt":"x"}: MailQueue\MessageException [dsn]: dsn: unknown key "orcpt"; known are notify, ret and envid
["never"]: MailQueue\MessageException [dsn]: dsn: unknown key "0"; known are notify, ret and envid
MailQueue\MessageException [dsn]: message 0: dsn: must be an array or null, string given
0 stored
