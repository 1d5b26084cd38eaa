--TEST--
send --test: one mail at once with the dialogue, without secrets; the limit, test mode and the verdict in words
--EXTENSIONS--
mailqueue
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/servers.inc'; die(MailQueueTest\Aiosmtpd::missing()); ?>
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
require __DIR__ . '/../lib/servers.inc';
require __DIR__ . '/../lib/certificates.inc';
use MailQueueTest\{Aiosmtpd, Certificates, Sink};

$path = database();
$queue = new MailQueue($path);
$waiting = $queue->enqueue(mail_fields());
$show = function (string $what, string $transport, array $options = [], array $environment = []) use ($path): string {
    [$code, $out, $errors] = cli(['send', '--test', 'ann@example.net', '--from', 'shop@example.org', '--database', $path, ...$options],
        ['MAILQUEUE_TRANSPORT' => $transport, 'TMPDIR' => $temp = temp_directory()] + $environment);
    $all = $out . $errors;
    preg_match('/secret|wrong-one|c2VjcmV0|d3Jvbmct/', $all) && print("A SECRET IS SHOWN: $all\n");
    must(preg_grep('/trial/', scandir($temp)) === [], 'nothing is left behind');
    $all = preg_replace(['/EHLO \S+/', '/mailqueue on \S+/', '/(?<!example\.org|example\.net)> (Message-ID|Date): .*/', '/\[\d+ more lines\]/', '/SIZE=\d+/', '/port \d+/', '/after \d+ ms/'],
        ['EHLO HOST', 'mailqueue on HOST', '> $1: …', '[N more lines]', 'SIZE=N', 'port N', 'after N ms'], $all);
    echo "--- $what: $code\n$all";
    return $out;
};

$certificates = new Certificates();
$server = new Aiosmtpd($certificates->issue() + ['user' => 'usr', 'password' => 'secret']);
$tls = '?tls=required&cafile=' . rawurlencode($certificates->ca);
$show('STARTTLS and login', "smtp://usr:secret@localhost:$server->port$tls");
[$mail] = $server->mails();
echo "arrived: $mail[from] ", implode(' ', $mail['to']), preg_match('/^Subject: Test of mailqueue/m', $mail['message']) ? ", the test mail\n" : ", another\n";
$show('a wrong password', "smtp://usr:wrong-one@localhost:$server->port$tls");
$sink = fn(string $rules): string => 'smtp://localhost:' . (new Sink($rules, ['--auth', 'usr:secret', '--auth-mechanisms', 'LOGIN']))->port;
$login = fn(string $rules): string => str_replace('//', '//usr:secret@', $sink($rules));
$show('LOGIN, and a relay that repeats the login', $login('at auth reply="535 5.7.8 not secret"'));
$show('no such user', $sink('at rcpt reply="550 5.1.1 no such user"'));
$show('not now', $sink('at dot reply="451 4.3.0 busy"'));
$show('closed after the dot', $sink('at dot close'));
$show('a closed port', 'smtp://127.0.0.1:1');
$show('null://', 'null://null');
[$code, $out] = cli(['log', '--database', $path]);
echo "the queue's own mail: ", $queue->job($waiting)->attempts, " attempts; the log: $code\n";

$plain = new Aiosmtpd();
$to = "smtp://localhost:$plain->port";
$queue->setConfig('mailRedirectTo', '@staging.example.org');
$queue->setConfig('mailQueueEnabled', 0);
$show('test mode, switched off', $to);
$show('test mode of this machine', $to, [], ['MAILQUEUE_REDIRECT_TO' => 'team@example.org']);
$show('allowed', $to, [], ['MAILQUEUE_REDIRECT_TO' => 'team@example.org', 'MAILQUEUE_ALLOW_TO' => '@example.net']);
echo 'arrived at ', implode(' ', array_merge(...array_column($plain->mails(), 'to'))), "\n";
$queue->setConfig('mailRedirectTo', null);
$queue->setConfig('mailMaxPerHour', 10);
$queue->setConfig('mailTokens', 1);
$queue->setConfig('mailLastRefill', time());
$json = json_decode($show('the last token', 'null://null', ['--json']), true);
$show('no token', $to);
echo count($plain->mails()), " mails\n";
$show('no address', $to, ['--from', 'nobody']);
$queue->setConfig('mailMaxPerHour', null);
[$code, , $errors] = cli(['send', '--test', 'ann@example.net', '--from', 'shop@example.org', '--database', $path], ['MAILQUEUE_TRANSPORT' => 'null://null', 'TMPDIR' => '/none']);
echo '--- no temporary directory: ', $code, "\n", preg_replace('/trial-\w+/', 'trial-…', $errors);
echo implode(' ', cli(['send', '--database', $path])), "\n";
?>
--EXPECT--
--- STARTTLS and login: 0
< 220 aiosmtpd.test Python SMTP 1.4.3
> EHLO HOST
< 250-aiosmtpd.test
< 250-SIZE 33554432
< 250-8BITMIME
< 250-SMTPUTF8
< 250-STARTTLS
< 250 HELP
> STARTTLS
< 220 Ready to start TLS
> EHLO HOST
< 250-aiosmtpd.test
< 250-SIZE 33554432
< 250-8BITMIME
< 250-SMTPUTF8
< 250-AUTH LOGIN PLAIN
< 250 HELP
> AUTH PLAIN
< 334 
> ***
< 235 2.7.0 Authentication successful
> MAIL FROM:<shop@example.org> SIZE=N
< 250 OK
> RCPT TO:<ann@example.net>
< 250 OK
> DATA
< 354 End data with <CR><LF>.<CR><LF>
> Date: …
> From: shop@example.org
> To: ann@example.net
> [N more lines]
> .
< 250 2.0.0 OK
> QUIT
< 221 Bye

