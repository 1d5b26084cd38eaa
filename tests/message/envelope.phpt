--TEST--
A complete message's envelope: MailQueue::envelope(), enqueue() and the worker agree
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
final class Text
{
    public function __construct(private string $text) {}
    public function __toString(): string { return $this->text; }
}
$queue = new MailQueue(database());
$message = <<<'TXT'
    From: "Club, the" <club@example.org>
    Sender: office@example.org
    To: Ann <ann@example.net>,
     "Doe, Bob" <bob@example.com>
    Cc: friends: carl@example.net, Dora <dora@example.net>; (a group)
    Bcc: secret@example.com, ann@EXAMPLE.net
    Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=

    To: nobody@example.org
    TXT;
function show(array $envelope): void
{
    echo '  ', json_encode($envelope, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES), "\n";
}

echo "envelope()\n";
foreach (["\n", "\r\n", "\r"] as $end) {
    $texts[json_encode(MailQueue::envelope(strtr($message, ["\n" => $end])))] = true;
}
must(count($texts) === 1, 'all line ends are one');
show(MailQueue::envelope($message));
show(MailQueue::envelope(new Text($message)));
show(MailQueue::envelope("Resent-To: new@example.net\nResent-From: again@example.org\n$message"));
show(MailQueue::envelope("Subject: x\n\nbody"));
show(MailQueue::envelope("To: undisclosed-recipients:;\nFrom: a@example.org\n\n"));
show(MailQueue::envelope("To: ann@bücher.example\nFrom: jörg@bücher.example\n\n"));
foreach (['', 'no header', "To: nobody\n\n", "To: ann@example.net\0\n\n", "From: \"a b\"@example.org\nTo: x@example.org\n\n", "Cc: a@example.org, -x@example.org\n\n", new stdClass(), [], null] as $bad) {
    echo '  ', json_encode($bad), ' ', strtok(strtok(@thrown(fn() => show(MailQueue::envelope($bad))), ';'), "\n"), "\n";
}

echo "enqueue()\n";
function stored(int $id): void
{
    global $queue;
    $job = $queue->job($id);
    echo '  ', json_encode($job->envelopeFrom), ' → ', json_encode($job->recipients, JSON_UNESCAPED_UNICODE), ' ', strstr($job->messageId, '@'), stripos($job->message, 'secret') ? ' Bcc is in it' : '', "\n";
}
stored($queue->enqueue($message));
stored($queue->enqueue(new Text($message)));
stored($queue->enqueue($message, envelopeFrom: ''));
stored($queue->enqueue($message, envelopeFrom: 'bounces@bücher.example'));
stored($queue->enqueue($message, recipients: ['only@bücher.example', new Text('jörg@bücher.example'), 'only@BÜCHER.example', 'only@xn--bcher-kva.example']));
stored($queue->enqueue("From: local\n" . "To: ann@example.net\n\nx", envelopeFrom: 'root@example.org'));
stored($queue->enqueue("From: a@example.org\nTo: local users\n\nx", recipients: ['ann@example.net']));
stored($queue->enqueue("Subject: x\n\nx", envelopeFrom: 'a@example.org', recipients: ['ann@example.net']));
echo '  ', $queue->enqueueMany([['message' => $message], ['message' => new Text($message), 'recipients' => [new Text('x@example.net')], 'envelopeFrom' => new Text('y@example.org'), 'reference' => new Text('r1')]]), "\n";
$count = count($queue->jobs());
foreach ([
    "Subject: x\n\nbody" => [], "From: a@example.org\n\n" => [], "To: a@example.org\n\n" => [], "From: a@example.org\nTo: undisclosed-recipients:;\n\n" => [],
    "From: local\nTo: a@example.org\n\n" => [], "From: a@example.org\nTo: ann@example.net, nobody\n\n" => [],
    "From: a@example.org\nBcc: -f@example.net\n\n" => [], "To: a@example.org\n \n\n" => ['recipients' => ['b@example.org']],
] as $text => $arguments) {
    echo '  ', json_encode($text, JSON_UNESCAPED_SLASHES), ' ', thrown(fn() => $queue->enqueue($text, ...$arguments)), "\n";
}
$many = "From: a@example.org\nTo: " . implode(",\n ", array_map(fn($i) => "user$i@example.net", range(1, 10000))) . "\n";
echo '  ', count($queue->job($queue->enqueue("$many\nx"))->recipients), " recipients\n";
echo '  ', thrown(fn() => $queue->enqueue("{$many}Cc: one@example.net\n\nx")), "\n";
echo '  ', count($queue->jobs()) - $count, " stored\n";

