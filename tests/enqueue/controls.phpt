--TEST--
Control characters in any header, command or option are refused, and the field is named
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
putenv('MAIL_QUEUE_LOG');
$path = database();
$queue = new MailQueue($path);

/* The 33 control characters, and the two line ends that injected headers and commands begin
 * with. */
$strings = array_map('chr', [...range(0, 31), 127]);
array_push($strings, "\r\nBcc: victim@example.net", "\n.\r\nMAIL FROM:<x@example.net>");

$raw = "Subject: x\r\n\r\nbody\r\n";
$envelope = ['envelopeFrom' => 'a@example.org', 'recipients' => ['b@example.org']];
$fields = [
    'from' => fn($s) => $queue->enqueue(mail_fields(from: "club{$s}x@example.org")),
    'from (name)' => fn($s) => $queue->enqueue(mail_fields(from: "Clu{$s}b <club@example.org>")),
    'to' => fn($s) => $queue->enqueue(mail_fields(to: "ann@exam{$s}ple.net")),
    'to (name)' => fn($s) => $queue->enqueue(mail_fields(to: "\"An{$s}n\" <ann@example.net>")),
    'to[1]' => fn($s) => $queue->enqueue(['to' => ['ann@example.net', "bob@example.net$s"]] + mail_fields()),
    'to[ann@example.net]' => fn($s) => $queue->enqueue(['to' => ['ann@example.net' => "An{$s}n"]] + mail_fields()),
    'to (key)' => fn($s) => $queue->enqueue(['to' => ["ann{$s}x@example.net" => 'Ann']] + mail_fields()),
    'to[0] (address)' => fn($s) => $queue->enqueue(['to' => [['address' => "{$s}ann@example.net"]]] + mail_fields()),
    'to[0] (name)' => fn($s) => $queue->enqueue(['to' => [['address' => 'ann@example.net', 'name' => "Ann$s"]]] + mail_fields()),
    'cc' => fn($s) => $queue->enqueue(['cc' => "ann@example.net,$s bob@example.net"] + mail_fields()),
    'cc (name)' => fn($s) => $queue->enqueue(['cc' => "An{$s}n <ann@example.net>, bob@example.net"] + mail_fields()),
    'bcc[2]' => fn($s) => $queue->enqueue(['bcc' => [2 => "ann@example.net$s"]] + mail_fields()),
    'reply_to' => fn($s) => $queue->enqueue(['reply_to' => "ann@{$s}example.net"] + mail_fields()),
    'reply_to (name)' => fn($s) => $queue->enqueue(['reply_to' => ['ann@example.net' => "\xc3\xa4$s"]] + mail_fields()),
    'subject' => fn($s) => $queue->enqueue(mail_fields(subject: "Hel{$s}lo")),
    'subject (encoded)' => fn($s) => $queue->enqueue(mail_fields(subject: "Gr\xc3\xbc\xc3\x9fe $s")),
    'headers[X-One]' => fn($s) => $queue->enqueue(['headers' => ['X-One' => "a{$s}b"]] + mail_fields()),
    'headers (second)' => fn($s) => $queue->enqueue(['headers' => ['X-One' => ['fine', "\xc3\xa4$s"]]] + mail_fields()),
    'headers' => fn($s) => $queue->enqueue(['headers' => ["X-O{$s}ne" => 'x']] + mail_fields()),
    'attachments[0] (name)' => fn($s) => $queue->enqueue(['attachments' => [['data' => 'x', 'name' => "a{$s}b.txt"]]] + mail_fields()),
    'attachments (key)' => fn($s) => $queue->enqueue(['attachments' => ["a{$s}b.txt" => ['data' => 'x']]] + mail_fields()),
    'attachments[0] (type)' => fn($s) => $queue->enqueue(['attachments' => [['data' => 'x', 'type' => "text/{$s}plain"]]] + mail_fields()),
    'attachments[0] (parameter)' => fn($s) => $queue->enqueue(['attachments' => [['data' => 'x', 'type' => "text/plain; charset=\"utf{$s}8\""]]] + mail_fields()),
    'attachments[0] (path)' => fn($s) => $queue->enqueue(['attachments' => [__FILE__ . $s]] + mail_fields()),
    'inline (key)' => fn($s) => $queue->enqueue(['inline' => ["lo{$s}go" => ['data' => 'x']], 'html' => 'x'] + mail_fields()),
    'inline[0] (cid)' => fn($s) => $queue->enqueue(['inline' => [['data' => 'x', 'cid' => "logo$s"]], 'html' => 'x'] + mail_fields()),
    'message_id' => fn($s) => $queue->enqueue(['message_id' => "<a{$s}b@example.org>"] + mail_fields()),
    'message_id (bare)' => fn($s) => $queue->enqueue(['message_id' => "ab@example.org$s"] + mail_fields()),
    'unsubscribe' => fn($s) => $queue->enqueue(['unsubscribe' => "https://example.org/{$s}u"] + mail_fields()),
    'unsubscribe[1]' => fn($s) => $queue->enqueue(['unsubscribe' => ['https://example.org/', "mailto:u@example.org$s"]] + mail_fields()),
    'envelopeFrom' => fn($s) => $queue->enqueue($raw, ...['envelopeFrom' => "a$s@example.org"] + $envelope),
    'recipients[0]' => fn($s) => $queue->enqueue($raw, ...['recipients' => ["b@example.org$s"]] + $envelope),
    'recipients[1]' => fn($s) => $queue->enqueue(null, recipients: ['b@example.org', "{$s}c@example.org"]),
    'reference' => fn($s) => $queue->enqueue(mail_fields(), "order{$s}7"),
    'type' => fn($s) => $queue->enqueue(mail_fields(), type: "in{$s}voice"),
    'message' => fn($s) => $queue->enqueue("Subj{$s}ect: x\r\n\r\nbody\r\n", ...$envelope),
    'transport' => fn($s) => $queue->runWorker("smtp://localhost:2{$s}5", log: ''),
    'transport (option)' => fn($s) => $queue->runWorker("smtp://localhost?ehlo=a{$s}b", log: ''),
    'transport (encoded)' => fn($s) => $queue->runWorker('smtp://localhost?ehlo=a' . rawurlencode($s) . 'b', log: ''),
    'mailRedirectTo' => fn($s) => $queue->setConfig('mailRedirectTo', "me{$s}x@example.org"),
    'journal' => fn($s) => new MailQueue($path, journal: "wal$s"),
    'table' => fn($s) => new MailQueue($path, table: "mail{$s}queue"),
];
/* Text that people write and paste: spaces and line separators of other kinds become spaces.
 * Address lists lose such spaces at their ends. */
