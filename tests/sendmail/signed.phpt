--TEST--
S/MIME: a signed part with a line over 998 octets is refused by enqueue(), mail() and sendmail; other signed parts still verify after repair
--EXTENSIONS--
mailqueue
pdo_sqlite
--SKIPIF--
<?php if (!is_executable('/usr/bin/openssl')) die('skip openssl is missing');
--FILE--
<?php
require __DIR__ . '/sendmail.inc';

// A signed part must not be cut like a part that cannot be read (src/mime/wire/repair_body.c).
// Seen to fail that way: it was accepted and did not verify.

$home = temp_home();
$path = database();
$queue = new MailQueue($path);
shell_exec("cd $home && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj /CN=club -days 2 2>&1");

/** A message whose headers are not signed, with a signed part. */
function signed(string $text): string
{
    global $home;
    file_put_contents("$home/part", "Content-Type: text/plain; charset=utf-8\r\n\r\n$text\r\n");
    $part = shell_exec("cd $home && env -u LD_PRELOAD openssl smime -sign -signer cert.pem -inkey key.pem -in part 2>&1");
    return "From: Jörg <club@example.org>\r\nTo: ann@example.net\r\nSubject: Grüße\r\n" . str_replace("\n", "\r\n", str_replace("\r\n", "\n", $part));
}

/** The message through each entry; the stored one is verified. */
function ways(string $message): void
{
    global $home, $path, $queue;
    echo 'enqueue(): ', thrown(fn() => $queue->enqueue($message)), "\n";
    [$code, , $errors] = sendmail(['-t', '-i'], $message, ['MAILQUEUE_DATABASE' => $path]);
    echo $code, ' ', $errors, $errors === '' ? "\n" : '';
    [$head, $body] = explode("\r\n\r\n", $message, 2);
    $head = preg_replace('/^(To|Subject):.*\R/m', '', $head);
    file_put_contents("$home/mail.php", '<?php var_dump(mail("ann@example.net", "Grüße", ' . var_export($body, true) . ', ' . var_export($head, true) . '));');
    $command = php_command('-d', 'mailqueue.capture_mail=1', '-d', "mailqueue.database=$path", '-d', 'html_errors=0', '-d', 'display_errors=1', "$home/mail.php");
    echo preg_replace('/ in \S+ on line \d+/', '', trim(run_with_input($command, '', [])[1])), "\n";
    $pdo = new PDO("sqlite:$path");
    foreach ($pdo->query('SELECT content FROM mail_body ORDER BY id') as [$content]) {
        file_put_contents("$home/stored", $content);
        echo trim(shell_exec("cd $home && env -u LD_PRELOAD openssl smime -verify -noverify -in stored -out /dev/null 2>&1")), "\n";
    }
    $queue->delete(array_column($queue->jobs(), 'id'));
}

ways(signed(str_repeat('Grüße ', 300)));
ways(signed("Grüße \r\nfrom us"));
ways(str_replace('from us', "from\rus", signed("Grüße \r\nfrom us")));
?>
--EXPECT--
enqueue(): MailQueue\MessageException [message]: message: a part of it is signed or encrypted and has a line over 998 octets, which SMTP does not carry; encode it (quoted-printable or base64) before you sign or send it
65 mailqueue: message: a part of it is signed or encrypted and has a line over 998 octets, which SMTP does not carry; encode it (quoted-printable or base64) before you sign or send it
Warning: mail(): The mail was not queued: message: a part of it is signed or encrypted and has a line over 998 octets, which SMTP does not carry; encode it (quoted-printable or base64) before you sign or send it
bool(false)
enqueue(): nothing
0 
bool(true)
Verification successful
Verification successful
Verification successful
enqueue(): MailQueue\MessageException [message]: message: a CR alone, which SMTP does not carry, and a part that is signed (S/MIME, PGP); sign it with CRLF throughout
65 mailqueue: message: a CR alone, which SMTP does not carry, and a part that is signed (S/MIME, PGP); sign it with CRLF throughout
Warning: mail(): The mail was not queued: message: a CR alone, which SMTP does not carry, and a part that is signed (S/MIME, PGP); sign it with CRLF throughout
bool(false)
