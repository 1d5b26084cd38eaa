--TEST--
Messages that are objects with toString(): their text, the recipients that their methods return, and wrong return values
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';

const TEXT = "From: text@example.org\nTo: text@example.net\nCc: copy@example.net\nSubject: x\n\nHello\n";

final class Address
{
    public function __construct(private mixed $address) {}
    public function getAddress(): mixed { return $this->address; }
}
final class EncodedAddress
{
    public function __construct(private string $encoded) {}
    public function getAddress(): string { return 'not@asked.example'; }
    public function getEncodedAddress(): string { return $this->encoded; }
}
final class Boxes
{
    public function __construct(private mixed $addresses) {}
    public function getAddresses(): mixed { return $this->addresses; }
}
/** A Closure's return value, or the value itself. */
function answer(mixed $value): mixed
{
    return $value instanceof Closure ? $value() : $value;
}
class Text
{
    public function __construct(protected array $answers = [], protected mixed $text = TEXT) {}
    public function toString(): mixed { return answer($this->text); }
    protected function answer(string $name): mixed { return answer($this->answers[$name] ?? []); }
}
/** Like Symfony's Email. */
class Mail extends Text
{
    public function getTo(): mixed { return $this->answer('to'); }
    public function getCc(): mixed { return $this->answer('cc'); }
    public function getBcc(): mixed { return $this->answer('bcc'); }
    public function getSender(): mixed { return $this->answers['sender'] ?? null; }
    public function getReturnPath(): mixed { return $this->answers['return'] ?? null; }
    public function getFrom(): mixed { return $this->answer('from'); }
}
/** Like Symfony's Message: all() of its headers is called with a name. */
class HeadersOnly extends Text
{
    public function getHeaders(): object
    {
        return new class ($this->answers) {
            public function __construct(private array $answers) {}
            public function all(?string $name = null): iterable { yield from answer($this->answers[$name] ?? []); }
        };
    }
}
class Partial extends Text
{
    public function getBcc(): mixed { return $this->answer('bcc'); }
}
class PrivateMethods extends Text
{
    private function getTo(): array { return [new Address('wrong@example.net')]; }
    public static function getCc(): array { return [new Address('wrong@example.net')]; }
    public function getBcc(int $needed): array { return [new Address('wrong@example.net')]; }
    public function getHeaders(): array { return ['Bcc' => 'wrong@example.net']; }
    public function __call(string $name, array $arguments): mixed { return [new Address('wrong@example.net')]; }
}
/** Like Symfony's SentMessage. */
class Sent extends Text
{
    public function getEnvelope(): mixed { return $this->answer('envelope'); }
}
final class Envelope
{
    public function __construct(private mixed $sender, private mixed $recipients) {}
    public function getSender(): mixed { return answer($this->sender); }
    public function getRecipients(): mixed { return answer($this->recipients); }
}
class Both extends Mail
{
    public function __toString(): string { return str_replace('Subject: x', 'Subject: both', TEXT); }
}
final class Plain
{
    public function __toString(): string { return TEXT; }
    public function getBcc(): array { return [new Address('wrong@example.net')]; }
}
function a(string ...$addresses): array
{
    return array_map(fn($address) => new Address($address), $addresses);
}

$queue = new MailQueue(database());
function show(callable $call): void
{
    $text = thrown(function () use ($call, &$envelope) { $envelope = $call(); });
    echo $text === 'nothing' ? json_encode($envelope['from'], JSON_UNESCAPED_UNICODE) . ' → ' . implode(' ', $envelope['recipients']) : $text, "\n";
}
function tell(string $what, object $message, mixed ...$arguments): void
{
    global $queue;
    static $count = 0;
    $stored = function () use ($queue, $message, $arguments, &$count): array {
        $job = $queue->job($queue->enqueue($message, ...$arguments));
        $count++;
        must(str_contains($job->message, "\r\n\r\nHello\r\n"), 'the text is stored');
        must(str_contains($job->message, 'Subject: both') === $message instanceof Both, 'the right one');
        return ['from' => $job->envelopeFrom, 'recipients' => $job->recipients];
    };
    echo "$what: ";
    ob_start();
    show($stored);
    $first = ob_get_flush();
    if ($arguments === []) {
        ob_start();
        show(fn() => MailQueue::envelope($message));
        $second = ob_get_clean();
        echo $first === $second ? '' : "  envelope(): $second";
    }
    must(count($queue->jobs(limit: 1000)) === $count, 'an error stores nothing');
}

