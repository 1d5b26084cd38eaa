--TEST--
Tables of version 2 get the counters and the history when the queue is opened, and while others use them
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
    $first = $backend->queue();
    $first->enqueue(mail_fields(), 'before');
    $first->stats();
    $pdo = $backend->pdo();
    $key = $backend->name === 'mysql' ? '`key`' : 'key';
    $pdo->exec('DROP TABLE mail_count');
    $pdo->exec('DROP TABLE mail_log');
    $pdo->exec("UPDATE config SET value = '2' WHERE $key = 'mailSchemaVersion'");
    echo 'while the tables are old: ', $first->enqueue(mail_fields(), 'old') > 0 ? 'stored' : 'not stored', "\n";
    echo 'a claim that cannot count: ', strtok(thrown(fn() => $first->claim()), ':'), ', ',
        $pdo->query("SELECT count(*) FROM mail_queue WHERE status = 'sending'")->fetchColumn(), " claimed\n";
    $new = $backend->queue();
    echo 'opened: ', $new->enqueue(mail_fields(), 'new') > 0 ? 'stored' : 'not stored', ', version ', $new->config('mailSchemaVersion'), "\n";
    echo $new->runWorker('null://null')->sent, ' sent, ', count($new->jobs()), ' left, ',
        $pdo->query("SELECT mails FROM mail_count WHERE event = 'sent'")->fetchColumn(), " counted\n";

    // Another program's table of that name is left alone.
    $other = $backend->another();
    $other->pdo()->exec('CREATE TABLE mail_log (id BIGINT PRIMARY KEY, line TEXT)');
    echo preg_replace('/it lacks .*?\./', 'it lacks ….', thrown(fn() => $other->queue()->stats())), "\n";
});
?>
--EXPECT--
while the tables are old: stored
a claim that cannot count: MailQueue\DatabaseException [database], 0 claimed
opened: stored, version 6
3 sent, 0 left, 3 counted
MailQueue\DatabaseException [schema]: a table mail_log exists that is not the queue's: it lacks …. Rename it, or give the queue another table
