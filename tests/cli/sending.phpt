--TEST--
mailqueue work without a transport, with --dkim; doctor about sendmail_path, keys and capture_mail
--EXTENSIONS--
mailqueue
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/servers.inc';
echo MailQueueTest\missing('/usr/bin/make', '/usr/bin/openssl');
?>
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
require __DIR__ . '/../lib/servers.inc';

$dir = temp_directory();
$app = "$dir/app.sqlite";
$queue = new MailQueue($app);
$queue->stats();
/** With php.ini's settings; paths are hidden. */
$run = static function (array $arguments, array $ini = [], array $environment = []) use ($dir, $app): array {
    $options = [];
    foreach ($ini as $one) {
        array_push($options, '-d', $one);
    }
    $streams = [['file', '/dev/null', 'r'], ['file', "$dir/out", 'w'], ['file', "$dir/err", 'w']];
    $process = proc_open(php_command(...$options, ...[dirname(__DIR__, 2) . '/bin/mailqueue'], ...$arguments), $streams, $pipes, $dir,
        $environment + ['PATH' => getenv('PATH'), 'HOME' => $dir, 'MAILQUEUE_DATABASE' => $app] + sanitizer_environment());
    $code = proc_close($process);
    return [$code, file_get_contents("$dir/out"), file_get_contents("$dir/err")];
};
/** Doctor's lines on one subject. */
$doctor = static function (string $word, array $arguments = [], array $ini = [], array $environment = []) use ($run, $dir): string {
    [, $json, $errors] = $run(['doctor', '--json', ...$arguments], $ini, $environment);
    $said = array_filter(json_decode($json, true) ?? [], static fn(array $one): bool => str_contains($one['what'], $word));
    $lines = array_map(static fn(array $one): string => ($one['ok'] ? 'ok    ' : 'look  ') . $one['what'] . ($one['ok'] ? '' : " -- $one[cure]"), $said);
    return str_replace([$dir, dirname(__DIR__, 2)], ['%', 'ROOT'], implode("\n", $lines) . "$errors\n");
};
$message = "From: me@example.org\nTo: a@example.net\nSubject: x\n\nhi\n";

echo "-- no transport\n";
file_put_contents("$dir/keep", "#!/bin/sh\necho \"\$@\" > $dir/arguments\nexec cat > $dir/kept\n");
chmod("$dir/keep", 0700);
$queue->enqueue($message, envelopeFrom: 'me@example.org', recipients: ['a@example.net']);
echo $doctor('sendmail_path', [], ["sendmail_path=$dir/keep -t -i"]);
show($run(['work'], ["sendmail_path=$dir/keep -t -i"]));
echo file_get_contents("$dir/arguments"), strstr(file_get_contents("$dir/kept"), 'Date:', true), "\n";
foreach (["$dir/none -t -i", "$dir/app.sqlite", 'sendmail -t', '', dirname(__DIR__, 2) . '/bin/mailqueue sendmail -t', '/bin/true ' . dirname(__DIR__, 2) . '/bin/mailqueue'] as $path) {
    echo $doctor('sendmail_path', [], ["sendmail_path=$path"]);
}
symlink(dirname(__DIR__, 2) . '/bin/mailqueue', "$dir/sendmail");
echo $doctor('sendmail_path', [], ["sendmail_path='$dir/sendmail' -t"]);
$queue->enqueue($message, envelopeFrom: 'me@example.org', recipients: ['a@example.net']);
[$code, $output, $errors] = $run(['work'], ["sendmail_path=$dir/sendmail -t -i"]);
echo 'a loop: ', in_array($code, [69, 78], true) && count($queue->jobs()) === 1 ? 'refused' : "exit $code $output$errors", "\n";