echo "\$compose\n";
foreach ([
    'a text' => [fn() => $message],
    'a Stringable' => [fn() => new Text($message)],
    'the job has a sender' => [fn() => $message, ['envelopeFrom' => 'me@example.org']],
    'the job has recipients' => [fn() => $message, ['recipients' => ['x@example.net']]],
    'the job has both' => [fn() => "Subject: x\n\nx", ['recipients' => ['x@example.net'], 'envelopeFrom' => '']],
    'no recipients' => [fn() => "From: a@example.org\n\nx"],
    'a wrong one' => [fn() => "From: a@example.org\nTo: nobody\n\nx"],
    'fields' => [fn() => ['to' => ['ann@example.net' => 'Ann', 'bob@example.com' => null], 'bcc' => new Text('secret@example.com'), 'attachments' => [__FILE__], 'date' => 1795255200] + mail_fields()],
    'a wrong field' => [fn() => ['attachment' => 'x'] + mail_fields()],
    'a wrong file' => [fn() => ['attachments' => ['/dev/null']] + mail_fields()],
    'thrown' => [fn() => ['text' => new class { public function __toString(): string { throw new LogicException('no text'); } }] + mail_fields()],
] as $what => $case) {
    $worker = new MailQueue(database());
    $id = $worker->enqueue(...$case[1] ?? []);
    $worker->runWorker(function ($job, string $text, string $from, array $to) use ($what): void {
        echo "  $what: ", json_encode($from), ' → ', implode(' ', $to), stripos($text, 'secret') ? ' Bcc is in it' : '', str_contains($text, '21 Nov 2026 10:00:00') ? ' its date' : '', "\n";
    }, $case[0], log: '');
    $job = $worker->job($id);
    echo $job ? "  $what: {$job->status->name} $job->lastError\n" : '';
}
?>
--EXPECT--
envelope()
  {"from":"office@example.org","recipients":["ann@example.net","bob@example.com","carl@example.net","dora@example.net","secret@example.com"]}
  {"from":"office@example.org","recipients":["ann@example.net","bob@example.com","carl@example.net","dora@example.net","secret@example.com"]}
  {"from":"again@example.org","recipients":["new@example.net"]}
  {"from":null,"recipients":[]}
  {"from":"a@example.org","recipients":[]}
  {"from":"jörg@xn--bcher-kva.example","recipients":["ann@xn--bcher-kva.example"]}
  ""   {"from":null,"recipients":[]}
nothing
  "no header" MailQueue\MessageException [message]: message: line 1: no header and no continuation
  "To: nobody\n\n" MailQueue\MessageException [To]: To: the address "nobody" has no "@"
  "To: ann@example.net\u0000\n\n" MailQueue\MessageException [To]: To: control character U+0000 at byte 16
  "From: \"a b\"@example.org\nTo: x@example.org\n\n" MailQueue\MessageException [From]: From: the address ""a b"@example.org" has a quoted local part, which is not supported
  "Cc: a@example.org, -x@example.org\n\n" MailQueue\MessageException [Cc]: Cc: the address "-x@example.org" begins with "-", which programs take for an option
  {} TypeError: MailQueue::envelope(): Argument #1 ($message) must be a string or an object with toString() or __toString(), stdClass given
  [] TypeError: MailQueue::envelope(): Argument #1 ($message) must be a string or an object with toString() or __toString(), array given
  null   {"from":null,"recipients":[]}
