--TEST--
mailMaxWorkers is the ceiling of all runs, whatever their maxWorkers is, on SQLite and on servers
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
    $work = '$open()->runWorker("null://null", maxWorkers: 3, daemon: true, log: "");';
    $others = [$backend->other($work), $backend->other($work)];
    must(wait_until(fn(): bool => MailQueue\Internal::workers($queue) === 2), 'two workers');
    foreach ([null, 3, 2, 1, 64] as $most) {
        $queue->setConfig('mailMaxWorkers', $most);
        $report = $backend->queue()->runWorker('null://null', maxWorkers: 3, log: '');
        echo json_encode($most), ' ', $report->end, "\n";
    }
    array_map(fn(Other $other) => posix_kill($other->pid(), SIGKILL), $others);
});
?>
--EXPECT--
null empty
3 empty
2 locked
1 locked
64 empty
