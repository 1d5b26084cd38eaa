--TEST--
enqueue(): mailqueue.max_message_size limits messages
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--INI--
mailqueue.max_message_size=4K
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $envelope = ['envelopeFrom' => 'a@example.org', 'recipients' => ['b@example.org']];
    $body = str_repeat(str_repeat('x', 78) . "\r\n", 60);
    echo 'raw: ', thrown(fn() => $queue->enqueue("Subject: x\r\n\r\n$body", ...$envelope)), "\n";
    echo 'fields: ', thrown(fn() => $queue->enqueue(mail_fields(text: $body))), "\n";
    echo 'grows over it by its encoding: ', thrown(fn() => $queue->enqueue(mail_fields(text: str_repeat('ü', 1900)))), "\n";
    var_dump($queue->enqueue("Subject: x\r\n\r\n" . substr($body, 0, 3200), ...$envelope));
    echo strlen($queue->job(1)->message) <= 4096 ? "fits\n" : "does not fit\n";
    echo count($queue->jobs()), " stored\n";
});

// The setting itself: 0 means no limit; a word leaves the default.
foreach (['0', 'foo'] as $size) {
    $code = '$queue = new MailQueue($argv[1]); try { echo $queue->enqueue("Subject: x\r\n\r\n" . str_repeat(str_repeat("x", 78) . "\r\n", 340000),
        envelopeFrom: "a@example.org", recipients: ["b@example.org"]) ? "stored" : "not stored"; } catch (Exception $e) { echo $e->getMessage(); }';
    $process = proc_open([...php_command('-d', "mailqueue.max_message_size=$size", '-d', 'display_startup_errors=0', '-d', 'log_errors=0', '-d', 'memory_limit=-1'), '-r', $code, '--', database()], [1 => ['pipe', 'w'], 2 => ['file', '/dev/null', 'w']], $pipes);
    echo "$size: ", trim(stream_get_contents($pipes[1])), "\n";
    proc_close($process);
}
?>
--EXPECT--
raw: MailQueue\MessageException [message]: message: it has 4913 bytes, at most 4096 are allowed; make it smaller or raise the limit
fields: MailQueue\MessageException [text]: text: the message has 4800 bytes or more, at most 4096 are allowed; make it smaller or raise the limit
grows over it by its encoding: MailQueue\MessageException [text]: text: the message has 5470 bytes or more, at most 4096 are allowed; make it smaller or raise the limit
int(1)
fits
1 stored
0: stored
foo: message: it has 27200113 bytes, at most 26214400 are allowed; make it smaller or raise the limit
