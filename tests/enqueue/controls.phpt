--TEST--
Control characters in whatever reaches a header, a command or an option are refused, the field is named
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
putenv('MAIL_QUEUE_LOG');
$path = database();
$queue = new MailQueue($path);

/* 33 control characters alone, and the two line ends that injected headers and commands begin with. */
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
    'subject' => fn($s) => $queue->enqueue(mail_fields(subject: "Hel{$s}lo")),
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
$count = 0;
foreach ($fields as $field => $call) {
    $name = strtok($field, ' [');
    foreach ($strings as $string) {
        $count++;
        try {
            $call($string);
            echo "$field took ", json_encode($string), "\n";
        } catch (MailQueue\MessageException $e) {
            if (strtok($e->field, '[') !== $name || !str_contains($e->getMessage(), $name)) {
                echo "$field and ", json_encode($string), ": [$e->field] {$e->getMessage()}\n";
            }
        } catch (ValueError $e) {
            if (!str_contains($e->getMessage(), $name) && !str_contains($e->getMessage(), '($value) must not contain null bytes')) {
                echo "$field and ", json_encode($string), ": {$e->getMessage()}\n";
            }
        }
        if (isset($e) && preg_match('/[\x00-\x1f\x7f]/', $e->getMessage())) {
            echo "$field: the text repeats ", json_encode($string), "\n";
        }
    }
}
echo "$count tried, ", count($queue->jobs()), " stored, config ", var_export($queue->config('mailRedirectTo'), true), "\n";

/* A text, on the other hand, may have tabs and line ends of any kind. */
echo $queue->enqueue(mail_fields(text: "a\tb\rc\nd\r\ne")), "\n";
?>
--EXPECT--
630 tried, 0 stored, config NULL
1
