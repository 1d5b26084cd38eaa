--TEST--
new MailQueue($pdo): arguments, other drivers, a fork, a database in memory, a locked database
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
pcntl
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
echo thrown(fn() => new MailQueue(new PDO('sqlite::memory:'), journal: 'wal')), "\n";

$memory = new MailQueue($pdo = new PDO('sqlite::memory:'));
var_dump($memory->enqueue(mail_fields()), $memory->stats()->pending, count($memory->claim()), $memory->recoverStuckSending(time() + 9999));
$facts = $memory->diagnostics();
var_dump($facts['database'], $facts['journal'], $facts['runDirectory'], $facts['log']);
echo thrown(fn() => $memory->runWorker('null://')), "\n";

$path = database();
$pdo = new PDO("sqlite:$path", null, null, [PDO::ATTR_TIMEOUT => 0]);
$queue = new MailQueue($pdo);
$queue->enqueue(mail_fields());
$blocker = new PDO("sqlite:$path");
$blocker->exec('BEGIN IMMEDIATE');
echo thrown(fn() => $queue->enqueue(mail_fields())), "\n";
$blocker->exec('COMMIT');
var_dump($queue->enqueue(mail_fields()));

/* The worker has a connection of its own; the application's may be used meanwhile. */
$sent = 0;
$report = $queue->runWorker(function () use (&$sent, $pdo): void {
    $pdo->query('SELECT count(*) FROM mail_queue')->fetchColumn();
    $sent++;
}, log: '');
var_dump($sent, $report->sent, $queue->stats()->pending, $pdo->query('SELECT count(*) FROM mail_body')->fetchColumn());

$child = pcntl_fork();
if ($child === 0) {
    echo thrown(fn() => $queue->enqueue(mail_fields())), "\n";
    posix_kill(getmypid(), SIGKILL);
}
pcntl_waitpid($child, $status);
var_dump($queue->enqueue(mail_fields()));

/* A subclass's methods are called; an exception of theirs is the cause. */
final class Watched extends PDO
{
    public int $prepared = 0;
    public ?Throwable $fails = null;

    public function prepare(string $query, array $options = []): PDOStatement|false
    {
        $this->prepared++;
        if ($this->fails) {
            throw $this->fails;
        }
        return parent::prepare($query, $options);
    }
}
$watched = new Watched('sqlite:' . database());
$queue = new MailQueue($watched);
$queue->enqueue(mail_fields());
$before = $watched->prepared;
$queue->enqueue(mail_fields());
var_dump($before > 0, $watched->prepared - $before);
$watched->fails = new DomainException('as I like it');
try {
    $queue->stats();
} catch (MailQueue\DatabaseException $e) {
    echo $e->getMessage(), ' <- ', get_class($e->getPrevious()), "\n";
}
$watched->fails = null;
var_dump($queue->stats()->pending, $watched->inTransaction());
?>
--EXPECTF--
ValueError: MailQueue::__construct(): Argument #7 ($journal) must be null for a PDO: its connection has one
int(1)
int(1)
int(1)
int(1)
string(0) ""
string(6) "memory"
string(0) ""
string(0) ""
MailQueue\Exception: the PDO's database is in memory: a worker needs one in a file, which it can open too
MailQueue\DatabaseException [busy]: SQLSTATE[HY000]: General error: 5 database is locked: %s
int(2)
int(2)
int(2)
int(0)
int(0)
MailQueue\DatabaseException [database]: the PDO connection belongs to the process that forked this one: open a PDO of its own here, and a MailQueue with it
int(3)
bool(true)
int(0)
as I like it <- DomainException
int(2)
bool(false)