echo "-- the envelope\n";
$full = ['to' => a('ann@example.net', 'bob@example.com'), 'cc' => a('ann@EXAMPLE.net', 'carl@example.net'), 'bcc' => a('hidden@example.net', 'bob@example.com'), 'from' => a('me@example.org', 'other@example.org')];
tell('only a text', new Text());
tell('all methods', new Mail($full));
tell('Sender before Return-Path', new Mail(['sender' => new Address('sender@example.org'), 'return' => new Address('return@example.org')] + $full));
tell('Return-Path before From', new Mail(['return' => new Address('return@example.org')] + $full));
tell('only Bcc', new Mail(['to' => [], 'cc' => []] + $full));
tell('given recipients', new Mail($full), recipients: ['only@example.net']);
tell('given sender', new Mail($full), envelopeFrom: '');
tell('both given', new Mail($full), envelopeFrom: 'x@example.org', recipients: ['only@example.net']);
tell('IDN', new Mail(['bcc' => [...a('dora@bücher.example'), new EncodedAddress('dora@xn--bcher-kva.example'), new EncodedAddress('jörg@xn--bcher-kva.example')]] + $full));
tell('a generator', new Mail(['to' => fn() => (fn() => yield from a('ann@example.net', 'gen@example.net'))()] + $full));
tell('strings', new Mail(['to' => ['ann@example.net'], 'cc' => 'cleo@example.net', 'from' => 'me@example.org'] + $full));
tell('references', (function () use ($full) { $list = a('ann@example.net'); $first = &$list[0]; return new Mail(['to' => &$list] + $full); })());
tell('null is none', new Mail(['to' => fn() => null, 'cc' => fn() => null] + $full));
$headers = ['To' => [new Boxes($full['to'])], 'Cc' => [new Boxes($full['cc'])], 'Bcc' => [new Boxes($full['bcc'])], 'From' => [new Boxes($full['from'])]];
tell('headers', new HeadersOnly($headers));
tell('headers, Sender', new HeadersOnly(['Sender' => [new Address(new Address('sender@example.org'))], 'Return-Path' => [new Address(new Address('return@example.org'))]] + $headers));
tell('headers, Return-Path', new HeadersOnly(['Return-Path' => [new Address(new Address('return@example.org'))]] + $headers));
tell('no sender in them', new HeadersOnly(['From' => []] + $headers));
$sent = fn(mixed $recipients, mixed $sender = new Address('bounces@example.org')) => new Sent(['envelope' => new Envelope($sender, $recipients)]);
tell('an envelope', $sent(a('hidden@example.net', 'ann@example.net')));
tell('no sender in it', $sent(a('hidden@example.net'), null));
tell('nobody in it', $sent([]));
tell('no envelope', new Sent(['envelope' => null]));
tell('an envelope of another kind', new Sent(['envelope' => new Mail($full)]));
tell('an envelope beside getTo()', new class ($full) extends Mail {
    public function getEnvelope(): object { return new Envelope(new Address('bounces@example.org'), a('hidden@example.net')); }
});
tell('only some methods', new Partial(['bcc' => a('hidden@example.net', 'text@EXAMPLE.net')]));
tell('methods that cannot be called', new PrivateMethods());
tell('a Stringable that has methods', new Plain());
tell('a Stringable that has toString()', new Both($full));
tell('nobody', new Mail(['to' => [], 'cc' => [], 'bcc' => []] + $full, "From: a@example.org\n\nHello\n"));

