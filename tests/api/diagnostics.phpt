--TEST--
diagnostics() describes the queue, its database and the build
--EXTENSIONS--
mailqueue
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
