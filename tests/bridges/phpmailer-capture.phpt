--TEST--
PHPMailer's isMail() with DKIM and addBCC(), captured: the stored message has no Bcc and its signature verifies; one that covers Bcc is refused
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
mbstring
openssl
ctype
--INI--
error_reporting=E_ALL & ~E_DEPRECATED
--SKIPIF--
<?php
require __DIR__ . '/bridge.inc';
echo MailQueueTest\library_missing('/usr/share/php/libphp-phpmailer/autoload.php');
if (!is_file('/usr/lib/python3/dist-packages/dkim/__init__.py')) die('skip python3-dkim is missing');
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/bridge.inc';

// Seen to fail with mq_signed_kinds() returning all kinds (refused) or none (accepted, broken).

/** The verdict of python3-dkim on a message that the key `$public` signed. */
function verified(string $message, string $public): string
{
    $code = 'import dkim, sys
text = b"v=DKIM1; k=rsa; p=" + sys.argv[1].encode()
print("verifies" if dkim.verify(sys.stdin.buffer.read(), dnsfunc=lambda name, timeout=5: text) else "fails")';
    $process = proc_open(['/usr/bin/env', '-u', 'LD_PRELOAD', '/usr/bin/python3', '-c', $code, $public],
        [['pipe', 'r'], ['pipe', 'w']], $pipes);
    fwrite($pipes[0], $message);
    fclose($pipes[0]);
    $said = stream_get_contents($pipes[1]);
    proc_close($process);
    return trim($said);
}

const SENDING = <<<'CODE'
    require $argv[1];
    $mail = new PHPMailer\PHPMailer\PHPMailer();
    $mail->isMail();
    $mail->CharSet = 'UTF-8';
    $mail->setFrom('zoe@example.org', 'Zoë');
    $mail->addAddress('ann@example.net', 'Änn');
    $mail->addCC('carl@example.net');
    $mail->addBCC('hidden@example.net');
    $mail->Subject = 'Signed, with a hidden copy';
    $mail->Body = "Grüße\n.\nend\n";
    $mail->DKIM_domain = 'example.org';
    $mail->DKIM_selector = 'sel';
    $mail->DKIM_private = $argv[2];
    $mail->DKIM_extraHeaders = array_slice($argv, 3);
    echo $mail->send() ? 'sent' : "not sent: $mail->ErrorInfo", "\n";
    CODE;

$directory = temporary_directory('signed');
$key = openssl_pkey_new(['private_key_bits' => 2048]);
openssl_pkey_export_to_file($key, "$directory/key.pem");
$public = preg_replace('/-----.*-----|\s/', '', openssl_pkey_get_details($key)['key']);
$database = bridge_database();
$queue = new \MailQueue($database);
$settings = ['-d', 'mailqueue.capture_mail=1', '-d', "mailqueue.database=$database",
    '-d', 'error_reporting=24575'];
foreach (['ctype', 'openssl', 'mbstring'] as $name) {
    if (is_file(ini_get('extension_dir') . "/$name.so")) {
        array_push($settings, '-d', "extension=$name");
    }
}
$send = static function (string ...$headers) use ($settings, $directory): void {
    $process = proc_open([...php_command(...$settings), '-r', SENDING, '--',
        '/usr/share/php/libphp-phpmailer/autoload.php', "$directory/key.pem", ...$headers],
        [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
    echo stream_get_contents($pipes[1]);
    proc_close($process);
};

$send();
$job = $queue->job(1);
echo implode(' ', $job->recipients), "\n";
check('no Bcc in the message', !preg_match('/^Bcc:|hidden@/mi', $job->message), $job->message);
preg_match('/^DKIM-Signature: (?:.*\n)(?:[ \t].*\n)*/m', $job->message, $signature);
preg_match('/[;\s]h=([^;]*)/', $signature[0] ?? '', $names);
check('the signature names Date and no Bcc', str_contains($names[1] ?? '', 'Date:')
    && stripos($names[1], 'bcc') === false, $names);
echo verified($job->message, $public), "\n";
echo 'with a letter changed: ', verified(str_replace('end', 'And', $job->message), $public), "\n";

// Written by hand, because PHPMailer never signs Bcc.
$signed = str_replace('h=', 'h=Bcc:', $signature[0]);
$forged = "Bcc: hidden@example.net\r\n" . str_replace($signature[0], $signed, $job->message);
echo \thrown(fn() => $queue->enqueue($forged)), "\n";
echo waiting($database), " stored\n";
?>
--EXPECT--
sent
ann@example.net carl@example.net hidden@example.net
ok   no Bcc in the message
ok   the signature names Date and no Bcc
verifies
with a letter changed: fails
MailQueue\MessageException [message]: message: it has a DKIM-Signature that would break: it needs a Message-ID and a Date, each once, and no Bcc, as far as its h= covers them; correct that before signing
1 stored
