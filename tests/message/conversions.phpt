--TEST--
Array messages: PHP code that runs during conversions (Stringables, dates, streams) cannot change values already read, nor break anything
--EXTENSIONS--
mailqueue
fileinfo
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
require __DIR__ . '/mime.inc';
$path = database();
$queue = new MailQueue($path);

/* Calls a function when it is converted to a string. */
final class Text
{
    public function __construct(private string $text, private ?Closure $call = null) {}
    public function __toString(): string { $this->call && ($this->call)(); return substr("$this->text ", 0, -1); }
}
/* A stream that calls a function when it is read. */
final class Stream
{
    public static ?Closure $call;
    public static string $content;
    private int $at = 0;
    public $context;
    public function stream_open(): bool { return true; }
    public function stream_read(int $count): string|false { (self::$call)(); $piece = substr(self::$content, $this->at, 5); $this->at += 5; return $piece; }
    public function stream_eof(): bool { return $this->at >= strlen(self::$content); }
    public function stream_stat(): array|false { return false; }
    public function stream_tell(): int { return $this->at; }
}
stream_wrapper_register('mine', Stream::class);
function mine(string $content, ?Closure $call = null)
{
    Stream::$content = $content;
    Stream::$call = $call ?? fn() => null;
    return fopen('mine://x', 'r');
}
function show(MailQueue\Job $job): void
{
    echo '  ', implode(' ', $job->recipients), ' | ', header_of($job->message, 'To'), ' | ', header_of($job->message, 'Subject'), ' | ', json_encode(array_column(leaves($job->message), 'content')), "\n";
}

echo "changed while it is read\n";
$to = ['ann@example.net', str_repeat('b', 20) . '@example.net'];
$subject = str_repeat('Subject ', 4);
$attachments = [['data' => str_repeat('content ', 4), 'name' => 'a.txt', 'type' => 'text/plain']];
$spoil = function () use (&$to, &$subject, &$attachments, &$fields, &$html): void {
    $to[0] = str_repeat('x', 30);
    $to[] = 'more@example.net';
    $subject = null;
    $attachments[0]['data'] = null;
    unset($attachments[0]['name']);
    $fields = null;
    $html = str_repeat('y', 100);
    $GLOBALS['waste'] = array_map(fn($i) => str_repeat('~', 4 + $i % 60), range(1, 6000)); // where the old values were in memory
};
$fields = ['from' => 'club@example.org', 'to' => &$to, 'cc' => ['carl@example.net' => new Text('Carl', $spoil)], 'subject' => &$subject, 'text' => 'x', 'html' => &$html, 'attachments' => &$attachments];
$html = null;
echo '  ', thrown(fn() => $queue->enqueue($fields)), "\n";   // taken away before it was read

$to = ['ann@example.net', str_repeat('b', 20) . '@example.net'];
$subject = str_repeat('Subject ', 4);
$html = '<p>' . str_repeat('z', 5);
$attachments = [['data' => str_repeat('content ', 4), 'name' => 'a.txt', 'type' => 'text/plain']];
$fields = ['from' => 'club@example.org', 'to' => &$to, 'subject' => &$subject, 'text' => 'x', 'html' => &$html, 'attachments' => &$attachments, 'unsubscribe' => [new Text('https://example.org/', $spoil)]];
show($queue->job($queue->enqueue($fields)));

$to = ['ann@example.net', new Text('bob@example.net', $spoil), 'carl@example.net'];
show($queue->job($queue->enqueue(['to' => &$to] + mail_fields())));
$entry = ['stream' => mine('from the stream', $spoil_entry = function () use (&$entry, &$list): void { $entry = 'spoilt'; $list = []; }), 'name' => 's.txt'];
$list = [&$entry, ['data' => 'second', 'name' => 'b.txt']];
show($queue->job($queue->enqueue(['attachments' => &$list] + mail_fields())));

$stream = mine('cannot be closed meanwhile', function () use (&$stream) { @fclose($stream); });
show($queue->job($queue->enqueue(['attachments' => [['stream' => $stream, 'name' => 'x.txt']]] + mail_fields())));