The relay took the mail: 250 2.0.0 OK. If it does not arrive, look into the spam folder and into the log of the relay.
arrived: shop@example.org ann@example.net, the test mail
--- a wrong password: 69
< 220 aiosmtpd.test Python SMTP 1.4.3
> EHLO HOST
< 250-aiosmtpd.test
< 250-SIZE 33554432
< 250-8BITMIME
< 250-SMTPUTF8
< 250-STARTTLS
< 250 HELP
> STARTTLS
< 220 Ready to start TLS
> EHLO HOST
< 250-aiosmtpd.test
< 250-SIZE 33554432
< 250-8BITMIME
< 250-SMTPUTF8
< 250-AUTH LOGIN PLAIN
< 250 HELP
> AUTH PLAIN
< 334 
> ***
< 535 5.7.8 Authentication credentials invalid

The relay cannot be used: Login denied; it said: 535 5.7.8 Authentication credentials invalid. mailqueue doctor --relay names the cure.
--- LOGIN, and a relay that repeats the login: 69
< 220 mq-sink.test ESMTP mq-sink
> EHLO HOST
< 250-mq-sink.test
< 250-PIPELINING
< 250-SIZE 67108864
< 250-AUTH LOGIN
< 250-ENHANCEDSTATUSCODES
< 250-8BITMIME
< 250 SMTPUTF8
> AUTH LOGIN
< 334 ***
> ***
< 334 ***
> ***
< 535 5.7.8 not ***

The relay cannot be used: Login denied; it said: 535 5.7.8 not ***. mailqueue doctor --relay names the cure.
--- no such user: 1
< 220 mq-sink.test ESMTP mq-sink
> EHLO HOST
< 250-mq-sink.test
< 250-PIPELINING
< 250-SIZE 67108864
< 250-AUTH LOGIN
< 250-ENHANCEDSTATUSCODES
< 250-8BITMIME
< 250 SMTPUTF8
> MAIL FROM:<shop@example.org> SIZE=N
> RCPT TO:<ann@example.net>
> DATA
< 250 2.1.0 Ok
< 550 5.1.1 no such user
< 554 5.5.1 no valid recipients
> RSET
< 250 2.0.0 Ok
> QUIT
< 221 2.0.0 bye

The relay refused the mail: 550 5.1.1 no such user. The worker would not try again.
--- not now: 1
< 220 mq-sink.test ESMTP mq-sink
> EHLO HOST
< 250-mq-sink.test
< 250-PIPELINING
< 250-SIZE 67108864
< 250-AUTH LOGIN
< 250-ENHANCEDSTATUSCODES
< 250-8BITMIME
< 250 SMTPUTF8
> MAIL FROM:<shop@example.org> SIZE=N
> RCPT TO:<ann@example.net>
> DATA
< 250 2.1.0 Ok
< 250 2.1.5 Ok
< 354 end with a line that is a dot
> Date: …
> From: shop@example.org
> To: ann@example.net
> [N more lines]
> .
< 451 4.3.0 busy
> QUIT
< 221 2.0.0 bye

