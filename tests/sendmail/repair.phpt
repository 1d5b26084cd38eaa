--TEST--
mailqueue sendmail: a Latin-1 subject, raw UTF-8 and an HTML line of 5,000 octets arrive readable at a server without SMTPUTF8
--EXTENSIONS--
mailqueue
posix
--SKIPIF--
<?php if (!is_executable('/usr/bin/python3')) die('skip python3 is missing');
--FILE--
<?php
require __DIR__ . '/sendmail.inc';
require __DIR__ . '/../lib/smtp.inc';

// Seen to fail with mq_message_normalize() in place of mq_repair_accept().

$html = '<p>' . str_repeat('Grüße an alle, ', 300) . '</p>';
$messages = [
    "From: Jörg Müller <club@example.org>\nTo: Ännchen <ann@example.net>\nSubject: Grüße\n"
        . "MIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n$html\n",
    "From: M\xFCller <club@example.org>\nTo: ann@example.net\nSubject: Gr\xFC\xDFe\n\nshort\n",
];
$queue = new MailQueue($database = database());
foreach ($messages as $message) {
    echo implode(' ', sendmail(['-t', '-i'], $message, ['MAILQUEUE_DATABASE' => $database])), "\n";
}
$server = new SmtpServer();
$queue->runWorker("smtp://127.0.0.1:$server->port", connections: 1);
foreach ($server->mails() as $mail) {
    $process = proc_open(['/usr/bin/python3', dirname(__DIR__) . '/message/read_mail.py'], [['pipe', 'r'], STDOUT], $pipes, null, []);
    fwrite($pipes[0], preg_replace('/\r?\n/', "\r\n", $mail['data']));
    fclose($pipes[0]);
    proc_close($process);
}
$server->end();
?>
--EXPECT--
0  
0  
Jörg Müller <club@example.org>: Grüße
to Ännchen: 4507 characters, <p>Grüße an ... alle, </p>
lines short, headers ASCII
Müller <club@example.org>: Grüße
to nobody: 5 characters, short ... short
lines short, headers ASCII
