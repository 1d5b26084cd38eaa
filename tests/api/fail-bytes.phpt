--TEST--
fail() takes a relay's words in any character set: the history, too, can store them
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
    $queue->setConfig('mailHistoryDays', 1);
    $queue->enqueue(mail_fields());
    echo json_encode($queue->fail($queue->claim()[0], "550 5.1.1 Empf\xe4nger \e[31munbekannt", permanent: true)), ' ',
        json_encode([$queue->jobs()[0]->lastError, ...$backend->pdo()->query('SELECT reply FROM mail_log')->fetchAll(PDO::FETCH_COLUMN)], JSON_UNESCAPED_UNICODE), "\n";
});
?>
--EXPECT--
true ["550 5.1.1 Empf�nger ?[31munbekannt","550 5.1.1 Empf�nger ?[31munbekannt","550 5.1.1 Empf�nger ?[31munbekannt"]
