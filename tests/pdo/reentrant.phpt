--TEST--
new MailQueue($pdo): PHP code that the queue's own statements call cannot call the queue
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
final class Nosy extends PDO
{
    public ?Closure $on = null;

    public function prepare(string $query, array $options = []): PDOStatement|false
    {
        $on = $this->on;
        if ($on && str_contains($query, 'mail_body')) {
            $this->on = null;
            $on();
        }
        return parent::prepare($query, $options);
    }

    public function lastInsertId(?string $name = null): string|false
    {
        throw new LogicException('not asked');
    }
}
function counts(PDO $pdo): string
{
    return $pdo->query('SELECT (SELECT count(*) FROM mail_queue) || " jobs " || (SELECT count(*) FROM mail_body) || " bodies"')->fetchColumn();
}

echo "the same object, and another one on the same PDO\n";
$pdo = new Nosy('sqlite:' . database());
$queue = new MailQueue($pdo);
$other = new MailQueue($pdo);
foreach ([$queue, $other] as $inner) {
    $pdo->on = function () use ($inner): void {
        echo '  ', thrown(fn() => $inner->enqueue(mail_fields())), "\n";
    };
    $fresh = new MailQueue($pdo);
    var_dump(($inner === $queue ? $queue : $fresh)->enqueue(mail_fields()));
    echo counts($pdo), "\n";
}

echo "an SQL function within a trigger\n";
$path = database();
$pdo = new PDO("sqlite:$path");
$queue = new MailQueue($pdo);
$holder = (object) ['queue' => $queue];
@$pdo->sqliteCreateFunction('nosy', function () use ($holder): int {
    echo '  ', thrown(fn() => $holder->queue->stats()), "\n";
    return 1;
});
$pdo->exec('CREATE TEMP TRIGGER t AFTER INSERT ON mail_queue BEGIN SELECT nosy(); END');
var_dump($queue->enqueue(mail_fields()));
$pdo->exec('DROP TRIGGER t');
$holder->queue = null; // PHP 8.2 does not collect cycles through statements
echo counts($pdo), "\n";

echo "rows that are counted\n";
$pdo->exec('PRAGMA count_changes = 1');
var_dump($queue->enqueue(mail_fields(), reference: 'r'), $queue->enqueue(mail_fields(), reference: 'r'));
echo counts($pdo), "\n";

echo "tables of the same name in another database of the connection\n";
$mine = database();
(new MailQueue($mine))->stats();
$pdo = new PDO('sqlite:' . database());
$pdo->exec("ATTACH '$mine' AS other");
$pdo->exec('CREATE TEMP TABLE mail_body (x)');
$queue = new MailQueue($pdo);
$queue->enqueue(mail_fields());
echo $pdo->query('SELECT count(*) FROM other.mail_queue')->fetchColumn(), ' there, ', $pdo->query('SELECT count(*) FROM main.mail_body')->fetchColumn(), " here\n";
var_dump($queue->runWorker('null://null', log: '')->sent);

echo "a transaction that has read already\n";
$path = database();
$pdo = new PDO("sqlite:$path", null, null, [PDO::ATTR_TIMEOUT => 3]);
$pdo->exec('PRAGMA journal_mode = WAL; CREATE TABLE r (n)');
$queue = new MailQueue($pdo);
$pdo->beginTransaction();
$pdo->query('SELECT count(*) FROM r')->fetchColumn();
(new PDO("sqlite:$path"))->exec('INSERT INTO r VALUES (1)');
echo thrown(fn() => $queue->enqueue(mail_fields())), "\n";
$pdo->rollBack();
var_dump($queue->enqueue(mail_fields()));
?>
--EXPECT--
the same object, and another one on the same PDO
  MailQueue\DatabaseException [database]: this MailQueue is in use already, by what called this code (a method of the PDO, a signal handler, an SQL function): use another PDO and a MailQueue with it
int(1)
1 jobs 1 bodies
  MailQueue\DatabaseException [database]: a mail queue is in use on this PDO already, by what called this code
int(2)
2 jobs 2 bodies
an SQL function within a trigger
  MailQueue\DatabaseException [database]: this MailQueue is in use already, by what called this code (a method of the PDO, a signal handler, an SQL function): use another PDO and a MailQueue with it
int(1)
1 jobs 1 bodies
rows that are counted
int(2)
NULL
2 jobs 2 bodies
tables of the same name in another database of the connection
0 there, 1 here
int(1)
a transaction that has read already
MailQueue\DatabaseException [busy]: SQLSTATE[HY000]: General error: 5 database is locked: another connection is writing, or wrote since your transaction first read (SQLite does not wait then): roll back and repeat it, beginning with exec('BEGIN IMMEDIATE'), which waits as long as PDO::ATTR_TIMEOUT says
int(1)
