--TEST--
runWorker(): a process that a callback forked and that lives on does not keep the worker slot
--EXTENSIONS--
mailqueue
pcntl
posix
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
if (ran_without_leak_check(__FILE__)) {
    return;
}
$queue = new MailQueue(temp_directory() . '/mail.sqlite');
$child = 0;
foreach (['a', 'b'] as $reference) {
    $queue->enqueue(['from' => 'a@example.org', 'to' => 'b@example.net', 'subject' => 's', 'text' => 't'], $reference);
    $report = $queue->runWorker(function (MailQueue\Job $job) use (&$child): void {
        if ($job->reference === 'a') {
            $child = pcntl_fork();
            while ($child === 0) { // inherits all descriptors of its parent
                sleep(60);
            }
        }
    }, log: '');
    echo "$reference: $report->end, $report->sent sent\n";
}
posix_kill($child, SIGKILL);
pcntl_waitpid($child, $status);
?>
--EXPECT--
a: empty, 1 sent
b: empty, 1 sent
