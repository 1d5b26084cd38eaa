--TEST--
A forked child gets a connection and a claim token of its own; the file stays sound
--EXTENSIONS--
mailqueue
pcntl
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
if (ran_without_leak_check(__FILE__)) {
    return;
}
/* Fewer under a sanitizer, because forking takes long there. MAILQUEUE_TEST_FORKS sets the
 * number. */
$forks = (int) (getenv('MAILQUEUE_TEST_FORKS') ?: (getenv('LD_PRELOAD') ? 40 : 400));

/* A child's exit code: 0, or the number of the fault. exit() runs destructors as usual. */
function child(callable $code): int
{
    $pid = pcntl_fork();
    must($pid >= 0, 'fork');
    if ($pid === 0) {
        exit($code());
    }
    return $pid;
}
function wait_for(int $pid): int
{
    pcntl_waitpid($pid, $status);
    return pcntl_wifexited($status) ? pcntl_wexitstatus($status) : 128 + pcntl_wtermsig($status);
}

/* In memory if possible: this test is not about power failures. */
if (is_writable('/dev/shm')) {
    putenv('TMPDIR=/dev/shm');
}
foreach (['wal', 'truncate'] as $journal) {
    $path = database();
    $queue = new MailQueue($path, journal: $journal, busyTimeout: 60000);
    $codes = [];
    for ($i = 0; $i < $forks; $i++) {
        $queue->enqueue(null, "parent $i");
        $pid = child(function () use ($queue, $i): int {
            if ($i % 4 === 0) {
                return 0;   // not used, only freed
            }
            $queue->enqueue(null, "child $i");
            if ($i % 4 === 1) {
                unset($queue);
            }
            return 0;
        });
        $queue->enqueue(null, "parent meanwhile $i");
        if ($i % 2) {
            $codes[] = wait_for($pid);
        } else {
            $waiting[] = $pid;
        }
    }
    $codes = array_merge($codes, array_map('wait_for', $waiting));
    $waiting = [];
    echo "$journal: ", implode(' ', array_unique($codes)), ', ', count($queue->jobs(limit: 10000)) === $forks * 2 + $forks * 3 / 4 ? 'all' : 'some', ' stored, ',
        (new PDO("sqlite:$path"))->query('PRAGMA integrity_check')->fetchColumn(), "\n";

    /* The parent's claim belongs to the parent; the child has another token. */
    [$job] = $queue->claim();
    echo wait_for(child(function () use ($queue, $job): int {
        [$other] = $queue->claim();
        return $other->lockedBy !== $job->lockedBy && $queue->complete($other) ? 0 : 1;
    })), ' ', var_export($queue->complete($job), true), "\n";

    /* A grandchild, through a child that never used the queue. */
    echo wait_for(child(fn(): int => wait_for(child(fn(): int => $queue->enqueue(null, 'grandchild') ? 0 : 1)))), "\n";
}
?>
--EXPECT--
wal: 0, all stored, ok
0 true
0
truncate: 0, all stored, ok
0 true
0