$separators = ["\t", "\v", "\f"];
$pasted = ['from (name)', 'to (name)', 'to[1]', 'to[ann@example.net]', 'to[0] (name)', 'cc', 'cc (name)', 'bcc[2]', 'reply_to (name)', 'subject', 'subject (encoded)', 'headers[X-One]', 'headers (second)', 'attachments[0] (name)', 'attachments (key)'];
$count = 0;
foreach ($fields as $field => $call) {
    $name = strtok($field, ' [');
    foreach (array_diff($strings, in_array($field, $pasted) ? $separators : []) as $string) {
        $count++;
        try {
            $call($string);
            echo "$field took ", json_encode($string), "\n";
        } catch (MailQueue\MessageException $e) {
            if (strtok($e->field, '[') !== $name || !str_contains($e->getMessage(), $name)) {
                echo "$field and ", json_encode($string), ": [$e->field] {$e->getMessage()}\n";
            }
        } catch (ValueError $e) {
            if (!str_contains($e->getMessage(), $name) && !str_contains($e->getMessage(), '($value) must not contain any null bytes')) {
                echo "$field and ", json_encode($string), ": {$e->getMessage()}\n";
            }
        }
        if (isset($e) && preg_match('/[\x00-\x1f\x7f]/', $e->getMessage())) {
            echo "$field: the text repeats ", json_encode($string), "\n";
        }
    }
}
echo "$count tried, ", count($queue->jobs()), " stored, config ", var_export($queue->config('mailRedirectTo'), true), "\n";

/* In the address fields of a complete message: all except the characters that fold or end a
 * line. */
foreach (array_diff(array_slice($strings, 0, 33), ["\t", "\n", "\r"]) as $string) {
    foreach (['From' => 'To: b@example.net', 'To' => 'From: a@example.org', 'Bcc' => 'From: a@example.org', 'Resent-To' => 'From: a@example.org'] as $field => $other) {
        foreach (["ann{$string}x@example.net", "An{$string}n <ann@example.net>"] as $value) {
            foreach ([fn($text) => $queue->enqueue($text), fn($text) => MailQueue::envelope($text)] as $call) {
                $text = thrown(fn() => $call("$other\n$field: $value\n\nx"));
                if (!preg_match('/^MailQueue.MessageException \[(.*?)\]: \1: [^\x00-\x1f\x7f]*$/', $text, $m) || !in_array($m[1], [$field, 'message'])) {
                    echo "$field and ", json_encode($string), ": $text\n";
                }
            }
        }
    }
}
echo count($queue->jobs()), " stored\n";

/* The message stored last, without the parts that differ each time. */
$raw = static fn() => preg_replace('/^Date:.*|[0-9a-f]{16,}/m', '', (new PDO("sqlite:$path"))->query('SELECT content FROM mail_body ORDER BY id DESC LIMIT 1')->fetchColumn());
foreach ([...$separators, "\u{85}", "\u{2028}", "\u{2029}"] as $string) {
    foreach ($pasted as $field) {
        $fields[$field]($string);
        $taken = $raw();
        $fields[$field](' ');
        if ($taken !== $raw()) {
            echo "$field: ", json_encode($string), " is not a space:\n$taken";
        }
    }
}
echo count($queue->jobs(limit: 1000)), " stored\n";

/* A body may contain tabs and line ends of any kind. */
echo $queue->enqueue(mail_fields(text: "a\tb\rc\nd\r\ne")), "\n";
?>
--EXPECT--
1425 tried, 0 stored, config NULL
0 stored
180 stored
181