nothing
enqueue()
  "office@example.org" → ["ann@example.net","bob@example.com","carl@example.net","dora@example.net","secret@example.com"] @example.org>
  "office@example.org" → ["ann@example.net","bob@example.com","carl@example.net","dora@example.net","secret@example.com"] @example.org>
  "" → ["ann@example.net","bob@example.com","carl@example.net","dora@example.net","secret@example.com"] @example.org>
  "bounces@xn--bcher-kva.example" → ["ann@example.net","bob@example.com","carl@example.net","dora@example.net","secret@example.com"] @xn--bcher-kva.example>
  "office@example.org" → ["only@xn--bcher-kva.example","jörg@xn--bcher-kva.example"] @example.org>
  "root@example.org" → ["ann@example.net"] @example.org>
  "a@example.org" → ["ann@example.net"] @example.org>
  "a@example.org" → ["ann@example.net"] @example.org>
  2
  "Subject: x\n\nbody" MailQueue\MessageException [envelopeFrom]: envelopeFrom: missing, and the message has no From to take it from; give envelopeFrom: "a@example.org", or "" for none
  "From: a@example.org\n\n" MailQueue\MessageException [recipients]: recipients: missing, and the message names none in To, Cc or Bcc; give recipients: ["a@example.org"]
  "To: a@example.org\n\n" MailQueue\MessageException [envelopeFrom]: envelopeFrom: missing, and the message has no From to take it from; give envelopeFrom: "a@example.org", or "" for none
  "From: a@example.org\nTo: undisclosed-recipients:;\n\n" MailQueue\MessageException [recipients]: recipients: missing, and the message names none in To, Cc or Bcc; give recipients: ["a@example.org"]
  "From: local\nTo: a@example.org\n\n" MailQueue\MessageException [From]: From: the address "local" has no "@"; write it as name@example.org
  "From: a@example.org\nTo: ann@example.net, nobody\n\n" MailQueue\MessageException [To]: To: the address "nobody" has no "@"; write it as name@example.org
  "From: a@example.org\nBcc: -f@example.net\n\n" MailQueue\MessageException [Bcc]: Bcc: the address "-f@example.net" begins with "-", which programs take for an option; use another address
  "To: a@example.org\n \n\n" MailQueue\MessageException [envelopeFrom]: envelopeFrom: missing, and the message has no From to take it from; give envelopeFrom: "a@example.org", or "" for none
  10000 recipients
  MailQueue\MessageException [recipients]: recipients: 10001 addresses in the message's headers; give at most 10000
  1 stored
$compose
  a text: "office@example.org" → ann@example.net bob@example.com carl@example.net dora@example.net secret@example.com
  a Stringable: "office@example.org" → ann@example.net bob@example.com carl@example.net dora@example.net secret@example.com
  the job has a sender: "me@example.org" → ann@example.net bob@example.com carl@example.net dora@example.net secret@example.com
  the job has recipients: "office@example.org" → x@example.net
  the job has both: "" → x@example.net
  no recipients: Failed compose: recipients: missing, and the message names none in To, Cc or Bcc; give recipients: ["a@example.org"]
  a wrong one: Failed compose: To: the address "nobody" has no "@"; write it as name@example.org
  fields: "club@example.org" → ann@example.net bob@example.com secret@example.com its date
  a wrong field: Failed compose: attachment: unknown key; known are from, to, cc, bcc, reply_to, subject, text, html, calendar, headers, attachments, inline, date, message_id and unsubscribe
  a wrong file: Failed compose: attachments[0]: /dev/null: only regular files can be attached, not a directory, a device, a pipe or a socket
  thrown: Failed compose: LogicException: no text
