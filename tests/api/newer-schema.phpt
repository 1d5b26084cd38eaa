--TEST--
migrate(), and tables of a newer version: mail can be enqueued, everything else leaves them alone
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
    echo 'schema ', $queue->migrate(), ' ', $queue->migrate(), ' ', $queue->config('mailSchemaVersion'), "\n";
    $key = $backend->name === 'mysql' ? '`key`' : 'key';
    must($backend->pdo()->exec("UPDATE config SET value = '999' WHERE $key = 'mailSchemaVersion'") === 1, 'newer');
    $old = $backend->queue();
    echo get_debug_type($old->enqueue(mail_fields())), "\n";
    foreach ([fn() => $old->stats(), fn() => $old->claim(), fn() => $old->migrate()] as $call) {
        echo thrown($call), "\n";
    }
});
?>
--EXPECT--
schema 6 6 6
int
MailQueue\DatabaseException [schema]: the tables have version 999, this extension knows up to 6: upgrade the mailqueue extension
MailQueue\DatabaseException [schema]: the tables have version 999, this extension knows up to 6: upgrade the mailqueue extension
MailQueue\DatabaseException [schema]: the tables have version 999, this extension knows up to 6: upgrade the mailqueue extension
