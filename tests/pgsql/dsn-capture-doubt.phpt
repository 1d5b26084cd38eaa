--TEST--
mail() into a server that commits but never says so: a warning and false, and PHP does not send a second copy
--EXTENSIONS--
mailqueue
pdo_pgsql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/pgsql.inc'; die(MailQueueTest\PgBouncer::missing()); ?>
--FILE--
<?php
require __DIR__ . '/../capture/capture.inc';
require __DIR__ . '/../lib/pgsql.inc';
use MailQueueTest\{PgBouncer, PostgreSQL};

// A commit waits for a standby that does not exist, and is stored meanwhile. Ending the session
// then loses the answer.
$server = new PostgreSQL(['synchronous_standby_names' => 'nobody']);
$local = "{$server->dsn()};options='-csynchronous_commit=local'";
(new MailQueue($local))->migrate();
$root = new PDO($local);
$end = fn(): bool => $root->query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")->rowCount() === 1;

// Behind a pooler, the mail is stored with BEGIN and COMMIT; otherwise with one statement.
foreach (['one statement' => $server, 'COMMIT' => new PgBouncer($server, 'transaction')] as $name => $from) {
    foreach (['fail', 'send'] as $policy) {
        $directory = temp_directory();
        $settings = ['mailqueue.capture_mail' => 1, 'mailqueue.capture_failure' => $policy, 'mailqueue.database' => $from->dsn(),
            'mail.log' => "$directory/log", 'sendmail_path' => keeper($directory), 'html_errors' => 0];
        $code = 'echo "\n", var_export(mail("ann@example.net", "x", "y", "From: club@example.org"), true), "\n";';
        $process = proc_open(php_with($settings, '-r', $code), [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
        must(wait_until($end), 'the commit waits');
        $said = stream_get_contents($pipes[1]);
        proc_close($process);
        preg_match('/(Warning|Notice): mail\(\): (.*?): .*(may be stored or not)/', $said, $match) || print($said);
        echo "$name, $policy: ", preg_match('/^(true|false)$/m', $said, $result) ? $result[0] : 'no result', ', ', implode(' … ', array_slice($match, 1)), '; ',
            $root->query('DELETE FROM mail_queue')->rowCount(), ' stored, ', (int) is_file("$directory/message"), ' sent, ', count(file("$directory/log")), " in mail.log\n";
    }
}
?>
--EXPECT--
one statement, fail: false, Warning … Perhaps the mail was not queued … may be stored or not; 1 stored, 0 sent, 1 in mail.log
one statement, send: false, Warning … Perhaps the mail was not queued … may be stored or not; 1 stored, 0 sent, 1 in mail.log
COMMIT, fail: false, Warning … Perhaps the mail was not queued … may be stored or not; 1 stored, 0 sent, 1 in mail.log
COMMIT, send: false, Warning … Perhaps the mail was not queued … may be stored or not; 1 stored, 0 sent, 1 in mail.log
