--TEST--
mailqueue sendmail and unusual messages: line ends, a dot, NUL, no From, no header, too large, no input
--EXTENSIONS--
mailqueue
posix
--FILE--
<?php
require __DIR__ . '/sendmail.inc';

$queue = new MailQueue($database = database());
$last = 0;
$try = static function (string $what, array $arguments, string $input, array $environment = [], array $ini = []) use ($queue, $database, &$last): void {
    [$code, $output, $errors] = sendmail($arguments, $input, ['MAILQUEUE_DATABASE' => $database] + $environment, $ini);
    echo "## $what: ", $code === 0 ? '' : "exit $code ", $output, $errors;
    foreach ($queue->jobs(after: $last) as $job) {
        echo "\n", stored($queue, $last = $job->id);
    }
};
$to = ['a@example.net'];
$head = "From: me@example.org\nTo: a@example.net\nDate: Sat, 21 Nov 2026 10:00:00 +0000\nMessage-ID: <1@example.org>\nSubject: x\n";

echo "-- the end\n";
$try('a dot', $to, "$head\none\n.\ntwo\n");
$try('a dot, CRLF', $to, str_replace("\n", "\r\n", "$head\none\n.\ntwo\n"));
$try('a dot with -i', ['-i', ...$to], "$head\none\n.\ntwo\n");
$try('a dot with -oi', ['-oi', ...$to], "$head\none\n.\n");
$try('a dot at the very end', $to, "$head\none\n.");
$try('two dots, and more', $to, "$head\n..\n. \n.x\nx.\n .\n");
$try('a dot in the header', $to, "$head.\nSubject: y\n");
$try('no line end', $to, "$head\none");

// The end is found, wherever the blocks that are read end.
$command = implode(' ', array_map(escapeshellarg(...), sendmail_command($to)));
foreach (["\n.\n", "\r\n.\r\n", "x.\n", ".\n.\r\n"] as $end) {
    $found = [];
    for ($i = 0; $i <= strlen($end); $i++) {
        $body = substr(str_repeat("0123456789abcde\n", 4096), strlen("$head\n") + $i);
        file_put_contents(temp_home() . '/message', "$head\n$body{$end}lost\n");
        run_with_input(['sh', '-c', "exec $command < message"], '', ['MAILQUEUE_DATABASE' => $database]);
        $text = stored($queue, ++$last);
        $found[] = strlen(substr($text, strpos($text, "\n\n") + 2)) - strlen($body);
    }
    echo json_encode($end), ': ', implode(' ', $found), "\n";
}

echo "-- line ends\n";
$try('CRLF', $to, str_replace("\n", "\r\n", "$head\none\n"));
$try('CR', $to, str_replace("\n", "\r", "$head\none\n"));
$try('mixed', $to, str_replace("\n", "\r\n", $head) . "\none\ntwo\r\n");
$try('a CR in the header', $to, "Subject: a\rb\n$head\n");

echo "-- made complete\n";
$try('nothing', $to, '');
$try('text only', $to, "Hello Ann,\n\nhi\n");
$try('text after the header', $to, "$head" . "Hello Ann\n");
$try('an empty line first', $to, "\nHello: Ann\n");
$try('no From', $to, "Subject: x\n\nhi\n");
$try('no From, CRLF', $to, "Subject: x\r\n\r\nhi\r\n");
$try('a sender', ['-f', 's@example.org', ...$to], "Subject: x\n\nhi\n");
$try('no sender', ['-f', '', ...$to], "Subject: x\n\nhi\n");
foreach (['Ann Smith', 'Smith, "Ann" J.', 'Zoë Łukasz-Müller von und zu Großenkneten', '', "a\nBcc: x@example.net", "\xff"] as $name) {
    $try("-F '" . addcslashes($name, "\n\xff") . "'", ['-F', $name, ...$to], "Subject: x\n\nhi\n");
}
$try('NAME', $to, "Subject: x\n\nhi\n", ['NAME' => 'Cron Daemon']);
$try('the line of a mailbox file', $to, "From me@example.org  Sat Nov 21 10:00:00 2026\n>From x\n$head\nFrom here\n");

