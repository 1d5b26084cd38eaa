--TEST--
mailqueue sendmail -bs: Python's smtplib sends through it; each command; dots; only CRLF dot CRLF ends a message
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/servers.inc';
echo MailQueueTest\missing('/usr/bin/python3');
?>
--FILE--
<?php
require __DIR__ . '/sendmail.inc';
require __DIR__ . '/../lib/servers.inc';

$dir = temp_directory();
$app = "$dir/app.sqlite";
$queue = new MailQueue($app);
$queue->stats();
$environment = ['MAILQUEUE_DATABASE' => $app];
$host = this_host();
$last = 0;
/** A whole session at once: the replies without the greeting, and the queued mail. */
$talk = static function (string $input, array $ini = [], string ...$options) use ($queue, $environment, $host, &$last): void {
    [$code, $output, $errors] = sendmail([...$options, '-bs'], $input, $environment, $ini);
    $output = str_replace([$host, "\r\n"], ['HOST', "\n"], preg_replace('/\A220 \S+ ESMTP mailqueue\r\n/', '', $output, 1, $greeted));
    static $hello = 'not said yet';
    echo $code === 0 ? '' : 'exit ' . str_replace(dirname($environment['MAILQUEUE_DATABASE']), '%', "$code $errors"), str_replace($hello, "250-…\n", $output), $greeted ? '' : "no greeting\n";
    preg_match('/\A(?:250-.*\n)+250 .*\n/', $output, $match) && $hello = $match[0]; // shown once
    echo ($new = envelope_of($queue, $last)) === '' ? '' : "$new\n";
    foreach ($queue->jobs(after: $last, limit: 100) as $job) {
        echo '| ', strtr(preg_replace('/^(Date|Message-ID): .*\r\n/m', '', stored($queue, $last = $job->id)), ["\n" => "\n| "]), "\n";
    }
};
$mail = "EHLO x\r\nMAIL FROM:<me@example.org>\r\nRCPT TO:<a@example.net>\r\nDATA\r\n";
$head = "From: me@example.org\r\nSubject: x\r\n\r\n";

echo "-- smtplib\n";
// Only PHP runs under the sanitizer.
$command = sendmail_command(['-bs']);
foreach (sanitizer_environment() as $name => $value) {
    array_unshift($command, "$name=$value");
}
$without = array_fill_keys(array_keys(sanitizer_environment()), '');
$run = run_with_input(['/usr/bin/python3', __DIR__ . '/smtp_client.py', 'env', ...$command], '', $environment + $without);
echo "exit $run[0] $run[2]\n$run[1]";
foreach ([1, 2, 3] as $id) {
    $job = $queue->job($id);
    echo $job->envelopeFrom, ' -> ', implode(' ', $job->recipients), ': ', preg_replace('/.*\r\n\r\n/sA', '', $job->message);
}
echo preg_match('/^Bcc|secret/mi', $queue->job(1)->message), ' ', count($queue->jobs(limit: 100)), " queued\n";
$last = 53;

echo "-- a session\n";
$talk("EHLO x\r\nQUIT\r\n");
$talk("HELO x\r\nMAIL FROM:<me@example.org>\r\nRCPT TO:<a@example.net>\r\nRCPT TO:<postmaster>\r\nDATA\r\n{$head}hi\r\n.\r\nQUIT\r\n");
$talk("{$mail}{$head}one\r\n.\r\nMAIL FROM:<>\r\nRCPT TO:<b@example.net>\r\nDATA\r\nSubject: two\r\n\r\ntwo\r\n.\r\n");
$talk("{$mail}.\r\nQUIT\r\n");
$talk("{$mail}..\r\n...\r\n. \r\n.x\r\n.\r\nQUIT\r\n");
$talk(str_replace("\r\n", "\n", "EHLO x\r\nRSET\r\nQUIT\r\n"));

