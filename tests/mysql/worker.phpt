--TEST--
runWorker() with a DSN on MariaDB: connections that are killed, a server that is killed and comes back; orphans, envelopes
--EXTENSIONS--
mailqueue
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/mariadb.inc'; die(MailQueueTest\MariaDB::missing()); ?>
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
require __DIR__ . '/../lib/mariadb.inc';

use MailQueueTest\MariaDB;

$server = MariaDB::durable();
$dsn = $server->schema();
putenv('XDG_STATE_HOME=' . temp_directory());
$accepted = [];
$enqueue = fn(int $count) => (new MailQueue($dsn))->enqueueMany(array_map(fn($n) => ['message' => mail_fields(), 'reference' => "r$n"], range(1, $count)));
$result = function (object $report) use ($dsn, &$accepted): string {
    $counts = array_count_values($accepted);
    $accepted = [];
    $left = count((new MailQueue($dsn))->jobs());
    return "$report->end, sent $report->sent, uncertain $report->uncertain, accepted " . count($counts) . (max($counts) === 1 ? ' each once' : ' some twice') . ", left $left\n";
};

echo "connections ended, also within a cycle\n";
$kill = function () use ($server): void {
    $pdo = $server->connect();
    foreach ($pdo->query("SELECT id FROM information_schema.processlist WHERE db = 'test1'")->fetchAll(PDO::FETCH_COLUMN) as $id) {
        $pdo->exec("KILL CONNECTION $id");
    }
};
$enqueue(60);
$report = (new MailQueue($dsn))->runWorker(function ($job) use (&$accepted, $kill): void {
    $accepted[] = $job->reference;
    count($accepted) % 13 === 0 && $kill();
}, log: '', batch: 5);
echo $result($report);

echo "the server killed, and back after a while\n";
$enqueue(60);
$report = (new MailQueue($dsn))->runWorker(function ($job) use (&$accepted, $server): void {
    $accepted[] = $job->reference;
    if (count($accepted) === 12 || count($accepted) === 30) {
        $server->kill();
        $server->start();
    }
}, log: '', batch: 5);
echo $result($report);

echo "orphans go, those that are referred to stay\n";
$pdo = new PDO($dsn);
$pdo->exec('CREATE TABLE people (number VARCHAR(50) CHARACTER SET latin1 PRIMARY KEY)');
$pdo->exec("INSERT INTO people VALUES ('a1'), ('\u{e9}2')");
$queue = new MailQueue($dsn, orphanCheck: 'people.number');
foreach (['a1', 'a2', "\u{e9}2", "\u{e9}3", null] as $reference) {
    $queue->enqueue(mail_fields(), reference: $reference, sendAt: time() + 5000);
}
$queue->enqueue(mail_fields(), reference: 'gone', sendAt: time() + 5000, expiresAt: time() + 5001);
$queue->runWorker('null://null', log: '');
echo implode(' ', array_map(fn($job) => $job->reference ?? 'none', $queue->jobs())), "\n";

echo "the recipients that compose() gives\n";
$queue = new MailQueue($dsn, table: 'composed');
$queue->enqueue(null, 'c');
$queue->setConfig('mailMaxPerHour', 100);
$report = $queue->runWorker(function ($job) use ($pdo): void {
    echo $pdo->query('SELECT CONCAT(recipients, paid) FROM composed')->fetchColumn(), "\n";
}, fn($job) => mail_fields(to: 'b@example.net, c@example.net'), log: '');
echo "$report->end $report->sent\n";
?>
--EXPECT--
connections ended, also within a cycle
empty, sent 60, uncertain 0, accepted 60 each once, left 0
the server killed, and back after a while
empty, sent 60, uncertain 0, accepted 60 each once, left 0
orphans go, those that are referred to stay
a1 é2 none
the recipients that compose() gives
["b@example.net","c@example.net"]2
empty 1
