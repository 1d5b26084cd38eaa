--TEST--
Processes that suppress at the same time make the first suppressions of a database and number them without gaps; a claim misses none
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
on_backends(['native', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $queue->enqueueMany(array_map(fn(int $i): array => ['message' => mail_fields(to: "n$i@example.net")], range(0, 119)));
    $others = [];
    foreach (range(0, 2) as $n) {
        $others[] = $backend->other('$queue = $open(); for ($i = (int) $arguments[0]; $i < 60; $i += 3) $queue->suppress("n$i@example.net");', (string) $n);
    }
    foreach ($others as $other) {
        echo $other->end()[0];
    }
    $all = $queue->suppressions(1000);
    sort($all);
    echo count($all), ' ', $all[0]['id'], '-', end($all)['id'], ' ', $queue->config('mailSuppressed'), "\n";
    $report = $queue->runWorker('null://null', log: '');
    echo "sent $report->sent suppressed $report->suppressed\n";
});
?>
--EXPECT--
60 1-60 60
sent 60 suppressed 60