echo "-- order and syntax\n";
$talk(implode("\r\n", ['MAIL FROM:<a@example.org>', 'RCPT TO:<a@example.net>', 'DATA', 'EHLO', 'HELO', 'EHLO x', 'DATA', 'RCPT TO:<a@example.net>',
    'mail from:<a@example.org> size=1000 body=8bitmime', 'MAIL FROM:<b@example.org>', 'DATA', 'RCPT TO:a@example.net', 'RCPT TO:<>',
    'RCPT TO:<a b@example.net>', 'rcpt to: <a@example.net>', 'DATA now', 'RSET', 'DATA', 'QUIT', 'NOOP', '']));
$talk(implode("\r\n", ['EHLO x', 'MAIL FROM:<@relay.example.org:a@example.org>', 'MAIL FROM:<"a"@example.org>', 'MAIL FROM:a@example.org', 'MAIL FROM:<a@example.org> RET=HDRS',
    'MAIL FROM:<a@example.org> BODY=BINARYMIME', 'MAIL FROM:<a@example.org> SIZE=1x', "MAIL FROM:<z\u{eb}@example.org>", "MAIL FROM:<z\u{eb}@example.org> SMTPUTF8",
    "RCPT TO:<\u{142}@example.net>", 'RCPT TO:<a@example.net> NOTIFY=NEVER', 'RCPT TO:<a@example.net>,<b@example.net>', 'RCPT TO:<a,b@example.net>', 'VRFY a', 'HELP', 'NOOP x', '']));
$talk("EHLO x\r\nEXPN list\r\nSTARTTLS\r\nAUTH PLAIN x\r\n\r\nquit\r\n");
$talk(str_repeat("NONSENSE\r\n", 30));
$talk('NOOP ' . str_repeat('x', 100_000) . "\r\nQUIT\r\n");
$talk("EHLO x\r\nMAIL FROM:<me@example.org>\r\n" . implode('', array_map(static fn(int $i): string => "RCPT TO:<p$i@example.net>\r\n", range(1, 3))) . "QUIT\r\n");

echo "-- smuggling\n";
foreach (["\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r", "\r\n.\r", "\r.\r\n", "\n.\r", "\r\n\0.\r\n"] as $end) {
    $talk("{$mail}{$head}one{$end}MAIL FROM:<evil@example.org>\r\nRCPT TO:<evil@example.net>\r\nDATA\r\n.\r\nQUIT\r\n");
}

// The end is found, wherever the blocks that are read end.
$command = implode(' ', array_map(escapeshellarg(...), sendmail_command(['-bs'])));
$found = [];
for ($i = 0; $i <= 5; $i++) {
    $body = substr(str_repeat("0123456789abcd\r\n", 4096), strlen($mail . $head) + $i);
    file_put_contents(temp_home() . '/session', "$mail$head$body.\r\nQUIT\r\n");
    [$code, $output] = run_with_input(['sh', '-c', "exec $command < session"], '', $environment);
    $text = $queue->job(++$last)->message;
    $found[] = str_ends_with($output, "goodbye\r\n") ? strlen(substr($text, strpos($text, "\r\n\r\n") + 4)) - strlen($body) : $output;
}
echo implode(' ', $found), "\n";

echo "-- limits\n";
$talk("{$mail}{$head}" . str_repeat(str_repeat('x', 70) . "\r\n", 20_000) . ".\r\nMAIL FROM:<me@example.org> SIZE=99999\r\nMAIL FROM:<me@example.org> SIZE=9999\r\nQUIT\r\n", ['mailqueue.max_message_size=10000']);
$many = implode('', array_map(static fn(int $i): string => "RCPT TO:<p$i@example.net>\r\n", range(1, 10_001)));
$output = sendmail(['-bs'], "EHLO x\r\nMAIL FROM:<me@example.org>\r\n{$many}DATA\r\n{$head}hi\r\n.\r\nQUIT\r\n", $environment)[1];
echo substr_count($output, '250 2.1.5'), ' ', preg_match('/^452 4.5.3 .*$/m', $output, $match) ? rtrim($match[0]) : '', ' ', count($queue->jobs(after: $last)[0]->recipients), "\n";
$queue->delete([++$last]);

