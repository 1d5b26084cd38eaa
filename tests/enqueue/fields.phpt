--TEST--
enqueue(): errors in fields name the field, the cause and the cure; nothing is stored
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
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $without = fn(string $name) => array_diff_key(mail_fields(), [$name => 1]);
    foreach ([
        'unknown' => mail_fields() + ['body' => '<p>'],
        'unknown, a number' => mail_fields() + [3 => 'x'],
        'unknown, capitals' => mail_fields() + ['From' => 'x'],
        'nothing' => [],
        'no from' => $without('from'),
        'no to' => $without('to'),
        'no subject' => $without('subject'),
        'no text' => $without('text'),
        'from null' => ['from' => null] + mail_fields(),
        'from a number' => ['from' => 7] + mail_fields(),
        'to null' => ['to' => null] + mail_fields(),
        'to empty' => ['to' => ''] + mail_fields(),
        'to none' => ['to' => []] + mail_fields(),
        'to a number in the list' => ['to' => ['ann@example.net', 7]] + mail_fields(),
        'to a group' => ['to' => 'all: ann@example.net, bob@example.com;'] + mail_fields(),
        'to a list in one string, second wrong' => ['to' => 'ann@example.net, bob'] + mail_fields(),
        'to, second wrong' => ['to' => ['ann@example.net', 'bob']] + mail_fields(),
        'subject a number' => ['subject' => 7] + mail_fields(),
        'subject not UTF-8' => mail_fields(subject: "Gr\xfc\xdfe"),
        'text not UTF-8' => mail_fields(text: "Gr\xfc\xdfe"),
        'text with NUL' => mail_fields(text: "a\0b"),
        'too many' => ['to' => array_map(fn($i) => "u$i@example.net", range(0, 10000))] + mail_fields(),
    ] as $what => $message) {
        echo "$what: ", thrown(fn() => $queue->enqueue($message)), "\n";
    }
    foreach ([
        'envelopeFrom' => ['envelopeFrom' => 'club'],
        'envelopeFrom, a name' => ['envelopeFrom' => 'Club <club@example.org>'],
        'recipients, none' => ['recipients' => []],
        'recipients, not one' => ['recipients' => ['ann@example.net', 'bob@example.com', 'x', 'Ann <ann@example.net>']],
        'recipients, a name' => ['recipients' => ['Ann <ann@example.net>']],
        'recipients, a number' => ['recipients' => [5 => 7]],
        'recipients, an option' => ['recipients' => ['-oQ/tmp/x@example.net']],
        'reference empty' => ['reference' => ''],
        'reference long' => ['reference' => str_repeat('r', 191)],
        'reference not UTF-8' => ['reference' => "\xff"],
        'type empty' => ['type' => ''],
        'type long' => ['type' => str_repeat('t', 65)],
        'priority' => ['priority' => 101],
        'priority low' => ['priority' => -101],
        'maxAttempts 0' => ['maxAttempts' => 0],
        'maxAttempts 1001' => ['maxAttempts' => 1001],
        'sendAt negative' => ['sendAt' => -1],
        'sendAt in milliseconds' => ['sendAt' => 1795255200000],
        'sendAt text' => ['sendAt' => 'tomorrow'],
        'expiresAt past' => ['expiresAt' => time() - 1],
        'expiresAt now' => ['expiresAt' => 0],
        'expiresAt before sendAt' => ['sendAt' => time() + 100, 'expiresAt' => time() + 50],
        'message a number' => ['message' => new stdClass()],
    ] as $what => $arguments) {
        echo "$what: ", thrown(fn() => $queue->enqueue(...$arguments + ['message' => mail_fields()])), "\n";
    }
    echo count($queue->jobs()), " stored\n";

    $longest = $queue->enqueue(mail_fields(), str_repeat('r', 190), str_repeat('t', 64), -100, maxAttempts: 1000,
        recipients: array_map(fn($i) => "u$i@example.net", range(1, 10000)));
    echo count($queue->job($longest)->recipients), " recipients\n";
});
?>
--EXPECT--
unknown: MailQueue\MessageException [body]: body: unknown key; known are from, to, cc, bcc, reply_to, subject, text, html, calendar, headers, attachments, inline, date, message_id and unsubscribe
unknown, a number: MailQueue\MessageException [3]: 3: unknown key; known are from, to, cc, bcc, reply_to, subject, text, html, calendar, headers, attachments, inline, date, message_id and unsubscribe
unknown, capitals: MailQueue\MessageException [From]: From: unknown key; known are from, to, cc, bcc, reply_to, subject, text, html, calendar, headers, attachments, inline, date, message_id and unsubscribe
nothing: MailQueue\MessageException [from]: from: missing; give the sender, such as "Name <a@example.org>"
no from: MailQueue\MessageException [from]: from: missing; give the sender, such as "Name <a@example.org>"
no to: MailQueue\MessageException [to]: to: missing; give a recipient, such as "Name <a@example.org>", or a list of them (or cc, or bcc)
no subject: MailQueue\MessageException [subject]: subject: missing; give the subject; it may be empty
no text: MailQueue\MessageException [text]: text: missing; give the text (it may be empty), or html, or both
from null: MailQueue\MessageException [from]: from: missing; give the sender, such as "Name <a@example.org>"
from a number: MailQueue\MessageException [from]: from: must be a string or an array, int given
to null: MailQueue\MessageException [to]: to: missing; give a recipient, such as "Name <a@example.org>", or a list of them (or cc, or bcc)
to empty: MailQueue\MessageException [to]: to: the address is empty; write it as name@example.org
to none: MailQueue\MessageException [to]: to: missing; give a recipient, such as "Name <a@example.org>", or a list of them (or cc, or bcc)
to a number in the list: MailQueue\MessageException [to[1]]: to[1]: must be a string or an array of address and name, int given
to a group: MailQueue\MessageException [to]: to: the address "all: ann@example.net, bob@example.com;" has a name with one of ()<>[]:;@\," in it; put the name in double quotes (groups and comments are not supported)
to a list in one string, second wrong: MailQueue\MessageException [to]: to: the address "bob" has no "@"; write it as name@example.org, and a name that has a comma in double quotes
to, second wrong: MailQueue\MessageException [to[1]]: to[1]: the address "bob" has no "@"; write it as name@example.org, and a name that has a comma in double quotes
subject a number: MailQueue\MessageException [subject]: subject: must be a string, int given
subject not UTF-8: MailQueue\MessageException [subject]: subject: byte 3 is not valid UTF-8; convert the text
text not UTF-8: MailQueue\MessageException [text]: text: byte 3 is not valid UTF-8; convert the text
text with NUL: MailQueue\MessageException [text]: text: a NUL at byte 2; remove it
too many: MailQueue\MessageException [to]: to: 10001 addresses; give at most 10000
envelopeFrom: MailQueue\MessageException [envelopeFrom]: envelopeFrom: the address "club" has no "@"; write it as name@example.org
envelopeFrom, a name: MailQueue\MessageException [envelopeFrom]: envelopeFrom: the address "Club <club@example.org>" has a character that is not allowed before the "@"; write a plain name@example.org without quotes, comments or spaces
recipients, none: MailQueue\MessageException [recipients]: recipients: it is empty; give at least one address
recipients, not one: MailQueue\MessageException [recipients[2]]: recipients[2]: the address "x" has no "@"; write it as name@example.org
recipients, a name: MailQueue\MessageException [recipients[0]]: recipients[0]: the address "Ann <ann@example.net>" has a character that is not allowed before the "@"; write a plain name@example.org without quotes, comments or spaces
recipients, a number: MailQueue\MessageException [recipients[0]]: recipients[0]: must be a string, int given
recipients, an option: MailQueue\MessageException [recipients[0]]: recipients[0]: the address "-oQ/tmp/x@example.net" begins with "-", which programs take for an option; use another address
reference empty: ValueError: reference must have 1 to 190 octets, not 0
reference long: ValueError: reference must have 1 to 190 octets, not 191
reference not UTF-8: ValueError: reference is not valid UTF-8
type empty: ValueError: type must have 1 to 64 octets, not 0
type long: ValueError: type must have 1 to 64 octets, not 65
priority: ValueError: priority must be -100 … 100, not 101
priority low: ValueError: priority must be -100 … 100, not -101
maxAttempts 0: ValueError: maxAttempts must be 1 … 1000, or null for what the backoff policy says
maxAttempts 1001: ValueError: maxAttempts must be 1 … 1000, or null for what the backoff policy says
sendAt negative: ValueError: sendAt: must be seconds since 1970, between 0 and the end of the year 9999
sendAt in milliseconds: ValueError: sendAt: must be seconds since 1970, between 0 and the end of the year 9999
sendAt text: TypeError: MailQueue::enqueue(): Argument #5 ($sendAt) must be of type DateTimeInterface|int|null, string given
expiresAt past: ValueError: expiresAt: must be later than now; leave it out for a mail that does not expire
expiresAt now: ValueError: expiresAt: must be later than now; leave it out for a mail that does not expire
expiresAt before sendAt: ValueError: expiresAt is not after sendAt: the mail could never be sent
message a number: TypeError: MailQueue::enqueue(): Argument #1 ($message) must be an array, a string, an object with toString() or __toString(), or null, stdClass given
0 stored
10000 recipients