echo "-- a transport\n";
foreach (['smtp://me:s3cret@mail.example.org:587', 'smtps://mail.example.org?tls=required', 'SMTP://me@[2001:db8::1]:25/?tls=required&proxy=http://me:s3cret@b', 'null://null', 'file:///var/mail/out', 'failover(smtp://me:s3cret@a smtp://b)'] as $dsn) {
    echo $doctor('mail goes', [], [], ['MAILQUEUE_TRANSPORT' => $dsn]);
}
foreach (['smtp://user:s3c/ret@h0st:587', 'user:s3cret@h0st:587', 'smtp:user:s3cret@h0st', 'smtp://s3cret/x@h0st', 'smtp://user:12/s3@h0st', 'smtp://s3cret?x@h0st',
    'smtp://user:1?s3=x@h0st', 'smtp://user:s3@cret@h0st', 'smtp://user:s3#cret@h0st', 'https://s3cret', 'file://s3cret@h0st/x', 'random(smtp://me:s3cret@a smtp://b)'] as $dsn) {
    $said = $run(['doctor', '--json'], [], ['MAILQUEUE_TRANSPORT' => $dsn])[1];
    echo preg_match('/s3|cret|h0st/', $said) ? "$dsn is shown: $said" : strstr($doctor('transport', [], [], ['MAILQUEUE_TRANSPORT' => $dsn]), ' -- ', true), "\n";
}
echo $doctor('transport', [], [], ['MAILQUEUE_TRANSPORT' => 'smtp:user:s3cret@host']);
echo "-- what work refuses, doctor does not call ok\n";
foreach (['smtp://h:99999', 'smtp://u:p@h?foo=1', 'smtp://h?tls=wat', 'null://null?x=1', 'smtp://h?final_timeout=1000', 'sendmail://default?final_timeout=1000&command=' . rawurlencode("$dir/keep -i")] as $dsn) {
    echo strstr(trim($doctor('the transport cannot', [], [], ['MAILQUEUE_TRANSPORT' => $dsn]) . $doctor('the lease', [], [], ['MAILQUEUE_TRANSPORT' => $dsn])), ' -- ', true), "\nwork: exit ", $run(['work'], [], ['MAILQUEUE_TRANSPORT' => $dsn])[0], "\n";
}
echo "-- a password\n";
foreach (['work', 'doctor'] as $command) {
    echo trim(implode(' ', $run([$command, '--transport', 'smtp://me:s3cret@mail.example.org']))), "\n";
}
foreach (['smtp://h?proxy=http://me:s3cret@proxy:8080', 'smtp://me@h?proxy=socks5h%3A%2F%2Fme%3As3cret%40proxy', 'ses+https://AKIDEXAMPLE:s3cret@default', 'ses+https://default?session_token=s3cret',
    'mailgun+https://s3cret@default', 'failover(null://null roundrobin(smtp://a smtp://me:s3cret@b))', 'failover(null://null smtp://h?proxy=http://me:s3cret@proxy)',
    'smtp://me:s3@cret@h', 'random(smtp://me:s3cret@h)'] as $dsn) {
    $said = implode(' ', $run(['work', '--transport', $dsn]));
    echo preg_match('/^64 .*No password in --transport/', $said) && !str_contains($said, 's3') ? 'refused' : "$dsn: $said", "\n";
}
foreach (['smtp://me@h?tls=wat', 'null://null', 'smtp://me@h?x=1', 'failover(null://null null://null)'] as $dsn) {
    echo preg_match('/^64 /', $said = implode(' ', $run(['work', '--transport', $dsn]))) ? "$dsn: $said" : 'not refused', "\n";
}
foreach (['me:s3cret@mail.example.org?tls=none', 'me:s3cret@mail.example.org?verify_peer=0', 'me:s3cret@127.0.0.1?tls=none', 'mail.example.org?tls=none'] as $dsn) {
    echo trim($doctor("transport's password", [], [], ['MAILQUEUE_TRANSPORT' => "smtp://$dsn"])) ?: 'nothing', "\n";
}
echo $doctor('mail goes', ['--transport', 'smtp://h?final_timeout=1000'], [], ['DISPATCH_LEASE' => '1001']);
echo $doctor("command", ['--transport', 'sendmail://default?command=' . rawurlencode("$dir/keep -i")]);
file_put_contents("$dir/b.php", "<?php return ['queue' => new MailQueue('$app'), 'transport' => static function (): void {}, 'dkim' => ['example.org:a:$dir/a.pem', 'example.org:b:$dir/b.pem']];");
echo $doctor('mail goes', ['--bootstrap', "$dir/b.php"]);