echo "-- the client goes away\n";
$talk('');
$talk("EHLO x\r\nMAIL FROM:<me@example.org>\r\n");
$talk("{$mail}{$head}hi\r\n");
$talk("{$mail}{$head}hi\r\n.");
$process = proc_open(sendmail_command(['--timeout=1', '-bs']), [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes, '/', $environment + ['PATH' => getenv('PATH')] + sanitizer_environment());
@fwrite($pipes[0], "{$mail}{$head}hi\r\n"); // its timeout may have passed already
echo 'silent: ', preg_replace('/.*\n(?=.*\n\z)/s', '', stream_get_contents($pipes[1])), stream_get_contents($pipes[2]), 'exit ', proc_close($process), "\n";

// A non-blocking socket without input has not ended.
$streams = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
stream_set_blocking($streams[1], false);
$process = proc_open(sendmail_command(['-bs']), [$streams[1], ['file', temp_home() . '/said', 'w'], ['file', '/dev/null', 'w']], $pipes, '/', $environment + ['PATH' => getenv('PATH')] + sanitizer_environment());
foreach ([$mail, "{$head}one\r\n", "two\r\n.\r\n", "QUIT\r\n"] as $part) {
    @fwrite($streams[0], $part);
    usleep(300_000);
    stream_set_blocking($streams[1], false);
}
fclose($streams[1]);
fclose($streams[0]);
echo 'in parts: exit ', proc_close($process), ' ', preg_match('/queued as (\d+)/', file_get_contents(temp_home() . '/said'), $match) ? str_replace("\r\n", ' ', strstr($queue->job((int) $match[1])->message, 'one')) : 'not queued', "\n";
$queue->delete([(int) ($match[1] ?? 0)]);

echo "-- the store\n";
$pdo = new PDO("sqlite:$app");
$streams = [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']];
$process = proc_open(sendmail_command(["--database=$app", '-bs']), $streams, $pipes, '/', ['PATH' => getenv('PATH')] + sanitizer_environment());
$until = static function (string $start) use ($pipes): string {
    while (($line = fgets($pipes[1])) !== false && !str_starts_with($line, $start)) {
    }
    return (string) $line;
};
$pdo->exec('BEGIN IMMEDIATE');
fwrite($pipes[0], "{$mail}{$head}busy\r\n.\r\n");
echo 'busy: ', $until('451');
$pdo->exec('ROLLBACK');
fwrite($pipes[0], substr($mail, 8) . "{$head}free\r\n.\r\nQUIT\r\n");
echo 'free: ', preg_replace('/\d+$/m', 'N', $until('250 2.0.0'));
echo stream_get_contents($pipes[1]) === "221 2.0.0 $host goodbye\r\n" ? 'goodbye' : 'no goodbye', ', ', str_contains(stream_get_contents($pipes[2]), 'holds the write lock') ? 'says why' : 'does not say why', ', exit ', proc_close($process), "\n";
$talk("QUIT\r\n", [], "--database=$dir/none.sqlite");

echo "-- delivered\n";
$count = count($queue->jobs(limit: 1000));
$sink = new MailQueueTest\Sink();
$report = $queue->runWorker("smtp://127.0.0.1:$sink->port", connections: 1, log: '');
$sink->stop();
echo $report->sent === $count && count($sink->saved()) === $count ? 'as many as were queued' : "$report->sent of $count, " . count($sink->saved()),
    ', ', implode($sink->violations()) ?: 'no violations', ', ', count(preg_grep('/evil/', array_column($sink->accepted(), 'to'))), " smuggled\n";
?>
--EXPECT--
-- smtplib
exit 0 
250 8bitmime enhancedstatuscodes pipelining size smtputf8
refused: {}
refused: {'a@@b': (553, b'5.1.3 the address "a@@b" has a character that is not allowed in a domain; use letters, digits, "-" and "." only')}
all refused: 553
message refused: 554
too large: 552
refused: {}
252 250 250 214
221 0
zoe@example.org -> ann@example.net bob@example.net secret@example.net: .dot
..dots
.
end
zoe@example.org -> ann@example.net: hi
zoë@example.org -> ann@example.net bob@example.net secret@example.net: hi Zoë
0 53 queued
-- a session
250-HOST
250-PIPELINING
250-SIZE 26214400
250-8BITMIME
250-ENHANCEDSTATUSCODES
250 SMTPUTF8
221 2.0.0 HOST goodbye
250 HOST
250 2.1.0 sender taken
250 2.1.5 recipient taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
250 2.0.0 queued as 54
221 2.0.0 HOST goodbye
me@example.org -> a@example.net postmaster@HOST
| From: me@example.org
| Subject: x
| Date: NOW
| Message-ID: NEW
| 
| hi
| 
250-…
250 2.1.0 sender taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
250 2.0.0 queued as 55
250 2.1.0 sender taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
250 2.0.0 queued as 56
me@example.org -> a@example.net
<> -> b@example.net
| From: me@example.org
| Subject: x
| Date: NOW
| Message-ID: NEW
| 
| one
| 
| From: USER@HOST
| Subject: two
| Date: NOW
| Message-ID: NEW
| 
| two
| 
250-…
250 2.1.0 sender taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
250 2.0.0 queued as 57
221 2.0.0 HOST goodbye
me@example.org -> a@example.net
| From: me@example.org
| Date: NOW
| Message-ID: NEW
| 
| 
250-…
250 2.1.0 sender taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
250 2.0.0 queued as 58
221 2.0.0 HOST goodbye
me@example.org -> a@example.net
| From: me@example.org
| Date: NOW
| Message-ID: NEW
| 
| .
| ..
|  
| x
| 
250-…
250 2.0.0 forgotten
221 2.0.0 HOST goodbye
-- order and syntax
503 5.5.1 say EHLO or HELO first
503 5.5.1 MAIL comes first
503 5.5.1 MAIL and RCPT come first
501 5.5.4 a name is missing: EHLO host.example.org
501 5.5.4 a name is missing: EHLO host.example.org
250-…
503 5.5.1 MAIL and RCPT come first
503 5.5.1 MAIL comes first
250 2.1.0 sender taken
503 5.5.1 a sender was given already; RSET forgets it
554 5.5.1 there is no recipient
501 5.5.4 write RCPT TO:<address>
501 5.5.4 write RCPT TO:<address>
501 5.5.4 write RCPT TO:<address>
250 2.1.5 recipient taken
501 5.5.4 DATA takes nothing
250 2.0.0 forgotten
503 5.5.1 MAIL and RCPT come first
221 2.0.0 HOST goodbye
250-…
501 5.1.7 the address "<@relay.example.org:a@example.org>" has a source route; remove all up to the ":"
501 5.1.7 the address ""a"@example.org" has a quoted local part, which is not supported; use another address
501 5.5.4 write MAIL FROM:<address>
555 5.5.4 the parameter RET=HDRS is not supported
555 5.5.4 the parameter BODY=BINARYMIME is not supported
555 5.5.4 the parameter SIZE=1x is not supported
553 5.6.7 the address needs SMTPUTF8 at MAIL
250 2.1.0 sender taken
250 2.1.5 recipient taken
555 5.5.4 the parameter NOTIFY=NEVER is not supported
555 5.5.4 the parameter ,<b@example.net> is not supported
553 5.1.3 the address "a@HOST,b@example.net" has a character that is not allowed in a domain; use letters, digits, "-" and "." only
252 2.0.0 send mail and see
214 2.0.0 EHLO HELO MAIL RCPT DATA RSET NOOP VRFY HELP QUIT
250 2.0.0 ok
250-…
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
221 2.0.0 HOST goodbye
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
500 5.5.2 there is no such command
421 4.7.0 too many errors
500 5.5.2 the line is too long
221 2.0.0 HOST goodbye
250-…
250 2.1.0 sender taken
250 2.1.5 recipient taken
250 2.1.5 recipient taken
250 2.1.5 recipient taken
221 2.0.0 HOST goodbye
-- smuggling
250-…
250 2.1.0 sender taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
250 2.0.0 queued as 59
221 2.0.0 HOST goodbye
me@example.org -> a@example.net
| From: me@example.org
| Subject: x
| Date: NOW
| Message-ID: NEW
| 
| one
| .
| MAIL FROM:<evil@example.org>
| RCPT TO:<evil@example.net>
| DATA
| 
250-…
250 2.1.0 sender taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
250 2.0.0 queued as 60
221 2.0.0 HOST goodbye
me@example.org -> a@example.net
| From: me@example.org
| Subject: x
| Date: NOW
| Message-ID: NEW
| 
| one
| .
| MAIL FROM:<evil@example.org>
| RCPT TO:<evil@example.net>
| DATA
| 
250-…
250 2.1.0 sender taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
250 2.0.0 queued as 61
221 2.0.0 HOST goodbye
me@example.org -> a@example.net
| From: me@example.org
| Subject: x
| Date: NOW
| Message-ID: NEW
| 
| one
| 
| MAIL FROM:<evil@example.org>
| RCPT TO:<evil@example.net>
| DATA
| 
250-…
250 2.1.0 sender taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
250 2.0.0 queued as 62
221 2.0.0 HOST goodbye
me@example.org -> a@example.net
| From: me@example.org
| Subject: x
| Date: NOW
| Message-ID: NEW
| 
| one
| .
| MAIL FROM:<evil@example.org>
| RCPT TO:<evil@example.net>
| DATA
| 
250-…
250 2.1.0 sender taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
250 2.0.0 queued as 63
221 2.0.0 HOST goodbye
me@example.org -> a@example.net
| From: me@example.org
| Subject: x
| Date: NOW
| Message-ID: NEW
| 
| one
| 
| MAIL FROM:<evil@example.org>
| RCPT TO:<evil@example.net>
| DATA
| 
250-…
250 2.1.0 sender taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
250 2.0.0 queued as 64
221 2.0.0 HOST goodbye
me@example.org -> a@example.net
| From: me@example.org
| Subject: x
| Date: NOW
| Message-ID: NEW
| 
| one
| .
| MAIL FROM:<evil@example.org>
| RCPT TO:<evil@example.net>
| DATA
| 
250-…
250 2.1.0 sender taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
250 2.0.0 queued as 65
221 2.0.0 HOST goodbye
me@example.org -> a@example.net
| From: me@example.org
| Subject: x
| Date: NOW
| Message-ID: NEW
| 
| one
| .
| MAIL FROM:<evil@example.org>
| RCPT TO:<evil@example.net>
| DATA
| 
250-…
250 2.1.0 sender taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
554 5.6.0 message: line 5: it has a NUL; encode the part as base64
221 2.0.0 HOST goodbye
0 0 0 0 0 0
-- limits
250-HOST
250-PIPELINING
250-SIZE 10000
250-8BITMIME
250-ENHANCEDSTATUSCODES
250 SMTPUTF8
250 2.1.0 sender taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
552 5.3.4 at most 10000 bytes are taken
552 5.3.4 at most 10000 bytes are taken
250 2.1.0 sender taken
221 2.0.0 HOST goodbye
10000 452 4.5.3 at most 10000 recipients are taken 10000
-- the client goes away
250-HOST
250-PIPELINING
250-SIZE 26214400
250-8BITMIME
250-ENHANCEDSTATUSCODES
250 SMTPUTF8
250 2.1.0 sender taken
exit 65 mailqueue: sendmail -bs: the client left in the middle of a message; nothing of it was queued.
250-…
250 2.1.0 sender taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
exit 65 mailqueue: sendmail -bs: the client left in the middle of a message; nothing of it was queued.
250-…
250 2.1.0 sender taken
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
silent: 421 4.4.2 nothing came for 1 s
mailqueue: sendmail -bs: the client said nothing for 1 s.
exit 75
in parts: exit 0 one two 
-- the store
busy: 451 4.3.0 try again later
free: 250 2.0.0 queued as 74
goodbye, says why, exit 0
exit 73 mailqueue: There is no database %/none.sqlite, or this user cannot reach it. Check the path; mailqueue migrate creates it.
421 4.3.0 HOST cannot take mail now
no greeting
me@example.org -> a@example.net
| From: me@example.org
| Subject: x
| Date: NOW
| Message-ID: NEW
| 
| free
| 
-- delivered
as many as were queued, no violations, 0 smuggled