The relay did not take the mail now: 451 4.3.0 busy. The worker would try again.
--- closed after the dot: 1
< 220 mq-sink.test ESMTP mq-sink
> EHLO HOST
< 250-mq-sink.test
< 250-PIPELINING
< 250-SIZE 67108864
< 250-AUTH LOGIN
< 250-ENHANCEDSTATUSCODES
< 250-8BITMIME
< 250 SMTPUTF8
> MAIL FROM:<shop@example.org> SIZE=N
> RCPT TO:<ann@example.net>
> DATA
< 250 2.1.0 Ok
< 250 2.1.5 Ok
< 354 end with a line that is a dot
> Date: …
> From: shop@example.org
> To: ann@example.net
> [N more lines]
> .

Nobody knows whether the relay took the mail: the relay closed the connection.
--- a closed port: 69
The relay cannot be used: Failed to connect to 127.0.0.1 port N after N ms: Couldn't connect to server. mailqueue doctor --relay names the cure.
--- null://: 0
The relay took the mail: 250 accepted by null. If it does not arrive, look into the spam folder and into the log of the relay.
the queue's own mail: 0 attempts; the log: 73
--- test mode, switched off: 0
< 220 aiosmtpd.test Python SMTP 1.4.3
> EHLO HOST
< 250-aiosmtpd.test
< 250-SIZE 33554432
< 250-8BITMIME
< 250-SMTPUTF8
< 250 HELP
> MAIL FROM:<shop@example.org> SIZE=N
< 250 OK
> RCPT TO:<ann@staging.example.org>
< 250 OK
> DATA
< 354 End data with <CR><LF>.<CR><LF>
> X-Original-To: ann@example.net
> Date: …
> From: shop@example.org
> [N more lines]
> .
< 250 2.0.0 OK
> QUIT
< 221 Bye

The relay took the mail: 250 2.0.0 OK. If it does not arrive, look into the spam folder and into the log of the relay.
Test mode: mail of every type but organizer goes to @staging.example.org, not to its recipients (config key mailRedirectTo).
Sending is switched off: no other mail goes.
--- test mode of this machine: 0
< 220 aiosmtpd.test Python SMTP 1.4.3
> EHLO HOST
< 250-aiosmtpd.test
< 250-SIZE 33554432
< 250-8BITMIME
< 250-SMTPUTF8
< 250 HELP
> MAIL FROM:<shop@example.org> SIZE=N
< 250 OK
> RCPT TO:<team@example.org>
< 250 OK
> DATA
< 354 End data with <CR><LF>.<CR><LF>
> X-Original-To: ann@example.net
> Date: …
> From: shop@example.org
> [N more lines]
> .
< 250 2.0.0 OK
> QUIT
< 221 Bye

The relay took the mail: 250 2.0.0 OK. If it does not arrive, look into the spam folder and into the log of the relay.
Test mode of this machine: all mail goes to team@example.org, not to its recipients (MAILQUEUE_REDIRECT_TO).
Sending is switched off: no other mail goes.
--- allowed: 0
< 220 aiosmtpd.test Python SMTP 1.4.3
> EHLO HOST
< 250-aiosmtpd.test
< 250-SIZE 33554432
< 250-8BITMIME
< 250-SMTPUTF8
< 250 HELP
> MAIL FROM:<shop@example.org> SIZE=N
< 250 OK
> RCPT TO:<ann@example.net>
< 250 OK
> DATA
< 354 End data with <CR><LF>.<CR><LF>
> Date: …
> From: shop@example.org
> To: ann@example.net
> [N more lines]
> .
< 250 2.0.0 OK
> QUIT
< 221 Bye

The relay took the mail: 250 2.0.0 OK. If it does not arrive, look into the spam folder and into the log of the relay.
Test mode of this machine: all mail goes to team@example.org, not to its recipients, unless they are among @example.net (MAILQUEUE_REDIRECT_TO, MAILQUEUE_ALLOW_TO).
Sending is switched off: no other mail goes.
arrived at ann@staging.example.org team@example.org ann@example.net
--- the last token: 0
{
    "outcome": "sent",
    "verdict": "The relay took the mail: 250 accepted by null. If it does not arrive, look into the spam folder and into the log of the relay.",
    "from": "shop@example.org",
    "to": "ann@example.net",
    "testMode": null,
    "dialogue": []
}
--- no token: 75
mailqueue: The hourly limit (10 recipients) leaves none for this mail now. Try again in 6 min; mailqueue doctor --relay sends nothing.
3 mails
--- no address: 64
mailqueue: --from must be an address.
--- no temporary directory: 78
mailqueue: The directory /none/mailqueue-trial-… cannot be made. Set TMPDIR, or sys_temp_dir in php.ini, to one where this user may write.
64  mailqueue: send needs --test ADDRESS: it sends one mail to try the relay.
