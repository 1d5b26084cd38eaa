--TEST--
Another program's expires_at of 0 or less means never: the mail is claimed and sent, and its reference stays taken
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
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $pdo = $backend->pdo();
    $pdo->exec('CREATE TABLE people (number VARCHAR(20) PRIMARY KEY)');
    foreach (['without an orphan check' => null, 'with one' => 'people.number'] as $what => $check) {
        $queue = $backend->queue(orphanCheck: $check);
        $pdo->exec('DELETE FROM people');
        foreach ([0, -5, 1, 'NULL'] as $i => $at) {
            $pdo->exec("INSERT INTO people VALUES ('r$i')");
            $id = $queue->enqueue(mail_fields(), "r$i");
            $pdo->exec("UPDATE mail_queue SET expires_at = $at WHERE id = $id");
        }
        $again = array_map(fn(int $i): bool => $queue->enqueue(mail_fields(), "r$i") === null, [0, 1]);
        $report = $queue->runWorker('null://null', log: '');
        echo "$what: ", json_encode($again), " sent $report->sent expired $report->expired orphans $report->orphans\n";
    }
});
?>
--EXPECT--
without an orphan check: [true,true] sent 3 expired 1 orphans 0
with one: [true,true] sent 3 expired 1 orphans 0
