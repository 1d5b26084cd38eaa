--TEST--
Array messages: text and HTML, headers, date, Message-ID, unsubscribing; unknown fields
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
require __DIR__ . '/mime.inc';
$queue = new MailQueue(database());
final class Text
{
    public function __construct(private string $text) {}
    public function __toString(): string { return $this->text; }
}
$without = fn(string ...$names) => array_diff_key(mail_fields(), array_flip($names));
function job(array $fields): MailQueue\Job
{
    global $queue;
    return $queue->job($queue->enqueue($fields + mail_fields()));
}

echo "bodies\n";
foreach ([
    'text' => [],
    'text and HTML' => ['html' => '<p>Grüße'],
    'HTML, an empty text' => ['html' => '<p>x', 'text' => ''],
    'Stringables' => ['html' => new Text('<p>x'), 'text' => new Text('x'), 'subject' => new Text('Bäume')],
] as $what => $fields) {
    $message = job($fields)->message;
    $leaves = leaves($message, $shape);
    echo "  $what: $shape ", json_encode(array_column($leaves, 'content'), JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES), ' ', header_of($message, 'Subject'), "\n";
}
$only = leaves($queue->job($queue->enqueue(['html' => '<p>only <a href="https://example.org/">HTML</a>', 'text' => null] + mail_fields()))->message);
echo '  HTML alone: ', end($only)['type'], "\n";

echo "headers\n";
$message = job(['headers' => ['X-One' => 'eins', 'X-Two' => ['a', new Text('zwei ä')], 'X-Priority' => 1, 'X-None' => null, 'X-Empty' => [], 'Auto-Submitted' => 'auto-generated']])->message;
foreach (['X-One', 'X-Two', 'X-Priority', 'X-None', 'X-Empty', 'Auto-Submitted'] as $name) {
    echo "  $name: ", header_of($message, $name) ?? 'none', "\n";
}

echo "date\n";
foreach ([0, 1795255200, new DateTimeImmutable('2026-11-21 12:00', new DateTimeZone('America/New_York')), new DateTime('@1795255200.7')] as $date) {
    echo '  ', header_of(job(['date' => $date])->message, 'Date'), "\n";
}
echo '  now: ', abs(strtotime(header_of(job(['date' => null])->message, 'Date')) - time()) < 60 ? 'ok' : 'wrong', "\n";
$later = new MailQueue(database());
foreach ([mail_fields(), ['date' => 0] + mail_fields(), "From: a@example.org\nTo: b@example.net\nSubject: x\n\nx\n"] as $message) {
    foreach ([4102444800, 1] as $time) {
        $date = strtotime(header_of($later->job($later->enqueue($message, sendAt: $time))->message, 'Date'));
        echo '  sent at ', $time, ': ', abs($date - time()) < 60 ? 'now' : $date, "\n";
    }
}

echo "message_id\n";
foreach (['abc.1@example.org', '<abc.2@example.org>', new Text('x@y')] as $id) {
    $job = job(['message_id' => $id]);
    echo "  $job->messageId ", header_of($job->message, 'Message-ID') === $job->messageId ? 'ok' : 'differs', "\n";
}

echo "unsubscribe\n";
foreach (['https://example.org/u?x=1', ['https://example.org/u', 'mailto:u@example.org?subject=u'], [], 'mailto:u@example.org'] as $uris) {
    $message = job(['unsubscribe' => $uris])->message;
    echo '  ', header_of($message, 'List-Unsubscribe') ?? 'none', ' ', header_of($message, 'List-Unsubscribe-Post') ?? '', "\n";
}

