--TEST--
diagnostics() and migrate()
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
putenv('MAIL_QUEUE_LOG');
putenv('HOME=/nonexistent');
$path = database();
$queue = new MailQueue($path, journal: 'wal');
$facts = $queue->diagnostics();
foreach ($facts as $key => $value) {
    echo "$key: ", match ($key) {
        'sqlite', 'libcurl' => preg_replace('/\d+/', 'N', $value),
        'walSafe', 'server' => get_debug_type($value),
        default => str_replace(dirname($path), '%', (string) $value),
    }, "\n";
}
putenv('MAIL_QUEUE_LOG=/somewhere/mail.log');
echo $queue->diagnostics()['log'], "\n";
echo 'schema ', $queue->migrate(), ' ', $queue->migrate(), ' ', $queue->config('mailSchemaVersion'), "\n";

/* A newer version's tables take mail, and are left alone by all else. */
(new PDO("sqlite:$path"))->exec("UPDATE config SET value = '999' WHERE key = 'mailSchemaVersion'");
$old = new MailQueue($path);
echo get_debug_type($old->enqueue(mail_fields())), "\n";
echo thrown(fn() => $old->stats(), $path), "\n";
echo thrown(fn() => $old->claim(), $path), "\n";
?>
--EXPECT--
sqlite: N.N.N
libcurl: N.N.N
walSafe: bool
database: %/mail.db
journal: wal
runDirectory: %/mail.db.run
log: %/mail-queue.log
workers: 0
server: null
/somewhere/mail.log
schema 1 1 1
int
MailQueue\DatabaseException [schema]: the tables have version 999, this extension knows up to 1: upgrade the mailqueue extension
MailQueue\DatabaseException [schema]: the tables have version 999, this extension knows up to 1: upgrade the mailqueue extension
