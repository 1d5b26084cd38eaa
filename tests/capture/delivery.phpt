--TEST--
Captured mail reaches the server as PHP would have handed it to sendmail
--EXTENSIONS--
mailqueue
mbstring
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/capture.inc';
require __DIR__ . '/../lib/smtp.inc';

$calls = [
    ['mail', ['Ann <ann@example.net>', 'Hello', "Hello Ann\n.\n..\nBye", "From: Club <club@example.org>\r\nBcc: bob@example.net", '-f bounce@example.org']],
    ['mail', ['ann@example.net', '=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=', "<p>Grüße</p>\r\n", ['From' => 'club@example.org', 'MIME-Version' => '1.0',
        'Content-Type' => 'text/html; charset=UTF-8', 'Content-Transfer-Encoding' => '8bit', 'Cc' => 'carl@example.net']]],
    ['mail', ['', 'x', "CR\rand\r\rLF\n\n", "From: club@example.org\rX-A: b\rBcc: dora@example.net"]],
    ['mb_send_mail', ['ann@example.net', 'Grüße', "Schöne Grüße\n", 'From: club@example.org'], 'language' => 'neutral'],
    ['mb_send_mail', ['ann@example.net', '日本語', "日本語\n", 'From: club@example.org'], 'language' => 'Japanese'],
];
$sent = array_column(called($calls, false), 'sent');

$path = database();
$code = 'foreach (unserialize(base64_decode($argv[1])) as $call) {
        mb_language($call["language"] ?? "neutral");
        echo json_encode($call[0](...$call[1])), "\n";
    }';
echo output_of($code, ['mailqueue.capture_mail' => 1, 'mailqueue.database' => $path], base64_encode(serialize($calls)));

$server = new SmtpServer();
$report = (new MailQueue($path))->runWorker("smtp://127.0.0.1:$server->port", connections: 1);
foreach ($server->mails() as $i => $mail) {
    $differs = difference($sent[$i]['message'], $mail['data']);
    echo "<$mail[from]> ", implode(' ', $mail['to']), ': ', $differs ?: 'the same bytes', "\n";
}
$server->end();
?>
--EXPECT--
true
true
true
true
true
<bounce@example.org> ann@example.net bob@example.net: the same bytes
<club@example.org> ann@example.net carl@example.net: the same bytes
<club@example.org> dora@example.net: the same bytes
<club@example.org> ann@example.net: the same bytes
<club@example.org> ann@example.net: the same bytes
