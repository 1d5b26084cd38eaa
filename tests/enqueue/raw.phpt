--TEST--
enqueue(): a complete message is converted to the wire's form and keeps its Message-ID
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';

final class Message
{
    public function __construct(private string $text) {}
    public function __toString(): string { return $this->text; }
}

function show(MailQueue $queue, int $id): void
{
    $job = $queue->job($id);
    $own = preg_match('/^<[0-9a-f]{32}@/', $job->messageId) === 1;
    echo preg_replace(['/^Date: \w{3}, .*\\\\r/m', '/[0-9a-f]{32}/'], ['Date: …\\r', '…'],
        strtr($job->message, ["\r" => '\r', "\n" => "\\n\n"])), '-- ', $own ? 'ours' : $job->messageId, "\n";
}

final class Broken
{
    public function __toString(): string { throw new LogicException('not today'); }
}

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $envelope = ['envelopeFrom' => 'club@example.org', 'recipients' => ['ann@example.net']];

    show($queue, $queue->enqueue("Subject: a\n\nbody\n", ...$envelope));
    show($queue, $queue->enqueue("Subject: b\r\nMessage-ID: <mine@example.org>\r\nBcc: secret@example.net\r\n\r\nbody", ...$envelope));
    show($queue, $queue->enqueue(new Message("Subject: c\n\n" . 'body'), ...$envelope));
    show($queue, $queue->enqueue("Subject: d\n\n", envelopeFrom: '', recipients: ['ann@example.net']));

    show($queue, $queue->enqueue("Subject: e\nMessage-ID: <x@y> (added by\n postmaster)\n\n", ...$envelope));

    foreach ([
        'no envelope' => ["Subject: x\n\nbody"],
        'no sender' => ["Subject: x\n\nbody", 'recipients' => ['ann@example.net']],
        'no recipients' => ["Subject: x\n\nbody", 'envelopeFrom' => 'club@example.org'],
        'NUL' => ["Subject: x\n\nbo\0dy"] + $envelope,
        'a bare CR in the header' => ["Subject: x\ry\n\nbody"] + $envelope,
        'a long line that is signed' => ["DKIM-Signature: a\nDate: x\nMessage-ID: <a@b>\n\n" . str_repeat('x', 999)] + $envelope,
        'Latin-1 that is signed' => ["Subject: \xFC\nDKIM-Signature: a\nDate: x\nMessage-ID: <a@b>\n\n"] + $envelope,
        'no header' => ["just text"] + $envelope,
        'a Message-ID over lines' => ["Subject: x\nMessage-ID: <x\n @y>\n\nbody"] + $envelope,
        'no colon' => ["Subject x\n\nbody"] + $envelope,
        'signed, with bare LF' => ["DKIM-Signature: v=1\nSubject: x\n\nbody\n"] + $envelope,
        'empty' => [''] + $envelope,
    ] as $what => $arguments) {
        echo "$what: ", thrown(fn() => $queue->enqueue(...$arguments)), "\n";
    }
    echo 'thrown by __toString(): ', thrown(fn() => $queue->enqueue(new Broken(), ...$envelope)), "\n";
    echo count($queue->jobs()), " stored\n";
});
?>
--EXPECT--
Subject: a\r\n
Date: …\r\n
Message-ID: <…@example.org>\r\n
\r\n
body\r\n
-- ours
Subject: b\r\n
Message-ID: <mine@example.org>\r\n
Date: …\r\n
\r\n
body\r\n
-- <mine@example.org>
Subject: c\r\n
Date: …\r\n
Message-ID: <…@example.org>\r\n
\r\n
body\r\n
-- ours
Subject: d\r\n
Date: …\r\n
Message-ID: <…@localhost>\r\n
\r\n
-- ours
Subject: e\r\n
Message-ID: <x@y> (added by\r\n
 postmaster)\r\n
Date: …\r\n
\r\n
-- <x@y>
no envelope: MailQueue\MessageException [envelopeFrom]: envelopeFrom: missing, and the message has no From to take it from; give envelopeFrom: "a@example.org", or "" for none
no sender: MailQueue\MessageException [envelopeFrom]: envelopeFrom: missing, and the message has no From to take it from; give envelopeFrom: "a@example.org", or "" for none
no recipients: MailQueue\MessageException [recipients]: recipients: missing, and the message names none in To, Cc or Bcc; give recipients: ["a@example.org"]
NUL: MailQueue\MessageException [message]: message: line 3: it has a NUL; encode the part as base64
a bare CR in the header: MailQueue\MessageException [message]: message: line 1: a CR in the headers is not followed by LF; end lines with CRLF
a long line that is signed: MailQueue\MessageException [message]: message: line 5: it has more than 998 octets, and its DKIM-Signature forbids changing it; break it or encode it (quoted-printable or base64) before signing
Latin-1 that is signed: MailQueue\MessageException [message]: message: line 1: a header has bytes that are not UTF-8, and its DKIM-Signature forbids changing it; encode it (RFC 2047) before signing
no header: MailQueue\MessageException [message]: message: line 1: the message does not begin with a header "Name: value"
a Message-ID over lines: MailQueue\MessageException [message]: message: line 2: the Message-ID is broken over lines or has a control character; write "Message-ID: <unique@example.org>", or leave it out
no colon: MailQueue\MessageException [message]: message: line 1: the message does not begin with a header "Name: value"
signed, with bare LF: MailQueue\MessageException [message]: message: it has a DKIM-Signature that would break: it needs a Message-ID and a Date, each once, and no Bcc, as far as its h= covers them; correct that before signing
empty: MailQueue\MessageException [message]: message: line 1: the message has no headers; it must begin with "Name: value" lines
thrown by __toString(): LogicException: not today
5 stored
