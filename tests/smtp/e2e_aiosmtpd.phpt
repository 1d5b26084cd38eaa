--TEST--
End to end: aiosmtpd with STARTTLS and a login, without pipelining
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
require dirname(__DIR__) . '/lib/certificates.inc';

$certificates = new Certificates();
$server = new Aiosmtpd($certificates->issue() + ['user' => 'bob', 'password' => 'p%w']);
$queue = new TestQueue();
$stored = [];
for ($i = 1; $i <= 20; $i++) {
    $queue->add("t$i", ["a$i@example.org", "b$i@example.org"],
        message("t$i", str_repeat("line $i\n.dot\n", $i * 40)));
    $stored["a$i@example.org"] = $queue->queue->job($queue->ids["t$i"])->message;
}
$dsn = "smtp://bob:p%25w@localhost:$server->port?tls=required&cafile=$certificates->ca";
$report = $queue->work($dsn, connections: 2);
echo "$report->end: $report->claimed claimed, $report->sent sent to $report->recipients",
    " $report->reason\n";
$mails = $server->mails();
echo count($mails), ' mails, asked at most ', max($server->asked()), " time for a recipient\n";
$same = true;
foreach ($mails as $mail) {
    $same = $same && $mail['message'] === $stored[$mail['to'][0]] && $mail['tls']
        && $mail['user'] === 'bob'
        && $mail['from'] === 'sender@example.com' && count($mail['to']) === 2;
}
var_dump($same, $queue->queue->jobs() === []);
?>
--EXPECT--
empty: 20 claimed, 20 sent to 40 
20 mails, asked at most 1 time for a recipient
bool(true)
bool(true)