echo "wrong\n";
$count = count($queue->jobs(limit: 1000));
foreach ([
    ['Bcc' => 'x'], ['replyTo' => 'x'], ['reply-to' => 'x'], ['Reply To' => 'x'], ['attachment' => []], ['attachements' => []], ['txt' => 'x'], ['subjekt' => 'x'], ['messageId' => 'x'], ['body' => 'x'],
    ["a\nb" => 1], [str_repeat('x', 1000) => 1], ['' => 1], [3 => 'x'], ["tex\0t" => 'x'],
    ['subject' => null], ['subject' => 7], ['text' => null], ['text' => true], ['html' => []],
    ['headers' => 'X: y'], ['headers' => ['X-One: eins']], ['headers' => ['X-One' => 1.5]], ['headers' => ['X-One' => ['a', false]]], ['headers' => ['X-One' => new stdClass()]],
    ['date' => 'now'], ['date' => -1], ['date' => 1795255200000], ['date' => 1.5],
    ['message_id' => 7], ['message_id' => 'a b@c'], ['message_id' => "a\0b@c"], ['message_id' => 'ä@c'],
    ['unsubscribe' => 7], ['unsubscribe' => ['https://example.org/', null]],
] as $fields) {
    $shown = json_encode($fields, JSON_UNESCAPED_UNICODE);
    $text = str_replace('known are from, to, cc, bcc, reply_to, subject, text, html, calendar, headers, attachments, inline, date, message_id and unsubscribe', 'known are …', thrown(fn() => $queue->enqueue($fields + mail_fields())));
    echo '  ', strlen($shown) > 60 ? substr($shown, 0, 30) . '…' : $shown, ' ', $text, "\n";
}
foreach (['from', 'to', 'subject', 'text'] as $name) {
    echo "  without $name: ", thrown(fn() => $queue->enqueue($without($name))), "\n";
}
echo '  nothing: ', thrown(fn() => $queue->enqueue([])), "\n";
foreach ([
    ['message_id' => 'abc'], ['message_id' => '<a@b'], ['message_id' => ''], ['message_id' => '<>'], ['unsubscribe' => 'ftp://example.org/'], ['unsubscribe' => ['https://example.org/', 'x']], ['unsubscribe' => 'https://example.org/ x'],
    ['headers' => ['Bcc' => 'x@example.org']], ['headers' => ['Subject' => 'x']], ['headers' => ['a b' => 'x']], ['headers' => ['' => 'x']], ['headers' => ['X-Ö' => 'x']], ['html' => "a\0b"], ['html' => "\xff"],
] as $fields) {
    echo '  ', json_encode($fields, JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE), ' ', refused_field(fn() => $queue->enqueue($fields + mail_fields())), "\n";
}
echo count($queue->jobs(limit: 1000)) - $count, " stored\n";
?>
--EXPECT--
bodies
  text: text/plain ["Hello Ann\r\n"] Hello
  text and HTML: alternative(text/plain text/html) ["Hello Ann\r\n","<p>Grüße\r\n"] Hello
  HTML, an empty text: alternative(text/plain text/html) ["","<p>x\r\n"] Hello
  Stringables: alternative(text/plain text/html) ["x\r\n","<p>x\r\n"] Bäume
  HTML alone: text/html
headers
  X-One: eins
  X-Two: a | zwei ä
  X-Priority: 1
  X-None: none
  X-Empty: none
  Auto-Submitted: auto-generated
date
  Thu, 01 Jan 1970 00:00:00 +0000
  Sat, 21 Nov 2026 10:00:00 +0000
  Sat, 21 Nov 2026 17:00:00 +0000
  Sat, 21 Nov 2026 10:00:00 +0000
  now: ok
  sent at 4102444800: 4102444800
  sent at 1: now
  sent at 4102444800: 0
  sent at 1: 0
  sent at 4102444800: 4102444800
  sent at 1: now
message_id
  <abc.1@example.org> ok
  <abc.2@example.org> ok
  <x@y> ok
unsubscribe
  <https://example.org/u?x=1> List-Unsubscribe=One-Click
  <https://example.org/u>, <mailto:u@example.org?subject=u> List-Unsubscribe=One-Click
  none 
  <mailto:u@example.org> 
