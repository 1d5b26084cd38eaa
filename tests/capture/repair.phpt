--TEST--
mail(), captured: a Latin-1 subject, raw UTF-8 and an HTML line of 5,000 octets arrive readable at a server without SMTPUTF8
--EXTENSIONS--
mailqueue
mbstring
pdo_sqlite
--SKIPIF--
<?php if (!is_executable('/usr/bin/python3')) die('skip python3 is missing');
--FILE--
<?php
require __DIR__ . '/capture.inc';
require __DIR__ . '/../lib/smtp.inc';

// Seen to fail with mq_message_normalize() in place of mq_repair_accept().

$html = '<p>' . str_repeat('Grüße an alle, ', 300) . '</p>';
$type = "From: \"Müller, Jörg\" <club@example.org>\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=";
$calls = [
    ['mail', ['Jörg <ann@example.net>', 'Grüße', $html, $type . 'utf-8']],
    ['mail', ['ann@example.net', "Gr\xFC\xDFe", mb_convert_encoding($html, 'ISO-8859-1', 'UTF-8'),
        mb_convert_encoding($type, 'ISO-8859-1', 'UTF-8') . 'iso-8859-1']],
    ['mail', ['ann@example.net', "Gr\xFC\xDFe", 'short',
        "From: M\xFCller <club@example.org>\r\nList-Unsubscribe: <https://shop.example/ab?n=J\xC3\xB6rg>"]],
];
$path = database();
$code = 'foreach (unserialize(base64_decode($argv[1])) as $call) { echo json_encode($call[0](...$call[1])), "\n"; }';
echo output_of($code, ['mailqueue.capture_mail' => 1, 'mailqueue.database' => $path], base64_encode(serialize($calls)));

$server = new SmtpServer;
$report = (new MailQueue($path))->runWorker("smtp://127.0.0.1:$server->port", connections: 1);
foreach ($server->mails() as $mail) {
    $process = proc_open(['/usr/bin/python3', dirname(__DIR__) . '/message/read_mail.py'], [['pipe', 'r'], STDOUT], $pipes, null, []);
    fwrite($pipes[0], preg_replace('/\r?\n/', "\r\n", $mail['data']));
    fclose($pipes[0]);
    proc_close($process);
}
$server->end();
?>
--EXPECT--
true
true
true
Müller, Jörg <club@example.org>: Grüße
to Jörg: 4507 characters, <p>Grüße an ... alle, </p>
lines short, headers ASCII
Müller, Jörg <club@example.org>: Grüße
to nobody: 4507 characters, <p>Grüße an ... alle, </p>
lines short, headers ASCII
Müller <club@example.org>: Grüße
to nobody: 5 characters, short ... short
lines short, headers ASCII
