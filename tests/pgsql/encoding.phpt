--TEST--
PostgreSQL in LATIN1: question marks replace letters that it lacks in a subject, an error or a reply; values that must be exact are refused
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
use MailQueueTest\PostgreSQL;

putenv('XDG_STATE_HOME=' . temp_directory());
$server = new PostgreSQL();
$server->connect()->exec("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
$dsn = str_replace('dbname=postgres', 'dbname=latin', $server->dsn());
$pdo = fn(): PDO => new PDO("$dsn;client_encoding=UTF8");
$letter = mail_fields(subject: "1 \u{20ac}, \u{e4}, \u{1f600}");
$many = [['message' => $letter, 'reference' => 'many'], ['message' => mail_fields(subject: "\u{e4}")]];

echo 'a connection of its own: ', thrown(fn() => (new MailQueue($dsn))->enqueue($letter, 'own')), "\n";
echo 'many: ', thrown(fn() => (new MailQueue($dsn))->enqueueMany($many)), "\n";
echo "the application's: ", thrown(fn() => (new MailQueue($pdo()))->enqueue($letter, 'pdo')), "\n";
foreach (['enqueue' => [$letter, 'joined'], 'enqueueMany' => [[['reference' => 'joined many'] + $many[0]]]] as $method => $arguments) {
    $application = $pdo();
    $application->beginTransaction();
    $application->exec('CREATE TABLE IF NOT EXISTS orders (n int)');
    echo "its transaction, $method(): ", thrown(fn() => (new MailQueue($application))->$method(...$arguments)), "\n";
    $application->exec('INSERT INTO orders VALUES (1)');
    $application->commit();
}
echo $application->query('SELECT count(*) FROM orders')->fetchColumn(), " orders\n";

$queue = new MailQueue($dsn);
foreach ($queue->jobs() as $job) {
    echo $job->reference ?? 'without a reference', ": $job->subject\n";
}
echo thrown(fn() => $queue->enqueue(mail_fields(), "order \u{20ac}")), "\n";

$queue->delete(array_map(fn($job) => $job->id, $queue->jobs()));
$queue->enqueue(mail_fields(), 'order');
$queue->runWorker(static fn() => throw new RuntimeException("no \u{20ac} today"), log: '', messageLimit: 1);
foreach ($queue->jobs() as $job) {
    echo "$job->reference: {$job->status->name}, $job->lastError\n";
}
?>
--EXPECT--
a connection of its own: nothing
many: nothing
the application's: nothing
its transaction, enqueue(): nothing
its transaction, enqueueMany(): nothing
2 orders
own: 1 ?, ?, ?
many: 1 ?, ?, ?
without a reference: ?
pdo: 1 ?, ?, ?
joined: 1 ?, ?, ?
joined many: 1 ?, ?, ?
MailQueue\DatabaseException [database]: SQLSTATE[22P05]: Untranslatable character: 7 ERROR:  character with byte sequence 0xe2 0x82 0xac in encoding "UTF8" has no equivalent in encoding "LATIN1": the database's encoding lacks that letter: use one in UTF8
order: Failed, RuntimeException: no ? today
