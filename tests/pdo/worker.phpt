--TEST--
runWorker() on a server: maxWorkers applies to all machines together; each mail is accepted once
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/backends.inc';
echo backends_missing('pgsql', 'mysql');
?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';

/* A worker without access to another machine's files: argv is DSN, slots, record, state. */
const WORKER = 'putenv("XDG_STATE_HOME=" . $argv[4]); $queue = new MailQueue(new PDO($argv[1])); echo "begins\n"; fgets(STDIN);
    $report = $queue->runWorker(function ($job) use ($argv) { usleep(2000); file_put_contents($argv[3], "$job->reference\n", FILE_APPEND | LOCK_EX);
        static $n = 0; if (++$n === 1) { echo "sends\n"; fgets(STDIN); } }, log: "", maxWorkers: (int) $argv[2], batch: 7);
    echo "$report->end stale $report->stale sent ", $report->sent > 0 ? "some" : "none", "\n";';

on_backends(['pgsql', 'mysql'], function (Backend $backend): void {
$queue = $backend->queue();
$record = temp_directory() . '/accepted';

$worker = fn(int $slots): Other => new Other(WORKER, $backend->dsn, "$slots", $record, temp_directory());
$start = function (Other $other): Other { $other->line(); $other->tell('go'); return $other; };
$enqueue = fn(int $from, int $count) => $queue->enqueueMany(array_map(fn($n) => ['message' => mail_fields(), 'reference' => "r$n"], range($from, $from + $count - 1)));
$accepted = function () use ($record): string {
    $lines = file($record, FILE_IGNORE_NEW_LINES);
    unlink($record);
    return count($lines) . ', ' . (count(array_unique($lines)) === count($lines) ? 'each once' : 'some twice');
};

echo "two slots\n";
$enqueue(1, 300);
$workers = [$start($worker(2)), $start($worker(2))];
foreach ($workers as $one) {
    echo $one->line(), "\n";
}
echo 'workers: ', $queue->diagnostics()['workers'], "\n";
echo 'third: ', $start($worker(2))->end()[0];
foreach ($workers as $one) {
    $one->tell('go');
}
foreach ($workers as $one) {
    echo $one->end()[0];
}
echo $accepted(), ', left ', array_sum(array_map(fn($s) => count($queue->jobs($s)), MailQueue\Status::cases())), "\n";
echo 'workers: ', $queue->diagnostics()['workers'], "\n";

echo "one slot, two machines\n";
$enqueue(1, 50);
$one = $start($worker(1));
echo $one->line(), "\n";
echo 'second: ', $start($worker(1))->end()[0];
$report = $queue->runWorker('null://null', log: '');
echo "here: $report->end\n";
$other = $backend->queue(table: 'other_queue');
$other->enqueue(mail_fields());
echo 'another queue: ', $other->runWorker('null://null', log: '')->sent, "\n";
$elsewhere = new Backend($backend->name);
$elsewhere->queue()->enqueue(mail_fields());
echo 'one of the same name in another database: ', $elsewhere->queue()->runWorker('null://null', log: '')->sent, "\n";
posix_kill($one->pid(), SIGKILL);
$one->end();
wait_until(fn() => $queue->diagnostics()['workers'] === 0);
echo 'killed, then: ', $queue->runWorker('null://null', log: '')->end, "\n";

echo "a run within a run on the same connection\n";
$pdo = $backend->pdo();
[$a, $b] = [new MailQueue($pdo), new MailQueue($pdo)];
$a->enqueue(mail_fields(), 'a');
$report = $a->runWorker(function () use ($b): void { echo $b->runWorker('null://null', log: '')->end, "\n"; }, log: '');
echo "$report->end $report->sent, workers {$a->diagnostics()['workers']}\n";
});
?>
--EXPECT--
two slots
sends
sends
workers: 2
third: locked stale 0 sent none
empty stale 0 sent some
empty stale 0 sent some
300, each once, left 0
workers: 0
one slot, two machines
sends
second: locked stale 0 sent none
here: locked
another queue: 1
one of the same name in another database: 1
killed, then: empty
a run within a run on the same connection
locked
empty 1, workers 0