echo "-- wrong answers\n";
foreach ([
    'to' => 5, 'cc' => [new stdClass()], 'bcc' => [[null]], 'from' => [new Address(null)], 'sender' => new Boxes([new DateTime()]), 'return' => false,
] as $name => $wrong) {
    tell($name, new Mail([$name => $wrong] + $full));
}
tell('headers', new HeadersOnly(['Bcc' => [new Boxes(3)]] + $headers));
tell('envelope', $sent([new Address(5)]));
tell('its sender', $sent(a('hidden@example.net'), false));
tell('not an address', $sent(a('hidden@example.net', 'nobody')));
tell('the cure', $sent(5), recipients: ['only@example.net']);
tell('a line end', new Mail(['cc' => ["carl@example.net\nBcc: wrong@example.net"]] + $full));
tell('an empty one', new Mail(['cc' => ['']] + $full));
tell('a map', new Mail(['to' => ['ann@example.net' => null]] + $full));
tell('names', new Mail(['to' => ['Ann <ann@example.net>']] + $full));
tell('no address', new Mail(['bcc' => a('hidden@example.net', 'nobody')] + $full));
tell('an option', new HeadersOnly(['Bcc' => [new Boxes(a('-f@example.net'))]] + $headers));
tell('no sender', new Mail(['from' => a('local')] + $full));
$deep = new Address('deep@example.net');
for ($i = 0; $i < 20; $i++) {
    $deep = new Address($deep);
}
tell('too deep', new Mail(['to' => [$deep]] + $full));
$endless = fn() => (function () { for ($i = 0;; $i++) { yield "user$i@example.net"; } })();
tell('endless', new Mail(['to' => $endless] + $full));
tell('the cure for recipients', new Mail(['bcc' => 5] + $full), recipients: ['only@example.net']);
tell('the cure for the sender', new Mail(['from' => 5] + $full), envelopeFrom: 'x@example.org');
tell('not the cure', new Mail(['from' => 5] + $full), recipients: ['only@example.net']);
foreach ([5, null, [], new ArrayObject(), fn() => new Plain()] as $wrong) {
    tell('toString()', new Text([], $wrong));
}
tell('an anonymous class', new class { public function toString(): int { return 5; } });
foreach ([new stdClass(), fn() => TEXT, new class { private function toString(): string { return TEXT; } }, new class { public static function toString(): string { return TEXT; } },
    new class { public function toString(int $width): string { return TEXT; } }, new class { public function __call(string $name, array $arguments): string { return TEXT; } }] as $other) {
    echo str_replace("\0", '', strtok(thrown(fn() => $queue->enqueue($other)), '@')), "\n";
    must(str_contains(thrown(fn() => $queue->enqueueMany([['message' => $other]])), 'message 0: message: must be an array, a string, an object'), 'enqueueMany() says so too');
}

echo "-- exceptions\n";
$throw = fn() => throw new DomainException('no time');
$leave = fn() => (function () { yield from a('ann@example.net'); throw new DomainException('in between'); })();
$late = fn() => new class { public function __destruct() { throw new DomainException('a destructor'); } };
tell('text', new Text([], $throw));
foreach (['to' => $throw, 'bcc' => $throw, 'from' => $throw, 'cc' => $leave] as $name => $how) {
    tell($name, new Mail([$name => $how] + $full));
}
tell('headers', new HeadersOnly(['Bcc' => $throw] + $headers));
tell('envelope', new Sent(['envelope' => $throw]));
tell('its recipients', $sent($throw));
tell('a given envelope', new Mail(['from' => $throw] + $full), envelopeFrom: '', recipients: ['only@example.net']);
echo thrown(fn() => $queue->enqueue(new Mail(['to' => $late] + $full))), "\n";

