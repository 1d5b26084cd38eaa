--TEST--
runWorker(): one at a time, a second start ends at once; signals; a worker that was killed
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
pcntl
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';

/* A worker whose transport says what it does, and waits for a line before it returns. */
const SLOW = '$queue = new MailQueue($argv[3] === "native" ? $argv[1] : new PDO($argv[1]));
    $report = $queue->runWorker(function ($job) { echo "$job->reference\n"; $read = [STDIN]; $n = null;
        while (@stream_select($read, $n, $n, 20) === false) { $read = [STDIN]; } fgets(STDIN); }, log: "", lease: 600, maxWorkers: (int) $argv[2]);
    echo "$report->end sent $report->sent released $report->released\n";';
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $start = fn(int $slots = 1): Other => new Other(SLOW, $backend->dsn, "$slots", $backend->name);
    $show = function () use ($queue): void {
        foreach ($queue->jobs() as $job) {
            echo "$job->reference {$job->status->name} $job->attempts uncertain $job->uncertain; ";
        }
        echo 'workers ', $queue->diagnostics()['workers'], "\n";
    };
    $enqueue = function (string ...$references) use ($queue): void {
        array_map(fn($reference) => $queue->enqueue(mail_fields(), $reference), $references);
    };

    $enqueue('a', 'b');
    $first = $start();
    echo 'first sends ', $first->line(), "\n";
    $began = microtime(true);
    $report = $queue->runWorker('null://null', log: '');
    echo "here: $report->end claimed $report->claimed", microtime(true) - $began < 60 ? ' at once' : ' late', "\n";
    $second = $start();
    echo 'second: ', $second->end()[0];
    $show();
    $third = $start(2);
    echo 'third, with two slots: ', $third->end()[0];
    $first->tell('go');
    echo 'first sends ', $first->line(), "\n";
    $first->tell('go');
    echo 'first: ', $first->end()[0];
    $show();

    echo "SIGTERM: what is under way is finished, the rest goes back\n";
    $enqueue('c', 'd', 'e');
    $worker = $start();
    echo $worker->line(), "\n";
    posix_kill($worker->pid(), SIGTERM);
    usleep(100000);
    $worker->tell('go');
    [$output, $exit] = $worker->end();
    echo "$output$exit\n";
    $show();

    echo "SIGKILL in the middle: only that one is uncertain\n";
    $worker = $start();
    echo $worker->line(), "\n";
    posix_kill($worker->pid(), SIGKILL);
    $worker->end();
    wait_until(fn() => $queue->diagnostics()['workers'] === 0); // a server notices it a moment later
    $show();
    $report = $queue->runWorker('null://null', log: '');
    echo "$report->end sent $report->sent recovered $report->recovered uncertain $report->uncertain\n";
    $show();
});
?>
--EXPECT--
first sends a
here: locked claimed 0 at once
second: locked sent 0 released 0
a Sending 1 uncertain 0; b Sending 1 uncertain 0; workers 1
third, with two slots: empty sent 0 released 0
first sends b
first: empty sent 2 released 0
workers 0
SIGTERM: what is under way is finished, the rest goes back
c
signal sent 1 released 2
0
d Pending 0 uncertain 0; e Pending 0 uncertain 0; workers 0
SIGKILL in the middle: only that one is uncertain
d
d Sending 1 uncertain 0; e Sending 1 uncertain 0; workers 0
empty sent 1 recovered 1 uncertain 1
d Failed 1 uncertain 1; workers 0
