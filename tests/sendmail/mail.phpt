--TEST--
PHP's mail() with sendmail_path = mailqueue sendmail: the worker delivers the bytes that sendmail would have got, without Bcc
--EXTENSIONS--
mailqueue
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/servers.inc';
echo MailQueueTest\missing('/usr/bin/make');
?>
--FILE--
<?php
require __DIR__ . '/sendmail.inc';
require __DIR__ . '/../lib/servers.inc';

$dir = temp_directory();
$app = "$dir/app.sqlite";
$queue = new MailQueue($app);
$queue->stats();
$calls = <<<'PHP'
    $sent = [
        mail('ann@example.net', 'plain', "Hello,\n\n.\n..\n.x\nend\n"),
        mail('Ann <ann@example.net>, "Bob, B" <bob@example.net>', 'headers', "one\r\ntwo\r\n", "From: Shop <shop@example.org>\r\nBcc: secret@example.net\r\nX-Test: 1"),
        mail('ann@example.net', 'array', "a\nb", ['From' => 'shop@example.org', 'Cc' => 'c@example.net', 'BCC' => 'secret@example.net', 'X-Long' => str_repeat('word ', 40) . "\r\n folded"]),
        mail('ann@example.net', '=?UTF-8?B?R3LDvMOfZQ==?=', "Grüße, Zoë ✓\n", "From: =?UTF-8?Q?Zo=C3=AB?= <zoe@example.org>\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit"),
        mail('ann@example.net', 'sender', "hi\n", "From: shop@example.org", '-fbounces@example.org'),
        mail('ann@example.net', 'long', str_repeat(str_repeat('x', 76) . "\n", 20000), 'From: shop@example.org'),
        @mail('ann@@example.net', 'refused', "hi\n", 'From: shop@example.org'),
    ];
    echo json_encode($sent), "\n";
    PHP;
$run = static function (string $program) use ($calls): array {
    return run_with_input(php_command('-d', "sendmail_path=$program", '-d', 'mail.add_x_header=0', '-r', $calls), '', []);
};

// The mail as sendmail would have got it, in order.
mkdir("$dir/direct");
$direct = "n=\$(ls $dir/direct | wc -l); exec cat > $dir/direct/\$n";
file_put_contents("$dir/direct.sh", "#!/bin/sh\n$direct\n");
chmod("$dir/direct.sh", 0700);
echo 'direct: ', implode(' ', $run("$dir/direct.sh -t -i"));
$words = implode(' ', array_map(escapeshellarg(...), sendmail_command(["--database=$app", '-t', '-i'])));
echo 'queued: ', str_replace($app, 'APP', implode(' ', $run($words)));

$envelopes = array_map(static fn(MailQueue\Job $job): string => str_replace([posix_getpwuid(posix_getuid())['name'] . '@' . this_host()], ['USER@HOST'], "$job->envelopeFrom -> " . implode(' ', $job->recipients)), $queue->jobs());
echo implode("\n", $envelopes), "\n";

$sink = new MailQueueTest\Sink();
$report = $queue->runWorker("smtp://127.0.0.1:$sink->port", connections: 1, log: '');
$sink->stop();
echo "$report->sent sent, ", count($sink->violations()), " violations\n";
foreach ($sink->saved() as $i => $got) {
    $wanted = preg_replace('/\r\n|\r|\n/', "\r\n", file_get_contents("$dir/direct/$i"));
    [$header, $body] = explode("\r\n\r\n", $wanted, 2);
    $header = preg_replace('/^Bcc:.*(?:\r\n[ \t].*)*\r?\n?/mi', '', "$header\r\n");
    // The lines that the queue adds.
    $rest = preg_replace('/^(?:Date|Message-ID|From): .*\r\n/m', '', strstr($got, "\r\n\r\n", true) . "\r\n", -1, $added);
    $same = $rest === preg_replace('/^From: .*\r\n/m', '', $header) && explode("\r\n\r\n", $got, 2)[1] === $body;
    preg_match('/^From: (.*)\r$/m', $got, $from);
    echo "$i: ", $same ? 'the same bytes' : "not the same:\n$wanted\n---\n$got", ', from ', str_replace(posix_getpwuid(posix_getuid())['name'] . '@' . this_host(), 'USER@HOST', $from[1]), "\n";
}
?>
--EXPECT--
direct: 0 [true,true,true,true,true,true,true]
 queued: 0 [true,true,true,true,true,true,false]
 mailqueue: To: the address "ann@@example.net" has a character that is not allowed in a domain; use letters, digits, "-" and "." only
USER@HOST -> ann@example.net
shop@example.org -> ann@example.net bob@example.net secret@example.net
shop@example.org -> ann@example.net c@example.net secret@example.net
zoe@example.org -> ann@example.net
bounces@example.org -> ann@example.net
shop@example.org -> ann@example.net
6 sent, 0 violations
0: the same bytes, from Tester <USER@HOST>
1: the same bytes, from Shop <shop@example.org>
2: the same bytes, from shop@example.org
3: the same bytes, from =?UTF-8?Q?Zo=C3=AB?= <zoe@example.org>
4: the same bytes, from shop@example.org
5: the same bytes, from shop@example.org
