--TEST--
mailqueue adopt --undo: what was made for the queue's table since, and suppressed addresses, are not dropped silently; on SQLite, PostgreSQL and MariaDB
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/adopt.inc';
require __DIR__ . '/../lib/backends.inc';

foreach (['sqlite', 'pgsql', 'mysql'] as $name) {
    $backend = new Backend($name);
    $pdo = $backend->pdo();
    $pdo->exec('CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, registration_number VARCHAR(20), mail_type VARCHAR(20), status VARCHAR(20))');
    $pdo->exec('CREATE TABLE log (x INTEGER)');
    foreach ([false, true] as $isFull) {
        $isFull && $pdo->exec("INSERT INTO mail_queue (id, registration_number, mail_type, status) VALUES (1, 'A', 'm', 'held')");
        echo substr(said(adopt($backend->dsn)), 0, 22), "\n";
        $pdo->exec('ALTER TABLE mail_queue ADD COLUMN extra INTEGER');
        $pdo->exec('CREATE INDEX mine ON mail_queue (extra)');
        match ($name) {
            'sqlite' => $pdo->exec('CREATE TRIGGER mine AFTER DELETE ON mail_queue BEGIN DELETE FROM log; END'),
            'mysql' => $pdo->exec('CREATE TRIGGER mine AFTER DELETE ON mail_queue FOR EACH ROW DELETE FROM log'),
            'pgsql' => $pdo->exec('CREATE VIEW mine2 AS SELECT extra FROM mail_queue'),
        };
        echo said(adopt($backend->dsn, '--undo'));
        $pdo->exec($name === 'pgsql' ? 'DROP VIEW mine2' : 'DROP TRIGGER mine');
        $pdo->exec('DROP INDEX mine' . ($name === 'mysql' ? ' ON mail_queue' : ''));
        $pdo->exec('ALTER TABLE mail_queue DROP COLUMN extra');
        $queue = $backend->queue(referenceColumn: 'registration_number');
        $queue->suppress('gone@example.net');
        echo said(adopt($backend->dsn, '--undo'));
        $queue->unsuppress('gone@example.net');
        unset($queue);
        $pdo->exec('INSERT INTO mail_bounce (hash, event, at, kind, n) VALUES (1, 2, 3, 4, 5)');
        echo said(adopt($backend->dsn, '--undo'));
        $pdo->exec('DELETE FROM mail_bounce');
        echo said(adopt($backend->dsn, '--undo'));
    }
}
?>
--EXPECT--
exit 0: Adopted 0 mail
exit 78: mailqueue: Since the adoption column extra, index mine, trigger mine came to mail_queue, and would be dropped with it. Drop it first. Nothing was changed.
exit 78: mailqueue: Since the adoption rows came to mail_suppression, which would be dropped. Save those that you need (mailqueue suppress export), and delete them first. Nothing was changed.
exit 78: mailqueue: Since the adoption rows came to mail_bounce, which would be dropped. Save those that you need (mailqueue suppress export), and delete them first. Nothing was changed.
exit 0: Table mail_queue is as it was.
exit 0: Adopted 1 mail
exit 78: mailqueue: Since the adoption column extra, index mine, trigger mine came to mail_queue, and would be dropped with it. Drop it first. Nothing was changed.
exit 78: mailqueue: Since the adoption rows came to mail_suppression, which would be dropped. Save those that you need (mailqueue suppress export), and delete them first. Nothing was changed.
exit 78: mailqueue: Since the adoption rows came to mail_bounce, which would be dropped. Save those that you need (mailqueue suppress export), and delete them first. Nothing was changed.
exit 0: Table mail_queue is as it was.
exit 0: Adopted 0 mail
exit 78: mailqueue: Since the adoption column extra, index mine, view mine2 came to mail_queue, and would be dropped with it. Drop it first. Nothing was changed.
exit 78: mailqueue: Since the adoption rows came to mail_suppression, which would be dropped. Save those that you need (mailqueue suppress export), and delete them first. Nothing was changed.
exit 78: mailqueue: Since the adoption rows came to mail_bounce, which would be dropped. Save those that you need (mailqueue suppress export), and delete them first. Nothing was changed.
exit 0: Table mail_queue is as it was.
exit 0: Adopted 1 mail
exit 78: mailqueue: Since the adoption column extra, index mine, view mine2 came to mail_queue, and would be dropped with it. Drop it first. Nothing was changed.
exit 78: mailqueue: Since the adoption rows came to mail_suppression, which would be dropped. Save those that you need (mailqueue suppress export), and delete them first. Nothing was changed.
exit 78: mailqueue: Since the adoption rows came to mail_bounce, which would be dropped. Save those that you need (mailqueue suppress export), and delete them first. Nothing was changed.
exit 0: Table mail_queue is as it was.
exit 0: Adopted 0 mail
exit 78: mailqueue: Since the adoption column extra, index mine, trigger mine came to mail_queue, and would be dropped with it. Drop it first. Nothing was changed.
exit 78: mailqueue: Since the adoption rows came to mail_suppression, which would be dropped. Save those that you need (mailqueue suppress export), and delete them first. Nothing was changed.
exit 78: mailqueue: Since the adoption rows came to mail_bounce, which would be dropped. Save those that you need (mailqueue suppress export), and delete them first. Nothing was changed.
exit 0: Table mail_queue is as it was.
exit 0: Adopted 1 mail
exit 78: mailqueue: Since the adoption column extra, index mine, trigger mine came to mail_queue, and would be dropped with it. Drop it first. Nothing was changed.
exit 78: mailqueue: Since the adoption rows came to mail_suppression, which would be dropped. Save those that you need (mailqueue suppress export), and delete them first. Nothing was changed.
exit 78: mailqueue: Since the adoption rows came to mail_bounce, which would be dropped. Save those that you need (mailqueue suppress export), and delete them first. Nothing was changed.
exit 0: Table mail_queue is as it was.