echo "-- the other ways in\n";
$id = max(array_column($queue->jobs(limit: 1000), 'id'));
echo $queue->enqueueMany([['message' => new Mail($full)], ['message' => new Mail($full), 'recipients' => ['only@example.net']]]), "\n";
foreach ($queue->jobs(after: $id) as $job) {
    echo "  $job->envelopeFrom → ", implode(' ', $job->recipients), "\n";
}
echo thrown(fn() => $queue->enqueueMany([['message' => new Mail($full)], ['message' => new Mail(['bcc' => [7]] + $full)]])), "\n";
foreach ([
    'all methods' => [new Mail($full)], 'the job has both' => [new Mail(['bcc' => 5, 'from' => 5] + $full), ['envelopeFrom' => 'job@example.org', 'recipients' => ['only@example.net']]],
    'a wrong answer' => [new Mail(['bcc' => 5] + $full)], 'a wrong text' => [new Text([], 5)], 'an exception' => [new Mail(['bcc' => $throw] + $full)], 'no message' => [new stdClass()],
] as $what => $case) {
    $worker = new MailQueue(database());
    $id = $worker->enqueue(...$case[1] ?? []);
    $worker->runWorker(function ($job, string $text, string $from, array $to) use ($what): void { echo "  $what: $from → ", implode(' ', $to), "\n"; }, fn() => $case[0], log: '');
    $job = $worker->job($id);
    echo $job ? "  $what: {$job->status->name} $job->lastError\n" : '';
}
?>
--EXPECT--
-- the envelope
only a text: "text@example.org" → text@example.net copy@example.net
all methods: "me@example.org" → ann@example.net bob@example.com carl@example.net hidden@example.net
Sender before Return-Path: "sender@example.org" → ann@example.net bob@example.com carl@example.net hidden@example.net
Return-Path before From: "return@example.org" → ann@example.net bob@example.com carl@example.net hidden@example.net
only Bcc: "me@example.org" → hidden@example.net bob@example.com
given recipients: "me@example.org" → only@example.net
given sender: "" → ann@example.net bob@example.com carl@example.net hidden@example.net
both given: "x@example.org" → only@example.net
IDN: "me@example.org" → ann@example.net bob@example.com carl@example.net dora@xn--bcher-kva.example jörg@xn--bcher-kva.example
a generator: "me@example.org" → ann@example.net gen@example.net carl@example.net hidden@example.net bob@example.com
strings: "me@example.org" → ann@example.net cleo@example.net hidden@example.net bob@example.com
references: "me@example.org" → ann@example.net carl@example.net hidden@example.net bob@example.com
null is none: "me@example.org" → hidden@example.net bob@example.com
headers: "me@example.org" → ann@example.net bob@example.com carl@example.net hidden@example.net
headers, Sender: "sender@example.org" → ann@example.net bob@example.com carl@example.net hidden@example.net
headers, Return-Path: "return@example.org" → ann@example.net bob@example.com carl@example.net hidden@example.net
no sender in them: "text@example.org" → ann@example.net bob@example.com carl@example.net hidden@example.net
an envelope: "bounces@example.org" → hidden@example.net ann@example.net
no sender in it: "text@example.org" → hidden@example.net
nobody in it: MailQueue\MessageException [recipients]: recipients: missing, and the message names none in To, Cc or Bcc; give recipients: ["a@example.org"]
  envelope(): "bounces@example.org" → 
no envelope: "text@example.org" → text@example.net copy@example.net
an envelope of another kind: "text@example.org" → text@example.net copy@example.net
an envelope beside getTo(): "bounces@example.org" → hidden@example.net
only some methods: MailQueue\MessageException [recipients]: recipients: Partial has only some of getTo(), getCc() and getBcc(); give recipients: ["a@example.org"]
methods that cannot be called: "text@example.org" → text@example.net copy@example.net
a Stringable that has methods: "text@example.org" → text@example.net copy@example.net
a Stringable that has toString(): "me@example.org" → ann@example.net bob@example.com carl@example.net hidden@example.net
nobody: MailQueue\MessageException [recipients]: recipients: missing, and the message names none in To, Cc or Bcc; give recipients: ["a@example.org"]
  envelope(): "me@example.org" → 
