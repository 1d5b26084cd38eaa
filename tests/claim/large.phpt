--TEST--
Large messages: bounded in memory, read after the claim; a row that is gone is not sent
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
const MIB = 1 << 20;
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $message = fn(int $n, int $size): string => str_pad("From: a@example.org\r\nTo: b@example.net\r\nX-N: $n\r\n\r\n", $size, "$n 0123456789\r\n");
    $store = function (int $n, int $size) use ($queue, $message): void {
        $queue->enqueue($message($n, $size), "r$n", envelopeFrom: 'a@example.org', recipients: ['b@example.net']);
    };
    $sizes = [3 * MIB, 20, 70_000, MIB, 65_536, 5, 6 * MIB, 90_000, 100, 2 * MIB];
    array_walk($sizes, fn(int $size, int $n) => $store($n, max($size, 80)));
    $queue->enqueue(null, 'composed', 'other');
    $good = 0;
    $report = $queue->runWorker(function (MailQueue\Job $job, string $got) use (&$good, $message, $sizes): void {
        $n = (int) substr($job->reference, 1);
        $want = $job->reference === 'composed' ? 'composed' : strstr($message($n, max($sizes[$n], 80)), "\r\n\r\n");
        $good += str_contains($got, rtrim($want));
    }, fn() => ['from' => 'a@example.org', 'to' => 'b@example.net', 'subject' => 'x', 'text' => 'composed'], maxBytes: 4 * MIB, log: '');
    echo "$report->sent sent, $good as they were stored\n";

    /* Things that disappear while a job waits for memory: the row, or only its message. */
    array_map(fn(int $n) => $store($n, MIB), range(0, 5));
    $other = $backend->pdo([PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    $sent = [];
    $report = $queue->runWorker(function (MailQueue\Job $job) use (&$sent, $other): void {
        $sent[] = $job->reference;
        if ($job->reference !== 'r1') {
            return; /* the others are claimed once their sizes are known */
        }
        $other->exec("DELETE FROM mail_queue WHERE reference IN ('r2', 'r3')");
        $other->exec("DELETE FROM mail_body WHERE id = (SELECT id FROM mail_queue WHERE reference = 'r4')");
    }, maxBytes: 3 * MIB, messageLimit: 6, log: '');
    echo implode(' ', $sent), " sent, $report->stale stale, $report->tryLater to be tried later: ",
        $queue->jobs()[0]->lastError, "\n";
    $other->exec('DELETE FROM mail_queue');

    /* claim(): jobs that do not fit go back unchanged. */
    array_map(fn(int $n) => $store($n, 8 * MIB - 1000), range(0, 9));
    $jobs = $queue->claim(100);
    $sizes = array_map(fn(MailQueue\Job $job): int => strlen($job->message), $jobs);
    echo count($jobs), ' claimed, ', array_sum($sizes) < 64 * MIB ? "less than 64 MiB\n" : "too much\n";
    $waits = array_filter($queue->jobs(), fn(MailQueue\Job $job): bool => $job->status === MailQueue\Status::Pending && $job->attempts === 0);
    echo count($waits), " wait as before\n";
    array_map($queue->complete(...), $jobs);
    echo count($queue->claim(100)), ' and ', count($queue->claim(100)), " more\n";
});
?>
--EXPECT--
11 sent, 11 as they were stored
r0 r1 r5 sent, 2 stale, 1 to be tried later: the message was deleted while it waited
8 claimed, less than 64 MiB
2 wait as before
2 and 0 more
