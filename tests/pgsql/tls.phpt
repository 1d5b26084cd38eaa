--TEST--
PostgreSQL by TLS: a lost connection is recognised, whatever libpq's words are
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
require __DIR__ . '/../lib/certificates.inc';

$made = (new MailQueueTest\Certificates())->selfSigned();
$directory = temp_directory();
chmod($directory, 0711);
$files = ['ssl_cert_file' => "$directory/server.pem", 'ssl_key_file' => "$directory/server.key"];
copy($made['cert'], $files['ssl_cert_file']);
copy($made['key'], $files['ssl_key_file']);
chmod($files['ssl_key_file'], 0600);
posix_geteuid() === 0 && chown($files['ssl_key_file'], 'nobody');
$address = sprintf('127.%d.%d.%d', random_int(1, 254), random_int(0, 255), random_int(1, 254)); // the port is PostgreSQL's own
$server = new MailQueueTest\PostgreSQL(['ssl' => 'on', 'listen_addresses' => $address] + $files);
putenv('XDG_STATE_HOME=' . temp_directory());
$dsn = "pgsql:host=$address;dbname=postgres;user=test;sslmode=require";
$own = new MailQueue($dsn);
$pdo = new PDO($dsn);
$queue = new MailQueue($pdo);
$queue->enqueue(mail_fields(), 'first');
$own->enqueue(mail_fields(), 'second');
$others = $server->connect();

posix_kill((int) $pdo->query('SELECT pg_backend_pid()')->fetchColumn(), SIGKILL); // and with it all of them
must(wait_until(function () use ($others): bool {
    try {
        $others->query('SELECT 1');
        return false;
    } catch (PDOException) {
        return true;
    }
}), 'the server has seen it');
must(wait_until(function () use ($server): bool {
    try {
        $server->connect();
        return true;
    } catch (PDOException) {
        return false;
    }
}), 'the server is back');
foreach (['third', 'fourth'] as $reference) {
    echo preg_replace('/: SQL.*: the conn/', ' the conn', thrown(fn() => $queue->enqueue(mail_fields(), $reference))), "\n";
}
echo 'its own: ', thrown(fn() => $own->enqueue(mail_fields(), 'fifth')), "\n";
echo implode(' ', array_map(fn($job) => $job->reference, (new MailQueue(new PDO($dsn)))->jobs())), "\n";
?>
--EXPECT--
MailQueue\DatabaseException [io] the connection is lost: open a new PDO and a MailQueue with it; what was being committed may be stored or not
MailQueue\DatabaseException [io] the connection is lost: open a new PDO and a MailQueue with it; what was being committed may be stored or not
its own: nothing
first second fifth