echo "-- keys\n";
MailQueueTest\run(['openssl', 'genpkey', '-quiet', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048', '-out', "$dir/a.pem"], $dir);
MailQueueTest\run(['openssl', 'genpkey', '-algorithm', 'ED25519', '-out', "$dir/b.pem"], $dir);
chmod("$dir/a.pem", 0600);
chmod("$dir/b.pem", 0600);
$sink = new MailQueueTest\Sink();
$send = static function (string $what, array $arguments, array $ini = [], array $environment = []) use ($queue, $run, $sink, $message): void {
    $before = count($sink->saved());
    $queue->delete(array_column($queue->jobs(), 'id'));
    $queue->enqueue($message, envelopeFrom: 'me@example.org', recipients: ['a@example.net']);
    [$code, , $errors] = $run(['work', '--quiet', ...$arguments], $ini, $environment + ['MAILQUEUE_TRANSPORT' => "smtp://127.0.0.1:$sink->port"]);
    $got = $sink->saved()[$before] ?? '';
    preg_match_all('/^DKIM-Signature:(?:.*\r\n)(?:[ \t].*\r\n)*/m', $got, $match);
    $signatures = array_map(static fn(string $one): string => preg_match('/\bs=(\w+)/', $one, $s) ? $s[1] : '?', $match[0]);
    sort($signatures);
    echo "$what: exit $code$errors, ", $got === '' ? 'nothing sent' : 'signed by ' . (implode(' ', $signatures) ?: 'none'), "\n";
};
[$a, $b] = ["example.org:a:$dir/a.pem", "example.org:b:$dir/b.pem"];
$send('none', []);
$send('an option', ['--dkim', $a]);
$send('two', ['--dkim', $a, "--dkim=$b"]);
$send('the environment', [], [], ['MAILQUEUE_DKIM' => "$a,$b"]);
$send('php.ini', [], ["mailqueue.dkim=$b"]);
$send('the option comes first', ['--dkim', $a], [], ['MAILQUEUE_DKIM' => $b]);
file_put_contents("$dir/c.php", "<?php return ['queue' => new MailQueue('$app'), 'dkim' => ['$a', '$b']];");
$send('bootstrap', ['--bootstrap', "$dir/c.php"]);
$send('the option comes first', ['--bootstrap', "$dir/c.php", '--dkim', $a], [], ['MAILQUEUE_DKIM' => $b]);
file_put_contents("$dir/c.php", "<?php return ['queue' => new MailQueue('$app'), 'dkim' => '$b'];");
$send('bootstrap, a string', ['--bootstrap', "$dir/c.php"]);
file_put_contents("$dir/c.php", "<?php return ['queue' => new MailQueue('$app'), 'dkim' => [1]];");
[$code, , $errors] = $run(['work', '--bootstrap', "$dir/c.php"]);
echo "exit $code ", str_replace($dir, '%', $errors);
echo $doctor('DKIM', ['--dkim', $a, '--dkim', $b]);
chmod("$dir/b.pem", 0644);
file_put_contents("$dir/public.pem", "-----BEGIN PUBLIC KEY-----\n");
chmod("$dir/public.pem", 0600);
echo $doctor('DKIM', [], [], ['MAILQUEUE_DKIM' => "$b, example.org:c:$dir/none.pem example.org:d:$dir/public.pem,example.org::/x,x:y:z.pem"]);
if (posix_getuid() === 0) {
    copy("$dir/a.pem", "$dir/theirs.pem");
    chmod("$dir/theirs.pem", 0600);
    chown("$dir/theirs.pem", 65534);
    echo $doctor('DKIM', ['--dkim', "example.org:e:$dir/theirs.pem"]);
} else {
    echo "look  DKIM key example.org:e names a file that belongs to somebody else -- The worker refuses it: chown it to the user of the cron job, chmod 600 %/theirs.pem\n";
}
[$code, , $errors] = $run(['work', '--transport', 'null://null', '--dkim', $b]);
echo "and work: exit $code, ", preg_match("~dkim.*b\.pem~", $errors) ? 'names the file' : $errors, "\n";

echo "-- capture_mail\n";
echo $doctor('captured');
echo $doctor('captured', [], ['mailqueue.capture_mail=On']);
echo $doctor('captured', [], ['mailqueue.capture_mail=On', "mailqueue.database=$app"]);
echo $doctor('captured', [], ['mailqueue.capture_mail=On', "mailqueue.database=sqlite:$app"]);
echo $doctor('captured', [], ['mailqueue.capture_mail=On', "mailqueue.database=$dir/other.sqlite"]);
?>
--EXPECT--
-- no transport
ok    no transport is set: php.ini's sendmail_path sends mail through %/keep
exit 0
mailqueue: 1 sent; nothing more is due.
-i -f me@example.org -- a@example.net
From: me@example.org
To: a@example.net
Subject: x

look  no transport is set: php.ini's sendmail_path names %/none, which does not exist -- Set MAILQUEUE_TRANSPORT to your relay, such as smtp://user:password@host:587, or install a program that sends and name it: sendmail://default?command=…
look  no transport is set: php.ini's sendmail_path names %/app.sqlite, which this user cannot run -- Set MAILQUEUE_TRANSPORT to your relay, such as smtp://user:password@host:587, or install a program that sends and name it: sendmail://default?command=…
look  no transport is set: php.ini's sendmail_path names sendmail, which is not an absolute path -- Set MAILQUEUE_TRANSPORT to your relay, such as smtp://user:password@host:587, or install a program that sends and name it: sendmail://default?command=…
look  no transport is set: php.ini's sendmail_path is empty -- Set MAILQUEUE_TRANSPORT to your relay, such as smtp://user:password@host:587, or install a program that sends and name it: sendmail://default?command=…
look  no transport is set: php.ini's sendmail_path leads back to this queue: mail would go round in circles, so it is refused -- Set MAILQUEUE_TRANSPORT to your relay, such as smtp://user:password@host:587, or install a program that sends and name it: sendmail://default?command=…
look  no transport is set: php.ini's sendmail_path leads back to this queue: mail would go round in circles, so it is refused -- Set MAILQUEUE_TRANSPORT to your relay, such as smtp://user:password@host:587, or install a program that sends and name it: sendmail://default?command=…
look  no transport is set: php.ini's sendmail_path leads back to this queue: mail would go round in circles, so it is refused -- Set MAILQUEUE_TRANSPORT to your relay, such as smtp://user:password@host:587, or install a program that sends and name it: sendmail://default?command=…
a loop: refused
-- a transport
ok    mail goes to smtp://me:***@mail.example.org:587
ok    mail goes to smtps://mail.example.org
ok    mail goes to smtp://me@[2001:db8::1]:25
ok    mail goes to null://null
ok    mail goes to file:///var/mail/out
ok    mail goes to failover(smtp://me:***@a smtp://b)
look  the transport cannot be used: what follows :// must be host, host:port or user:password@host:port, without path or fragment; the port is 1 to 65535, IPv6 is [2001:db8::1], non-ASCII hosts are A-labels (xn--...); in user and password write : / @ ? # % as %3A %2F %40 %3F %23 %25
look  the transport cannot be used: it does not begin with a scheme that is known; write smtp://user:password@host:587, smtps://user:password@host:465, lmtp:///run/dovecot/lmtp, sendmail://default, file:///directory, null://null, or a mail API's ses+https://, mailgun+https://, microsoftgraph+https:// or gmail+https://
look  the transport cannot be used: it does not begin with a scheme that is known; write smtp://user:password@host:587, smtps://user:password@host:465, lmtp:///run/dovecot/lmtp, sendmail://default, file:///directory, null://null, or a mail API's ses+https://, mailgun+https://, microsoftgraph+https:// or gmail+https://
look  the transport cannot be used: what follows :// must be host, host:port or user:password@host:port, without path or fragment; the port is 1 to 65535, IPv6 is [2001:db8::1], non-ASCII hosts are A-labels (xn--...); in user and password write : / @ ? # % as %3A %2F %40 %3F %23 %25
look  the transport cannot be used: what follows :// must be host, host:port or user:password@host:port, without path or fragment; the port is 1 to 65535, IPv6 is [2001:db8::1], non-ASCII hosts are A-labels (xn--...); in user and password write : / @ ? # % as %3A %2F %40 %3F %23 %25
look  the transport cannot be read
look  the transport cannot be read
look  the transport cannot be used: what follows :// must be host, host:port or user:password@host:port, without path or fragment; the port is 1 to 65535, IPv6 is [2001:db8::1], non-ASCII hosts are A-labels (xn--...); in user and password write : / @ ? # % as %3A %2F %40 %3F %23 %25
look  the transport cannot be used: what follows :// must be host, host:port or user:password@host:port, without path or fragment; the port is 1 to 65535, IPv6 is [2001:db8::1], non-ASCII hosts are A-labels (xn--...); in user and password write : / @ ? # % as %3A %2F %40 %3F %23 %25
look  the transport cannot be used: it does not begin with a scheme that is known; write smtp://user:password@host:587, smtps://user:password@host:465, lmtp:///run/dovecot/lmtp, sendmail://default, file:///directory, null://null, or a mail API's ses+https://, mailgun+https://, microsoftgraph+https:// or gmail+https://
look  the transport cannot be used: file:// takes a directory of this host; write file:///directory with three slashes, and "#" in it as %23
look  the transport cannot be used: it is not a group of relays; write failover(smtp://a smtp://b) or roundrobin(smtp://a smtp://b)?retry_period=60, with ( and ) in a user, password or command as %28 and %29
look  the transport cannot be used: it does not begin with a scheme that is known; write smtp://user:password@host:587, smtps://user:password@host:465, lmtp:///run/dovecot/lmtp, sendmail://default, file:///directory, null://null, or a mail API's ses+https://, mailgun+https://, microsoftgraph+https:// or gmail+https:// -- Write it as smtp://user:password@host:587, smtps://…, lmtp:///socket, sendmail://default, file:///directory or null://null, a mail API as ses+https://…, or several as failover(smtp://a smtp://b), with : / @ ? # in user and password percent-encoded (%3A %2F %40 %3F %23).
-- what work refuses, doctor does not call ok
look  the transport cannot be used: what follows :// must be host, host:port or user:password@host:port, without path or fragment; the port is 1 to 65535, IPv6 is [2001:db8::1], non-ASCII hosts are A-labels (xn--...); in user and password write : / @ ? # % as %3A %2F %40 %3F %23 %25
work: exit 78
look  the transport cannot be used: unknown option "foo"; smtp:// has tls, cafile, verify_peer, ehlo, source_ip, family, proxy, pipelining, connect_timeout, command_timeout, data_timeout, block_timeout, final_timeout, idle_timeout, max_mails, auth, account, connections
work: exit 78
look  the transport cannot be used: option tls must be auto, none or required
work: exit 78
look  the transport cannot be used: unknown option "x"; null:// has tls, cafile, verify_peer, ehlo, source_ip, family, proxy, pipelining, connect_timeout, command_timeout, data_timeout, block_timeout, final_timeout, idle_timeout, max_mails, auth, account, connections
work: exit 78
look  the lease must be longer than the transport waits for the reply to the final dot (1000 seconds): raise it, or lower final_timeout in the DSN
work: exit 78
look  the lease must be longer than the transport waits for the reply to the final dot (1000 seconds): raise it, or lower final_timeout in the DSN
work: exit 78
-- a password
64  mailqueue: No password in --transport: every user of this machine can read it there (ps). Set MAILQUEUE_TRANSPORT, mailqueue.transport in php.ini, or 'transport' in a bootstrap file.
64  mailqueue: No password in --transport: every user of this machine can read it there (ps). Set MAILQUEUE_TRANSPORT, mailqueue.transport in php.ini, or 'transport' in a bootstrap file.
refused
refused
refused
refused
refused
refused
refused
refused
refused
not refused
not refused
not refused
not refused
look  the transport's password goes out with tls=none: others on the way can read it -- Remove tls=none; for a certificate of your own give cafile=/path/to/ca.pem.
look  the transport's password goes out with verify_peer=0: others on the way can read it -- Remove verify_peer=0; for a certificate of your own give cafile=/path/to/ca.pem.
nothing
nothing
ok    mail goes to smtp://h
ok    the transport's command sends mail through %/keep
ok    mail goes through the function of the bootstrap file
-- keys
none: exit 0, signed by none
an option: exit 0, signed by a
two: exit 0, signed by a b
the environment: exit 0, signed by a b
php.ini: exit 0, signed by b
the option comes first: exit 0, signed by a
bootstrap: exit 0, signed by a b
the option comes first: exit 0, signed by a
bootstrap, a string: exit 0, signed by b
exit 78 mailqueue: Bootstrap file %/c.php: "dkim" is of the wrong type array.
ok    DKIM key example.org:a is there and private
ok    DKIM key example.org:b is there and private
look  DKIM key example.org:b names a file with mode 0644 -- Others can sign as example.org, and the worker refuses it:
look  DKIM key example.org:c names a file that does not exist or cannot be reached -- To make a key, as the user of the cron job:
look  DKIM key example.org:d names a file that is not a private key in PEM form -- Give the file of the private key, not that of the public one.
look  DKIM key example.org: is not DOMAIN:SELECTOR:/path/key.pem -- Write it so.
look  DKIM key x:y is not DOMAIN:SELECTOR:/path/key.pem -- Write it so.
look  DKIM key example.org:e names a file that belongs to somebody else -- The worker refuses it: chown it to the user of the cron job, chmod 600 %/theirs.pem
and work: exit 78, names the file
-- capture_mail

look  mail() is captured, but mailqueue.database is not set -- Let mailqueue.database in php.ini name the file that the worker empties: %/app.sqlite
ok    mail() is captured
ok    mail() is captured
look  mail() is captured, into %/other.sqlite, and this looks at %/app.sqlite -- Let mailqueue.database in php.ini name the file that the worker empties: %/app.sqlite