echo "-- refused\n";
$try('NUL', $to, "$head\na\0b\n");
$signed = "DKIM-Signature: v=1\n$head";
$try('a long line, signed', $to, "$signed\n" . str_repeat('x', 999) . "\n");
$try('Latin-1, signed', $to, "{$signed}X-A: \xfc\n\nhi\n");
$try('a line that is not a field', $to, "Subject: x\nX : y\nno field: \n\nhi\n");
$try('Latin-1, signed, after a line of a mailbox file', $to, "From me\n{$signed}X-A: \xfc\n\nhi\n");
$try('too large', $to, "$head\n" . str_repeat("0123456789\n", 200_000), [], ['mailqueue.max_message_size=1M']);
$try('a little too large', $to, "$head\n" . str_repeat("0123456789\n", 100_000), [], ['mailqueue.max_message_size=1M']);
$try('too many fields', $to, str_repeat("To: a@example.net\n", 10_001));
$bcc = 'Bcc: ' . implode(",\n ", array_map(static fn(int $i): string => "person$i@example.net", range(1, 50_000))) . "\n";
$try('too many recipients', ['-t'], "{$bcc}Subject: x\n\nhi\n", [], ['mailqueue.max_message_size=1M']);

echo "-- large\n";
$body = str_repeat(str_repeat('0123456789', 7) . "\n", 280_000);
[$code, , $errors] = sendmail($to, "$head\n$body.\nlost", ['MAILQUEUE_DATABASE' => $database], ['memory_limit=32M']);
$message = $queue->job($last + 1)?->message;
echo "exit $code$errors, ", substr($message, -(strlen($body) + 280_000)) === str_replace("\n", "\r\n", $body) ? 'all of it' : 'not all', "\n";
echo preg_replace('/\d+ bytes/', 'N bytes', sendmail($to, "$head\n$body$body", ['MAILQUEUE_DATABASE' => $database])[2]);

echo "-- no input\n";
$command = implode(' ', array_map(escapeshellarg(...), sendmail_command($to)));
foreach (['<&-', '<&- >&- 2>/dev/null', '</'] as $redirection) {
    [$code, , $errors] = run_with_input(['sh', '-c', "exec $command $redirection"], '', ['MAILQUEUE_DATABASE' => $database]);
    echo "$redirection: exit $code $errors\n";
}

echo "-- input that does not block\n";
$streams = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
stream_set_blocking($streams[1], false); // of the socket, so of the command's standard input too
$process = proc_open(sendmail_command(['-i', ...$to]), [$streams[1], ['file', '/dev/null', 'w'], ['file', temp_home() . '/said', 'w']], $pipes, temp_home(),
    ['PATH' => getenv('PATH'), 'HOME' => temp_home(), 'MAILQUEUE_DATABASE' => $database] + sanitizer_environment());
foreach (["$head\none\n", "two\n", "three\n"] as $part) {
    @fwrite($streams[0], $part);
    usleep(500_000);
    stream_set_blocking($streams[1], false); // as another process that has the socket may do at any time
}
stream_socket_shutdown($streams[0], STREAM_SHUT_WR); // the command has this end too, so closing is not enough
echo 'exit ', proc_close($process), ' ', file_get_contents(temp_home() . '/said'), strstr($queue->job($queue->jobs(after: $last + 1)[0]->id)->message, 'one'), "\n";
?>
--EXPECT--
-- the end
## a dot: 
From: me@example.org
To: a@example.net
Date: NOW
Message-ID: <1@example.org>
Subject: x

one
## a dot, CRLF: 
From: me@example.org
To: a@example.net
Date: NOW
Message-ID: <1@example.org>
Subject: x

one
## a dot with -i: 
From: me@example.org
To: a@example.net
Date: NOW
Message-ID: <1@example.org>
Subject: x

one
.
two
## a dot with -oi: 
From: me@example.org
To: a@example.net
Date: NOW
Message-ID: <1@example.org>
Subject: x

one
.
## a dot at the very end: 
From: me@example.org
To: a@example.net
Date: NOW
Message-ID: <1@example.org>
Subject: x

one
## two dots, and more: 
From: me@example.org
To: a@example.net
Date: NOW
Message-ID: <1@example.org>
Subject: x

..
. 
.x
x.
 .
## a dot in the header: 
From: me@example.org
To: a@example.net
Date: NOW
Message-ID: <1@example.org>
Subject: x

## no line end: 
From: me@example.org
To: a@example.net
Date: NOW
Message-ID: <1@example.org>
Subject: x

one
"\n.\n": 1 1 1 1
"\r\n.\r\n": 1 1 1 1 1 1
"x.\n": 8 8 8 8
".\n.\r\n": 0 0 0 0 0 0
-- line ends
## CRLF: 
From: me@example.org
To: a@example.net
Date: NOW
Message-ID: <1@example.org>
Subject: x