wrong
  {"Bcc":"x"} MailQueue\MessageException [Bcc]: Bcc: unknown key; known are …
  {"replyTo":"x"} MailQueue\MessageException [replyTo]: replyTo: unknown key; known are …
  {"reply-to":"x"} MailQueue\MessageException [reply-to]: reply-to: unknown key; known are …
  {"Reply To":"x"} MailQueue\MessageException [Reply To]: Reply To: unknown key; known are …
  {"attachment":[]} MailQueue\MessageException [attachment]: attachment: unknown key; known are …
  {"attachements":[]} MailQueue\MessageException [attachements]: attachements: unknown key; known are …
  {"txt":"x"} MailQueue\MessageException [txt]: txt: unknown key; known are …
  {"subjekt":"x"} MailQueue\MessageException [subjekt]: subjekt: unknown key; known are …
  {"messageId":"x"} MailQueue\MessageException [messageId]: messageId: unknown key; known are …
  {"body":"x"} MailQueue\MessageException [body]: body: unknown key; known are …
  {"a\nb":1} MailQueue\MessageException [a?b]: a?b: unknown key; known are …
  {"xxxxxxxxxxxxxxxxxxxxxxxxxxxx… MailQueue\MessageException [xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx]: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: unknown key; known are …
  {"":1} MailQueue\MessageException []: : unknown key; known are …
  {"3":"x"} MailQueue\MessageException [3]: 3: unknown key; known are …
  {"tex\u0000t":"x"} MailQueue\MessageException [tex?t]: tex?t: unknown key; known are …
  {"subject":null} MailQueue\MessageException [subject]: subject: missing; give the subject; it may be empty
  {"subject":7} MailQueue\MessageException [subject]: subject: must be a string, int given
  {"text":null} MailQueue\MessageException [text]: text: missing; give the text (it may be empty), or html, or both
  {"text":true} MailQueue\MessageException [text]: text: must be a string, bool given
  {"html":[]} MailQueue\MessageException [html]: html: must be a string, array given
  {"headers":"X: y"} MailQueue\MessageException [headers]: headers: must be an array keyed by names, string given
  {"headers":["X-One: eins"]} MailQueue\MessageException [headers[0]]: headers[0]: its key is not a name; write 'headers' => ['X-Name' => 'value']
  {"headers":{"X-One":1.5}} MailQueue\MessageException [headers[X-One]]: headers[X-One]: must be a string, float given
  {"headers":{"X-One":["a",false]}} MailQueue\MessageException [headers[X-One]]: headers[X-One]: must be a string, bool given
  {"headers":{"X-One":{}}} MailQueue\MessageException [headers[X-One]]: headers[X-One]: must be a string, stdClass given
  {"date":"now"} MailQueue\MessageException [date]: date: must be a DateTimeInterface, an int or null, string given
  {"date":-1} MailQueue\MessageException [date]: date: must be seconds since 1970, between 0 and the end of the year 9999
  {"date":1795255200000} MailQueue\MessageException [date]: date: must be seconds since 1970, between 0 and the end of the year 9999
  {"date":1.5} MailQueue\MessageException [date]: date: must be a DateTimeInterface, an int or null, float given
  {"message_id":7} MailQueue\MessageException [message_id]: message_id: must be a string, int given
  {"message_id":"a b@c"} MailQueue\MessageException [message_id]: message_id: a blank, a control character or a letter that is not ASCII at byte 2; write <unique@example.org>
  {"message_id":"a\u0000b@c"} MailQueue\MessageException [message_id]: message_id: a blank, a control character or a letter that is not ASCII at byte 2; write <unique@example.org>
  {"message_id":"ä@c"} MailQueue\MessageException [message_id]: message_id: a blank, a control character or a letter that is not ASCII at byte 1; write <unique@example.org>
  {"unsubscribe":7} MailQueue\MessageException [unsubscribe]: unsubscribe: must be a string, int given
  {"unsubscribe":["https:\/\/example.org\/",null]} MailQueue\MessageException [unsubscribe[1]]: unsubscribe[1]: must be a string, null given
  without from: MailQueue\MessageException [from]: from: missing; give the sender, such as "Name <a@example.org>"
  without to: MailQueue\MessageException [to]: to: missing; give a recipient, such as "Name <a@example.org>", or a list of them (or cc, or bcc)
  without subject: MailQueue\MessageException [subject]: subject: missing; give the subject; it may be empty
  without text: MailQueue\MessageException [text]: text: missing; give the text (it may be empty), or html, or both
  nothing: MailQueue\MessageException [from]: from: missing; give the sender, such as "Name <a@example.org>"
  {"message_id":"abc"} message_id
  {"message_id":"<a@b"} message_id
  {"message_id":""} message_id
  {"message_id":"<>"} message_id
  {"unsubscribe":"ftp:\/\/example.org\/"} unsubscribe
  {"unsubscribe":["https:\/\/example.org\/","x"]} unsubscribe[1]
  {"unsubscribe":"https:\/\/example.org\/ x"} unsubscribe
  {"headers":{"Bcc":"x@example.org"}} headers[Bcc]
  {"headers":{"Subject":"x"}} headers[Subject]
  {"headers":{"a b":"x"}} headers
  {"headers":{"":"x"}} headers
  {"headers":{"X-Ö":"x"}} headers
  {"html":"a\u0000b"} html
  {"html":"�"} html
0 stored
