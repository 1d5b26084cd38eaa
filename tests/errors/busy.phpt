--TEST--
Another connection holds the write lock: the call fails within the timeout, names cause and cure, and works afterwards
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
        $text = preg_replace('/waited \d+/', 'waited N', $text);
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

    /* If the lock ends within the timeout, the call waits for it. */
    $patient = new MailQueue($path, busyTimeout: 20000);
    $other = new Other('$pdo = new PDO("sqlite:$argv[1]"); $pdo->exec("BEGIN IMMEDIATE"); echo "locked\n"; usleep(200000); $pdo->exec("COMMIT");', $path);
    $other->line();
    var_dump($patient->enqueue(mail_fields()));
    $other->end();
    echo (new PDO("sqlite:$path"))->query('PRAGMA integrity_check')->fetchColumn(), "\n";
}
?>
--EXPECT--
wal, same process: MailQueue\DatabaseException [busy]: another connection holds the write lock on %; waited N ms: keep its transactions short, or raise the busy timeout; if it is the application's own connection in this process, call this after its commit
wal, other process: MailQueue\DatabaseException [busy]: another connection holds the write lock on %; waited N ms: keep its transactions short, or raise the busy timeout; if it is the application's own connection in this process, call this after its commit
int(1)
int(2)
ok
truncate, same process: MailQueue\DatabaseException [busy]: another connection holds the write lock on %; waited N ms: keep its transactions short, or raise the busy timeout; if it is the application's own connection in this process, call this after its commit
truncate, other process: MailQueue\DatabaseException [busy]: another connection holds the write lock on %; waited N ms: keep its transactions short, or raise the busy timeout; if it is the application's own connection in this process, call this after its commit
int(1)
int(2)
ok
delete, same process: MailQueue\DatabaseException [busy]: another connection holds the write lock on %; waited N ms: keep its transactions short, or raise the busy timeout; if it is the application's own connection in this process, call this after its commit
delete, other process: MailQueue\DatabaseException [busy]: another connection holds the write lock on %; waited N ms: keep its transactions short, or raise the busy timeout; if it is the application's own connection in this process, call this after its commit
int(1)
int(2)
ok