one
## CR: 
From: me@example.org
To: a@example.net
Date: NOW
Message-ID: <1@example.org>
Subject: x

one
## mixed: 
From: me@example.org
To: a@example.net
Date: NOW
Message-ID: <1@example.org>
Subject: x

one
two
## a CR in the header: exit 65 mailqueue: message: line 1: a CR in the headers is not followed by LF; end lines with CRLF
-- made complete
## nothing: 
From: Tester <USER@HOST>
Date: NOW
Message-ID: NEW

## text only: 
From: Tester <USER@HOST>
Date: NOW
Message-ID: NEW

Hello Ann,

hi
## text after the header: 
From: me@example.org
To: a@example.net
Date: NOW
Message-ID: <1@example.org>
Subject: x

Hello Ann
## an empty line first: 
From: Tester <USER@HOST>
Date: NOW
Message-ID: NEW

Hello: Ann
## no From: 
From: Tester <USER@HOST>
Subject: x
Date: NOW
Message-ID: NEW

hi
## no From, CRLF: 
From: Tester <USER@HOST>
Subject: x
Date: NOW
Message-ID: NEW

hi
## a sender: 
From: Tester <s@example.org>
Subject: x
Date: NOW
Message-ID: NEW

hi
## no sender: 
From: Tester <USER@HOST>
Subject: x
Date: NOW
Message-ID: NEW

hi
## -F 'Ann Smith': 
From: Ann Smith <USER@HOST>
Subject: x
Date: NOW
Message-ID: NEW

hi
## -F 'Smith, "Ann" J.': 
From: "Smith, \"Ann\" J." <USER@HOST>
Subject: x
Date: NOW
Message-ID: NEW

hi
## -F 'Zoë Łukasz-Müller von und zu Großenkneten': 
From: =?UTF-8?B?Wm/DqyDFgXVrYXN6?=
 =?UTF-8?B?LU3DvGxsZXIgdm8=?=
 =?UTF-8?B?biB1bmQgenUgRw==?=
 =?UTF-8?B?cm/Dn2Vua25ldGU=?=
 =?UTF-8?B?bg==?= <USER@HOST>
Subject: x
Date: NOW
Message-ID: NEW

hi
## -F '': 
From: USER@HOST
Subject: x
Date: NOW
Message-ID: NEW

hi
## -F 'a\nBcc: x@example.net': exit 64 mailqueue: sendmail -F: the name has a control character or is not UTF-8.
## -F '\377': exit 64 mailqueue: sendmail -F: the name has a control character or is not UTF-8.
## NAME: 
From: Cron Daemon <USER@HOST>
Subject: x
Date: NOW
Message-ID: NEW

hi
## the line of a mailbox file: 
From: me@example.org
To: a@example.net
Date: NOW
Message-ID: <1@example.org>
Subject: x

From here
-- refused
## NUL: exit 65 mailqueue: message: line 7: it has a NUL; encode the part as base64
## a long line, signed: exit 65 mailqueue: message: line 8: it has more than 998 octets, and its DKIM-Signature forbids changing it; break it or encode it (quoted-printable or base64) before signing
## Latin-1, signed: exit 65 mailqueue: message: line 7: a header has bytes that are not UTF-8, and its DKIM-Signature forbids changing it; encode it (RFC 2047) before signing
## a line that is not a field: 
From: Tester <USER@HOST>
Subject: x
X: y
Date: NOW
Message-ID: NEW

no field: 

hi
## Latin-1, signed, after a line of a mailbox file: exit 65 mailqueue: message: line 8: a header has bytes that are not UTF-8, and its DKIM-Signature forbids changing it; encode it (RFC 2047) before signing
## too large: exit 65 mailqueue: message: it is larger than 1048576 bytes; make it smaller or raise mailqueue.max_message_size
## a little too large: exit 65 mailqueue: message: it has 1200123 bytes, at most 1048576 are allowed; make it smaller or raise the limit
## too many fields: exit 65 mailqueue: message: it has more than 10000 fields of addresses
## too many recipients: exit 67 mailqueue: recipients: 50000 addresses; give at most 10000
-- large
exit 0, all of it
mailqueue: message: it is larger than N bytes; make it smaller or raise mailqueue.max_message_size
-- no input
<&-: exit 66 mailqueue: sendmail: standard input is closed; the message is read from it.

<&- >&- 2>/dev/null: exit 66 
</: exit 66 mailqueue: sendmail: standard input cannot be read: Is a directory.

-- input that does not block
exit 0 one
two
three
