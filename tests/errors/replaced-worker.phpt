--TEST--
The database is replaced while a worker runs: the worker opens the new one and loses none of its mail, or says why it ends
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';

foreach (['wal', 'delete'] as $journal) {
    foreach ([
        'restored from a backup' => function (string $path): void {
            array_map('unlink', glob("$path-*"));
            rename("$path.backup", $path);
            @rename("$path.backup-wal", "$path-wal");
        },
        'copied by copy()' => function (string $path): void {
            copy($path, "$path.copy");
            (new Other('(new MailQueue($argv[1]))->enqueue(mail_fields(), "from beside");', $path))->end();
        },
        'restored from a backup with older tables' => function (string $path): void {
            $pdo = new PDO("sqlite:$path.backup");
            $pdo->exec("UPDATE config SET value = '5' WHERE key = 'mailSchemaVersion'; DROP TABLE mail_bounce; PRAGMA wal_checkpoint(TRUNCATE)");
            $pdo = null;
            array_map('unlink', glob("$path-*"));
            rename("$path.backup", $path);
        },
        'deleted' => function (string $path): void {
            array_map('unlink', array_filter(glob("$path*"), 'is_file'));
        },
    ] as $what => $deed) {
        $path = database();
        $queue = new MailQueue($path, journal: $journal);
        $queue->enqueue(mail_fields(), 'first');
        $backup = new MailQueue("$path.backup", journal: $journal);
        $backup->enqueue(mail_fields(), 'in the backup');
        unset($backup);
        $sent = [];
        $done = false;
        $transport = function ($job) use (&$sent, &$done, $deed, $path): void {
            $sent[] = $job->reference;
            if (!$done) {
                $done = true;
                $deed($path);
            }
        };
        $text = thrown(function () use ($queue, $transport) { $queue->runWorker($transport, log: '', grace: 1); }, $path);
        echo "$journal, $what: sent ", implode(', ', $sent), '; ', $text, "\n";
        if (is_file($path)) {
            echo '  left: ', implode(', ', array_map(fn($job) => "$job->reference {$job->status->name}", (new MailQueue($path))->jobs())), "\n";
        }
    }
}
?>
--EXPECT--
wal, restored from a backup: sent first, in the backup; nothing
  left: 
wal, copied by copy(): sent first, from beside; nothing
  left: 
wal, restored from a backup with older tables: sent first; MailQueue\DatabaseException [schema]: the queue's tables are missing or older than this extension: open the queue again, or run `mailqueue migrate`
  left: in the backup Pending
wal, deleted: sent first; MailQueue\DatabaseException [replaced]: % (or its -wal file) was replaced, renamed or deleted while it was open; nothing was stored: open it again. Replace a database only while nothing has it open, and copy it with VACUUM INTO or the backup functions, never with copy(), which drops SQLite's locks
delete, restored from a backup: sent first, in the backup; nothing
  left: 
delete, copied by copy(): sent first, from beside; nothing
  left: 
delete, restored from a backup with older tables: sent first; MailQueue\DatabaseException [schema]: the queue's tables are missing or older than this extension: open the queue again, or run `mailqueue migrate`
  left: in the backup Pending
delete, deleted: sent first; MailQueue\DatabaseException [replaced]: % (or its -wal file) was replaced, renamed or deleted while it was open; nothing was stored: open it again. Replace a database only while nothing has it open, and copy it with VACUUM INTO or the backup functions, never with copy(), which drops SQLite's locks