$to = $fields = $entry = $list = $stream = Stream::$call = null; // breaks reference cycles

echo "used while it is read\n";
$inner = fn() => $queue->enqueue(mail_fields(subject: 'inner'));
$job = $queue->job($queue->enqueue(['subject' => new Text('outer', $inner)] + mail_fields()));
echo "  $job->id ", header_of($job->message, 'Subject'), "\n";
echo '  ', $queue->enqueueMany((function () use ($inner) { yield ['message' => ['subject' => new Text('outer', $inner)] + mail_fields()]; $inner(); yield ['message' => mail_fields()]; })()), " of ", count($queue->jobs()), "\n";

echo "thrown and ended\n";
$count = count($queue->jobs());
$throw = fn() => throw new LogicException('enough');
foreach ([
    'text' => ['text' => new Text('', $throw)],
    'to' => ['to' => [new Text('', $throw)]],
    'a name' => ['to' => ['ann@example.net' => new Text('', $throw)]],
    'entry' => ['to' => ['address' => new Text('', $throw)]],
    'headers' => ['headers' => ['X-One' => ['a', new Text('', $throw)]]],
    'attachments' => ['attachments' => [__FILE__, new Text('', $throw)]],
    'data' => ['attachments' => [__FILE__, ['data' => new Text('', $throw)]]],
    'name' => ['attachments' => [__FILE__, ['data' => 'x', 'name' => new Text('', $throw)]]],
    'a stream' => ['attachments' => [__FILE__, mine('x', $throw)]],
    'message_id' => ['message_id' => new Text('', $throw)],
    'date' => ['date' => new class extends DateTimeImmutable { public function getTimestamp(): int { throw new LogicException('no time'); } }],
    'unsubscribe' => ['unsubscribe' => new Text('', $throw)],
] as $what => $fields) {
    echo "  $what: ", thrown(fn() => $queue->enqueue($fields + mail_fields())), "\n";
}
echo '  recipients: ', thrown(fn() => $queue->enqueue(mail_fields(), recipients: ['ann@example.net', new Text('', $throw)])), "\n";
echo '  ', count($queue->jobs()) - $count, " stored\n";

$descriptors = count(scandir('/proc/self/fd'));
for ($i = 0; $i < 20; $i++) {
    thrown(fn() => $queue->enqueue(['attachments' => [__FILE__, __FILE__, new Text('', $throw)]] + mail_fields()));
    thrown(fn() => $queue->enqueueMany((function () use ($throw) { yield ['message' => ['attachments' => [__FILE__]] + mail_fields()]; yield ['message' => ['attachments' => [__FILE__, new Text('', $throw)]] + mail_fields()]; })()));
}
echo '  ', count(scandir('/proc/self/fd')) - $descriptors, " descriptors left open\n";
?>
--EXPECT--
changed while it is read
  MailQueue\MessageException [attachments[0]]: attachments[0]: give one of path, data and stream
  ann@example.net bbbbbbbbbbbbbbbbbbbb@example.net | ann@example.net, bbbbbbbbbbbbbbbbbbbb@example.net | Subject Subject Subject Subject  | ["x\r\n","<p>zzzzz\r\n","content content content content "]
  ann@example.net bob@example.net carl@example.net | ann@example.net, bob@example.net, carl@example.net | Hello | ["Hello Ann\r\n"]
  ann@example.net | ann@example.net | Hello | ["Hello Ann\r\n","from the stream","second"]
  ann@example.net | ann@example.net | Hello | ["Hello Ann\r\n","cannot be closed meanwhile"]
used while it is read
  6 outer
  2 of 10
thrown and ended
  text: LogicException: enough
  to: LogicException: enough
  a name: LogicException: enough
  entry: LogicException: enough
  headers: LogicException: enough
  attachments: LogicException: enough
  data: LogicException: enough
  name: LogicException: enough
  a stream: LogicException: enough
  message_id: LogicException: enough
  date: LogicException: no time
  unsubscribe: LogicException: enough
  recipients: LogicException: enough
  0 stored
  0 descriptors left open
