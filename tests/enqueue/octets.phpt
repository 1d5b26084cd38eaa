--TEST--
Stored messages come back octet by octet; references are compared by octets
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
    $references = ['e', 'E', "\u{e9}", "e\u{301}", 'e ', ' e', "\u{df}", 'ss', "\u{1f600}", "\u{1f601}", '1', '01', '1.0', '%', '_', "'", '"', '\\', '\\\\', '?', '$1', ':a',
        str_repeat("\u{1f600}", 47) . 'ab', str_repeat("\u{1f600}", 47) . 'ac'];
    $ids = [];
    foreach ($references as $i => $reference) {
        $ids[] = $queue->enqueue(mail_fields(), $reference, "type \u{1f600} '$i'");
        must($queue->enqueue(mail_fields(), $reference, "type \u{1f600} '$i'") === null, "$reference is there");
    }
    $again = array_map(fn($reference) => $queue->enqueue(mail_fields(), $reference, 'e'), $references);
    echo count(array_filter($ids)), ' and ', count(array_filter($again)), "\n";
    foreach ($references as $i => $reference) {
        $job = $queue->job($ids[$i]);
        must($job->reference === $reference && $job->type === "type \u{1f600} '$i'", $reference);
    }
    var_dump(array_map(fn($job) => $job->reference, $queue->jobs(limit: count($references))) === $references);
    echo $queue->delete([...$ids, ...$again]), "\n";

    /* Octets of all kinds in a message, by one call and by many. */
    $octets = implode(array_map('chr', array_diff(range(1, 255), [10, 13])));
    $message = "Subject: x\r\nDate: Thu, 01 Jan 2026 00:00:00 +0000\r\nMessage-ID: <a@b>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=iso-8859-1\r\n"
        . "Content-Transfer-Encoding: 8bit\r\n\r\n$octets\r\n\\x41 \\\\101 '' \"\" ? :a \$1\r\n";
    $envelope = ['envelopeFrom' => "gr\u{fc}n@example.org", 'recipients' => ["o'neil@example.net", "\u{fc}\u{1f600}@example.net"]];
    echo $error = thrown(function () use ($queue, $message, $envelope, &$id) { $id = $queue->enqueue($message, ...$envelope); }), "\n";
    $queue->enqueueMany([['message' => $message] + $envelope]);
    [$one, $many] = $queue->claim(2);
    foreach ([$one, $many] as $job) {
        var_dump($job->message === $queue->job($job->id)->message, $job->messageId, md5($job->message), $job->envelopeFrom, $job->recipients);
    }
    $queue->fail($one, "'\\ \u{1f600} " . str_repeat("\u{1f600}", 2000), permanent: true);
    $queue->fail($many, "\xff\xfe not UTF-8");
    foreach ([$one, $many] as $job) {
        $error = $queue->job($job->id)->lastError;
        echo strlen($error), ' ', substr($error, 0, 20), ' ', preg_match('//u', $error), "\n";
    }

    /* Numbers at the ends of their ranges. */
    $last = $queue->enqueue(null, 'last', priority: -100, sendAt: 253402300798, expiresAt: 253402300799, maxAttempts: 1000);
    $job = $queue->job($last);
    echo "$job->priority $job->nextAttemptAt $job->expiresAt $job->maxAttempts\n";
    foreach (["k\u{e9}y", 'KEY', 'key', str_repeat('k', 100)] as $key) {
        $queue->setConfig($key, "$key: \u{1f600} '\\'");
    }
    echo $queue->config("k\u{e9}y"), ' ', $queue->config('KEY'), ' ', $queue->config('key'), ' ', strlen($queue->config(str_repeat('k', 100))), "\n";
});
?>
--EXPECT--
24 and 24
bool(true)
48
nothing
bool(true)
string(5) "<a@b>"
string(32) "5c6ae92948e0a6d5a11bfb210c3a9038"
string(17) "grün@example.org"
array(2) {
  [0]=>
  string(18) "o'neil@example.net"
  [1]=>
  string(18) "ü😀@example.net"
}
bool(true)
string(5) "<a@b>"
string(32) "5c6ae92948e0a6d5a11bfb210c3a9038"
string(17) "grün@example.org"
array(2) {
  [0]=>
  string(18) "o'neil@example.net"
  [1]=>
  string(18) "ü😀@example.net"
}
500 '\ 😀 😀😀😀 1
16 �� not UTF-8 1
-100 253402300798 253402300799 1000
kéy: 😀 '\' KEY: 😀 '\' key: 😀 '\' 110
