--TEST--
Another connection holds the write lock: fails within the timeout, names cause and cure, works afterwards
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';

foreach (['wal', 'truncate', 'delete'] as $journal) {
    $path = database();
    $queue = new MailQueue($path, journal: $journal, busyTimeout: 300);
    $try = function (string $who) use ($queue, $path): void {
        $began = hrtime(true);
        $text = thrown(fn() => $queue->enqueue(mail_fields(), 'r'), $path);
        $ms = (hrtime(true) - $began) / 1e6;
        $text = preg_replace(['/process \d+/', '/waited \d+/'], ['process N', 'waited N'], $text);
        echo "$who: $text", $ms >= 290 && $ms < 60000 ? '' : " after $ms ms", "\n";
    };

    $pdo = new PDO("sqlite:$path");
    $pdo->exec('BEGIN IMMEDIATE');
    $try("$journal, same process");
    $pdo->exec('ROLLBACK');

    $other = new Other('$pdo = new PDO("sqlite:$argv[1]"); $pdo->exec("BEGIN IMMEDIATE"); echo "locked\n"; fgets(STDIN); $pdo->exec("COMMIT");', $path);
    $other->line();
    $try("$journal, other process");
    $other->tell('go');
    $other->end();

    var_dump($queue->enqueue(mail_fields(), 'r'));

    /* A lock that ends within the timeout is waited for. */
    $patient = new MailQueue($path, busyTimeout: 20000);
    $other = new Other('$pdo = new PDO("sqlite:$argv[1]"); $pdo->exec("BEGIN IMMEDIATE"); echo "locked\n"; usleep(200000); $pdo->exec("COMMIT");', $path);
    $other->line();
    var_dump($patient->enqueue(mail_fields()));
    $other->end();
    echo (new PDO("sqlite:$path"))->query('PRAGMA integrity_check')->fetchColumn(), "\n";
}
?>
--EXPECT--
wal, same process: MailQueue\DatabaseException [busy]: another connection of this same process holds the write lock on %; waited N ms: end that transaction first, and call this after its commit (the queue has a connection of its own, which cannot join it)
wal, other process: MailQueue\DatabaseException [busy]: another connection (process N) holds the write lock on %; waited N ms: keep its transactions short, or raise the busy timeout
int(1)
int(2)
ok
truncate, same process: MailQueue\DatabaseException [busy]: another connection of this same process holds the write lock on %; waited N ms: end that transaction first, and call this after its commit (the queue has a connection of its own, which cannot join it)
truncate, other process: MailQueue\DatabaseException [busy]: another connection (process N) holds the write lock on %; waited N ms: keep its transactions short, or raise the busy timeout
int(1)
int(2)
ok
delete, same process: MailQueue\DatabaseException [busy]: another connection of this same process holds the write lock on %; waited N ms: end that transaction first, and call this after its commit (the queue has a connection of its own, which cannot join it)
delete, other process: MailQueue\DatabaseException [busy]: another connection (process N) holds the write lock on %; waited N ms: keep its transactions short, or raise the busy timeout
int(1)
int(2)
ok
