--TEST--
enqueue(): types are converted as PHP converts arguments, with and without strict_types
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$path = database();
$calls = <<<'PHP'
    final class Text { public function __toString(): string { return "Subject: x\n\n"; } }
    $queue = new MailQueue($path);
    $envelope = ['envelopeFrom' => 'a@example.org', 'recipients' => ['b@example.org']];
    foreach ([
        'reference 7' => fn() => $queue->job($queue->enqueue(null, 7))->reference,
        'priority "5"' => fn() => $queue->job($queue->enqueue(null, priority: '5'))->priority,
        'sendAt "1"' => fn() => $queue->enqueue(null, sendAt: '1') > 0,
        'message 5' => fn() => $queue->enqueue(5, ...$envelope),
        'a Stringable message' => fn() => $queue->enqueue(new Text(), ...$envelope) > 0,
        'a Stringable reference' => fn() => $queue->job($queue->enqueue(null, new Text()))->reference,
        'a Stringable in fields' => fn() => $queue->enqueue(['subject' => new Text()] + mail_fields()),
        'message a Closure' => fn() => $queue->enqueue(fn() => null, ...$envelope),
        'no such name' => fn() => $queue->enqueue(mesage: null),
        'thirteen arguments' => fn() => $queue->enqueue(null, null, 'mail', 0, null, null, null, null, null, null, null, null, null),
    ] as $what => $call) {
        $text = thrown(function () use ($call, &$result) { $result = $call(); });
        echo "$what: ", $text === 'nothing' ? var_export($result, true) : strtok($text, "\n"), "\n";
    }
    PHP;
foreach (['', 'declare(strict_types=1);'] as $i => $mode) {
    echo $mode ?: 'weak', "\n";
    $script = dirname($path) . "/$i.php";
    file_put_contents($script, "<?php $mode require " . var_export(__DIR__ . '/../lib/queue.inc', true)
        . "; \$path = '$path.$i';\n$calls");
    $process = proc_open(php_command($script), [1 => ['pipe', 'w']], $pipes);
    echo stream_get_contents($pipes[1]);
    proc_close($process);
}
?>
--EXPECT--
weak
reference 7: '7'
priority "5": 5
sendAt "1": true
message 5: MailQueue\MessageException [message]: message: line 1: the message does not begin with a header "Name: value"
a Stringable message: true
a Stringable reference: ValueError: reference has the control character U+000A at octet 11; remove it
a Stringable in fields: MailQueue\MessageException [subject]: subject: control character U+000A at byte 11; remove it (headers are one line, folded where they are written)
message a Closure: TypeError: MailQueue::enqueue(): Argument #1 ($message) must be an array, a string, an object with toString() or __toString(), or null, Closure given
no such name: Error: Unknown named parameter $mesage
thirteen arguments: ArgumentCountError: MailQueue::enqueue() expects at most 12 arguments, 13 given
declare(strict_types=1);
reference 7: TypeError: MailQueue::enqueue(): Argument #2 ($reference) must be of type ?string, int given
priority "5": TypeError: MailQueue::enqueue(): Argument #4 ($priority) must be of type int, string given
sendAt "1": TypeError: MailQueue::enqueue(): Argument #5 ($sendAt) must be of type DateTimeInterface|int|null, string given
message 5: TypeError: MailQueue::enqueue(): Argument #1 ($message) must be an array, a string, an object with toString() or __toString(), or null, int given
a Stringable message: true
a Stringable reference: TypeError: MailQueue::enqueue(): Argument #2 ($reference) must be of type ?string, Text given
a Stringable in fields: MailQueue\MessageException [subject]: subject: control character U+000A at byte 11; remove it (headers are one line, folded where they are written)
message a Closure: TypeError: MailQueue::enqueue(): Argument #1 ($message) must be an array, a string, an object with toString() or __toString(), or null, Closure given
no such name: Error: Unknown named parameter $mesage
thirteen arguments: ArgumentCountError: MailQueue::enqueue() expects at most 12 arguments, 13 given
