--TEST--
new MailQueue($pdo) within a transaction while another connection writes: the error states only what is known
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';

error_reporting(E_ALL & ~E_DEPRECATED); // PHP 8.5 has the attribute in Pdo\Sqlite, which 8.3 lacks
/**
 * The error of enqueue() in a transaction that has or has not read before, while another writes.
 */
$try = function (string $journal, bool $reads, bool $extended, bool $ends): void {
    $path = database();
    (new MailQueue($path, journal: $journal))->stats();
    $pdo = new PDO("sqlite:$path", null, null, [PDO::ATTR_TIMEOUT => 1, PDO::SQLITE_ATTR_EXTENDED_RESULT_CODES => $extended]);
    $queue = new MailQueue($pdo);
    $other = new PDO("sqlite:$path", null, null, [PDO::ATTR_TIMEOUT => 0]);
    $pdo->beginTransaction();
    $reads && $pdo->query('SELECT count(*) FROM mail_queue')->fetchAll();
    $other->exec('BEGIN IMMEDIATE; CREATE TABLE x (a)');
    $ends && $other->exec('COMMIT');
    echo "$journal, ", $reads ? 'has read' : 'has not read', $extended ? ', extended codes' : '', $ends ? ', it wrote' : ', it writes', ":\n  ";
    echo thrown(fn() => $queue->enqueue(mail_fields())), "\n";
    $pdo->rollBack();
    $ends || $other->exec('COMMIT');
    $pdo->exec('BEGIN IMMEDIATE');
    $queue->enqueue(mail_fields());
    $pdo->exec('COMMIT');
};
$try('wal', true, true, true);
$try('wal', true, false, true);
$try('wal', true, true, false);
$try('wal', false, false, false);
$try('truncate', true, false, false);
$try('truncate', false, false, false);
?>
--EXPECT--
wal, has read, extended codes, it wrote:
  MailQueue\DatabaseException [busy]: SQLSTATE[HY000]: General error: 517 database is locked: another connection is writing, or wrote since your transaction first read (SQLite does not wait then): roll back and repeat it, beginning with exec('BEGIN IMMEDIATE'), which waits as long as PDO::ATTR_TIMEOUT says
wal, has read, it wrote:
  MailQueue\DatabaseException [busy]: SQLSTATE[HY000]: General error: 5 database is locked: another connection is writing, or wrote since your transaction first read (SQLite does not wait then): roll back and repeat it, beginning with exec('BEGIN IMMEDIATE'), which waits as long as PDO::ATTR_TIMEOUT says
wal, has read, extended codes, it writes:
  MailQueue\DatabaseException [busy]: SQLSTATE[HY000]: General error: 5 database is locked: another connection is writing, or wrote since your transaction first read (SQLite does not wait then): roll back and repeat it, beginning with exec('BEGIN IMMEDIATE'), which waits as long as PDO::ATTR_TIMEOUT says
wal, has not read, it writes:
  MailQueue\DatabaseException [busy]: SQLSTATE[HY000]: General error: 5 database is locked: keep other connections' transactions short, or raise PDO::ATTR_TIMEOUT; and read this connection's results to their end (fetchAll()) first
truncate, has read, it writes:
  MailQueue\DatabaseException [busy]: SQLSTATE[HY000]: General error: 5 database is locked: another connection is writing, or wrote since your transaction first read (SQLite does not wait then): roll back and repeat it, beginning with exec('BEGIN IMMEDIATE'), which waits as long as PDO::ATTR_TIMEOUT says
truncate, has not read, it writes:
  MailQueue\DatabaseException [busy]: SQLSTATE[HY000]: General error: 5 database is locked: keep other connections' transactions short, or raise PDO::ATTR_TIMEOUT; and read this connection's results to their end (fetchAll()) first