-- wrong answers
to: MailQueue\MessageException [to]: to: Mail::getTo() must give addresses, as strings or objects with getAddress(), int given; or give recipients: ["a@example.org"]
cc: MailQueue\MessageException [cc]: cc: Mail::getCc() must give addresses, as strings or objects with getAddress(), stdClass given; or give recipients: ["a@example.org"]
bcc: MailQueue\MessageException [bcc]: bcc: Mail::getBcc() must give addresses, as strings or objects with getAddress(), null given; or give recipients: ["a@example.org"]
from: MailQueue\MessageException [from]: from: Mail::getFrom() must give addresses, as strings or objects with getAddress(), null given; or give envelopeFrom: "a@example.org"
sender: MailQueue\MessageException [sender]: sender: Mail::getSender() must give addresses, as strings or objects with getAddress(), DateTime given; or give envelopeFrom: "a@example.org"
return: MailQueue\MessageException [return-path]: return-path: Mail::getReturnPath() must give addresses, as strings or objects with getAddress(), bool given; or give envelopeFrom: "a@example.org"
headers: MailQueue\MessageException [bcc]: bcc: HeadersOnly::getHeaders()->all("Bcc") must give addresses, as strings or objects with getAddress(), int given; or give recipients: ["a@example.org"]
envelope: MailQueue\MessageException [recipients]: recipients: Envelope::getRecipients() must give addresses, as strings or objects with getAddress(), int given; or give recipients: ["a@example.org"]
its sender: MailQueue\MessageException [sender]: sender: Envelope::getSender() must give addresses, as strings or objects with getAddress(), bool given; or give envelopeFrom: "a@example.org"
not an address: MailQueue\MessageException [To]: To: the address "nobody" has no "@"; write it as name@example.org
the cure: "bounces@example.org" → only@example.net
a line end: MailQueue\MessageException [cc]: cc: Mail::getCc() must give addresses, as strings or objects with getAddress(), string given; or give recipients: ["a@example.org"]
an empty one: MailQueue\MessageException [cc]: cc: Mail::getCc() must give addresses, as strings or objects with getAddress(), string given; or give recipients: ["a@example.org"]
a map: MailQueue\MessageException [to]: to: Mail::getTo() must give addresses, as strings or objects with getAddress(), null given; or give recipients: ["a@example.org"]
names: "me@example.org" → ann@example.net carl@example.net hidden@example.net bob@example.com
no address: MailQueue\MessageException [Bcc]: Bcc: the address "nobody" has no "@"; write it as name@example.org
an option: MailQueue\MessageException [Bcc]: Bcc: the address "-f@example.net" begins with "-", which programs take for an option; use another address
no sender: MailQueue\MessageException [From]: From: the address "local" has no "@"; write it as name@example.org
too deep: MailQueue\MessageException [to]: to: Mail::getTo() must give addresses, as strings or objects with getAddress(), Address given; or give recipients: ["a@example.org"]
endless: MailQueue\MessageException [to]: to: 10001 addresses or more; give at most 10000
the cure for recipients: "me@example.org" → only@example.net
the cure for the sender: "x@example.org" → ann@example.net bob@example.com carl@example.net hidden@example.net
not the cure: MailQueue\MessageException [from]: from: Mail::getFrom() must give addresses, as strings or objects with getAddress(), int given; or give envelopeFrom: "a@example.org"
toString(): MailQueue\MessageException [message]: message: Text::toString() must return the message as a string, int given; give its text instead of the object
toString(): MailQueue\MessageException [message]: message: Text::toString() must return the message as a string, null given; give its text instead of the object
toString(): MailQueue\MessageException [message]: message: Text::toString() must return the message as a string, array given; give its text instead of the object
toString(): MailQueue\MessageException [message]: message: Text::toString() must return the message as a string, ArrayObject given; give its text instead of the object
toString(): MailQueue\MessageException [message]: message: Text::toString() must return the message as a string, Plain given; give its text instead of the object
an anonymous class: MailQueue\MessageException [message]: message: class@anonymous::toString() must return the message as a string, int given; give its text instead of the object
TypeError: MailQueue::enqueue(): Argument #1 ($message) must be an array, a string, an object with toString() or __toString(), or null, stdClass given
TypeError: MailQueue::enqueue(): Argument #1 ($message) must be an array, a string, an object with toString() or __toString(), or null, Closure given
TypeError: MailQueue::enqueue(): Argument #1 ($message) must be an array, a string, an object with toString() or __toString(), or null, class
TypeError: MailQueue::enqueue(): Argument #1 ($message) must be an array, a string, an object with toString() or __toString(), or null, class
TypeError: MailQueue::enqueue(): Argument #1 ($message) must be an array, a string, an object with toString() or __toString(), or null, class
TypeError: MailQueue::enqueue(): Argument #1 ($message) must be an array, a string, an object with toString() or __toString(), or null, class
-- exceptions
text: DomainException: no time
to: DomainException: no time
bcc: DomainException: no time
from: DomainException: no time
cc: DomainException: in between
headers: DomainException: no time
envelope: DomainException: no time
its recipients: DomainException: no time
a given envelope: DomainException: no time
DomainException: a destructor
-- the other ways in
2
  me@example.org → ann@example.net bob@example.com carl@example.net hidden@example.net
  me@example.org → only@example.net
MailQueue\MessageException [bcc]: message 1: bcc: Mail::getBcc() must give addresses, as strings or objects with getAddress(), int given; or give recipients: ["a@example.org"]
  all methods: me@example.org → ann@example.net bob@example.com carl@example.net hidden@example.net
  the job has both: job@example.org → only@example.net
  a wrong answer: Failed compose: bcc: Mail::getBcc() must give addresses, as strings or objects with getAddress(), int given; or give recipients: ["a@example.org"]
  a wrong text: Failed compose: message: Text::toString() must return the message as a string, int given; give its text instead of the object
  an exception: Failed compose: DomainException: no time
  no message: Failed compose: must return an array, a string, an object with toString() or __toString(), or null
