--TEST--
enqueue(): a message of fields is composed, and its envelope comes from them
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

function show(MailQueue $queue, int $id): void
{
    $job = $queue->job($id);
    must(str_contains($job->message, "\r\nMessage-ID: $job->messageId\r\n"), 'the Message-ID is the job\'s');
    must(preg_match('/^<[0-9a-f]{32}@[a-z.]+>$/', $job->messageId) === 1, $job->messageId);
    must(preg_match('/[\x80-\xff]|[^\r]\n|\r[^\n]/', $job->message) === 0, 'seven bits, lines end with CRLF');
    echo $job->envelopeFrom, ' → ', implode(', ', $job->recipients), "\n";
    echo preg_replace(['/^Date: .*/m', '/[0-9a-f]{32}/'], ['Date: …', '…'], str_replace("\r", '', $job->message)), "--\n";
}

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();

    show($queue, $queue->enqueue(['from' => 'club@example.org', 'to' => 'ann@example.net', 'subject' => '', 'text' => '']));
    show($queue, $queue->enqueue([
        'from' => 'Verein Müller <club@example.org>',
        'to' => ['Ann <ann@example.net>', '"Doe, Bob" <bob@example.com>', 'Ann again <ann@example.net>'],
        'subject' => 'Grüße aus Köln: Ihre Anmeldung',
        'text' => "Schöne Grüße\n.\n.. From here\rand there\r\nend",
    ]));
    show($queue, $queue->enqueue(mail_fields(), envelopeFrom: 'bounces@example.org', recipients: ['list@example.com']));
    show($queue, $queue->enqueue(mail_fields(), envelopeFrom: ''));
    $text = 'Hello';
    $fields = ['text' => &$text, 'subject' => 'by reference', 'to' => ['ann@example.net'], 'from' => 'club@example.org'];
    $fields['to'][0] = &$fields['to'][0];
    show($queue, $queue->enqueue($fields));
});
?>
--EXPECT--
club@example.org → ann@example.net
Date: …
From: club@example.org
To: ann@example.net
Subject: 
Message-ID: <…@example.org>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 7bit

--
club@example.org → ann@example.net, bob@example.com
Date: …
From: =?utf-8?Q?Verein_M=C3=BCller?= <club@example.org>
To: Ann <ann@example.net>, "Doe, Bob" <bob@example.com>, Ann again
 <ann@example.net>
Subject: =?utf-8?B?R3LDvMOfZSBhdXMgS8O2bG46?= Ihre Anmeldung
Message-ID: <…@example.org>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

Sch=C3=B6ne Gr=C3=BC=C3=9Fe
=2E
=2E. From here
and there
end
--
bounces@example.org → list@example.com
Date: …
From: Club <club@example.org>
To: ann@example.net
Subject: Hello
Message-ID: <…@example.org>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 7bit

Hello Ann
--
 → ann@example.net
Date: …
From: Club <club@example.org>
To: ann@example.net
Subject: Hello
Message-ID: <…@example.org>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 7bit

Hello Ann
--
club@example.org → ann@example.net
Date: …
From: club@example.org
To: ann@example.net
Subject: by reference
Message-ID: <…@example.org>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 7bit

Hello
--
