--TEST--
new MailQueue($pdo): registration and mail commit together or not at all
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$path = database();
$pdo = new PDO("sqlite:$path");
$pdo->exec('CREATE TABLE registrations (number TEXT PRIMARY KEY)');
$queue = new MailQueue($pdo);
$register = function (string $number) use ($pdo, $queue): ?int {
    $pdo->exec("INSERT INTO registrations VALUES ('$number')");
    return $queue->enqueue(mail_fields(), reference: $number, type: 'user');
};
/* What another connection sees. */
$seen = function () use ($path): string {
    $other = new PDO("sqlite:$path");
    $list = fn(string $sql): string => (string) $other->query($sql)->fetchColumn();
    return '[' . $list('SELECT group_concat(number) FROM registrations') . '] ['
        . $list('SELECT group_concat(reference) FROM mail_queue') . '] bodies '
        . $list('SELECT count(*) FROM mail_body');
};

foreach (['beginTransaction' => ['beginTransaction', 'commit', 'rollBack'], 'exec' => ['BEGIN', 'COMMIT', 'ROLLBACK']] as $how => [$begin, $commit, $rollback]) {
    $do = fn(string $what) => $how === 'exec' ? $pdo->exec($what) : $pdo->$what();
    $do($begin);
    $register("$how-kept");
    echo 'before the commit: ', $seen(), "\n";
    $do($commit);
    $do($begin);
    $register("$how-undone");
    $do($rollback);
    echo 'after the rollback: ', $seen(), "\n";
}

echo "an error of ours leaves the transaction usable\n";
$pdo->beginTransaction();
$pdo->exec("INSERT INTO registrations VALUES ('survives')");
echo thrown(fn() => $queue->enqueue(['to' => 'nobody'] + mail_fields(), reference: 'survives')), "\n";
$pdo->exec('ALTER TABLE mail_body RENAME TO elsewhere');
try {
    $queue->enqueue(mail_fields(), reference: 'survives');
} catch (MailQueue\DatabaseException $e) {
    echo get_class($e), ': ', $e->getMessage(), ' <- ', get_class($e->getPrevious()), ' ', $e->getPrevious()->errorInfo[1], "\n";
}
$pdo->exec('ALTER TABLE elsewhere RENAME TO mail_body');
var_dump($pdo->inTransaction(), $queue->enqueue(mail_fields(), reference: 'survives') > 0,
    $queue->enqueue(mail_fields(), reference: 'survives'));
$pdo->commit();
echo $seen(), "\n";

echo "without one, it is a transaction of its own\n";
var_dump($queue->enqueueMany([['message' => mail_fields(), 'reference' => 'a'], ['message' => mail_fields(), 'reference' => 'b']]));
var_dump($pdo->inTransaction());
echo $seen(), "\n";

echo "tables are not made within the application's transaction\n";
$new = new PDO('sqlite:' . database());
$new->beginTransaction();
echo thrown(fn() => new MailQueue($new)), "\n";
$new->rollBack();
$new->exec('BEGIN');
echo thrown(fn() => new MailQueue($new)), "\n";
$new->exec('ROLLBACK');
var_dump((new MailQueue($new))->enqueue(mail_fields()));
?>
--EXPECTF--
before the commit: [] [] bodies 0
after the rollback: [beginTransaction-kept] [beginTransaction-kept] bodies 1
before the commit: [beginTransaction-kept] [beginTransaction-kept] bodies 1
after the rollback: [beginTransaction-kept,exec-kept] [beginTransaction-kept,exec-kept] bodies 2
an error of ours leaves the transaction usable
MailQueue\MessageException [to]: %s
MailQueue\DatabaseException: SQLSTATE[HY000]: General error: 1 no such table: main.mail_body <- PDOException 1
bool(true)
bool(true)
NULL
[beginTransaction-kept,exec-kept,survives] [beginTransaction-kept,exec-kept,survives] bodies 3
without one, it is a transaction of its own
int(2)
bool(false)
[beginTransaction-kept,exec-kept,survives] [beginTransaction-kept,exec-kept,survives,a,b] bodies 5
tables are not made within the application's transaction
MailQueue\DatabaseException [schema]: the queue's tables must be created or upgraded, which is not done within the application's transaction: run `mailqueue migrate`
MailQueue\DatabaseException [schema]: the queue's tables must be created or upgraded, which is not done within the application's transaction: run `mailqueue migrate`
int(1)
