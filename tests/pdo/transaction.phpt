--TEST--
new MailQueue($pdo): registration and mail commit together or not at all
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
on_backends(['sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $pdo = $backend->pdo();
    $pdo->exec('CREATE TABLE registrations (number VARCHAR(50) PRIMARY KEY)');
    $queue = new MailQueue($pdo);
    $register = function (string $number) use ($pdo, $queue): ?int {
        $pdo->exec("INSERT INTO registrations VALUES ('$number')");
        return $queue->enqueue(mail_fields(), reference: $number, type: 'user');
    };
    /* The data that another connection sees. */
    $seen = function () use ($backend): string {
        $other = $backend->pdo();
        $list = fn(string $sql): string => implode(',', $other->query($sql)->fetchAll(PDO::FETCH_COLUMN));
        return '[' . $list('SELECT number FROM registrations ORDER BY number') . '] ['
            . $list('SELECT reference FROM mail_queue ORDER BY reference') . '] bodies '
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
    /* On MySQL, ALTER TABLE would commit the transaction, so another connection runs it. */
    $ddl = $backend->name === 'mysql' ? $backend->pdo() : $pdo;
    $ddl->exec('ALTER TABLE mail_body RENAME TO elsewhere');
    try {
        $queue->enqueue(mail_fields(), reference: 'survives');
    } catch (MailQueue\DatabaseException $e) {
        echo get_class($e), ": $e->reason ", str_contains($e->getMessage(), 'mail_body'), ' <- ', get_class($e->getPrevious()), "\n";
    }
    $ddl->exec('ALTER TABLE elsewhere RENAME TO mail_body');
    $ddl->exec('ALTER TABLE config RENAME TO elsewhere');
    try {
        $queue->stats();
    } catch (MailQueue\DatabaseException $e) {
        echo get_class($e), ": $e->reason ", str_contains($e->getMessage(), 'config'), ' <- ', get_class($e->getPrevious()), "\n";
    }
    $ddl->exec('ALTER TABLE elsewhere RENAME TO config');
    var_dump($pdo->inTransaction(), $queue->enqueue(mail_fields(), reference: 'survives') > 0,
        $queue->enqueue(mail_fields(), reference: 'survives'), count($queue->jobs()));
    $pdo->commit();
    echo $seen(), "\n";

    echo "without one, it is a transaction of its own\n";
    var_dump($queue->enqueueMany([['message' => mail_fields(), 'reference' => 'x'], ['message' => mail_fields(), 'reference' => 'y']]));
    var_dump($pdo->inTransaction());
    echo $seen(), "\n";

    echo "a claim within it is undone with it\n";
    $pdo->beginTransaction();
    [$job] = $queue->claim();
    $queue->hold([$job->id + 1]);
    $pdo->rollBack();
    var_dump($queue->stats()->pending);

    echo "tables are not made within the application's transaction\n";
    $new = (new Backend($backend->name))->pdo();
    $new->exec('CREATE TABLE registrations (number VARCHAR(50) PRIMARY KEY)');
    $new->beginTransaction();
    echo thrown(fn() => (new MailQueue($new))->enqueue(mail_fields())), "\n";
    $new->commit();
    $new->exec('BEGIN');
    $new->exec("INSERT INTO registrations VALUES ('stays')");
    echo thrown(fn() => (new MailQueue($new))->enqueue(mail_fields())), "\n";
    $new->exec('COMMIT');
    var_dump($new->query('SELECT number FROM registrations')->fetchColumn(), (new MailQueue($new))->enqueue(mail_fields()));
});
?>
--EXPECTF--
before the commit: [] [] bodies 0
after the rollback: [beginTransaction-kept] [beginTransaction-kept] bodies 1
before the commit: [beginTransaction-kept] [beginTransaction-kept] bodies 1
after the rollback: [beginTransaction-kept,exec-kept] [beginTransaction-kept,exec-kept] bodies 2
an error of ours leaves the transaction usable
MailQueue\MessageException [to]: %s
MailQueue\DatabaseException: database 1 <- PDOException
MailQueue\DatabaseException: database 1 <- PDOException
bool(true)
bool(true)
NULL
int(3)
[beginTransaction-kept,exec-kept,survives] [beginTransaction-kept,exec-kept,survives] bodies 3
without one, it is a transaction of its own
int(2)
bool(false)
[beginTransaction-kept,exec-kept,survives] [beginTransaction-kept,exec-kept,survives,x,y] bodies 5
a claim within it is undone with it
int(5)
tables are not made within the application's transaction
MailQueue\DatabaseException [schema]: the queue's tables must be created or upgraded, which is not done within the application's transaction: run `mailqueue migrate`
MailQueue\DatabaseException [schema]: the queue's tables must be created or upgraded, which is not done within the application's transaction: run `mailqueue migrate`
string(5) "stays"
int(1)
