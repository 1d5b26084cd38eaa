--TEST--
PostgreSQL: enqueue() takes one round trip on a connection of its own, three within the application's transaction; enqueueMany() of a hundred takes four
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/pgsql.inc'; die(MailQueueTest\PostgreSQL::missing()); ?>
--FILE--
<?php
require __DIR__ . '/../lib/round_trips.inc';
$server = new RoundTrips('pgsql');
$show = $server->show(...);
echo 'the first mail makes the tables: ', (new MailQueue($server->dsn))->enqueue(mail_fields(), 'twice'), "\n";

$show('of its own', fn() => (new MailQueue($server->dsn))->enqueue(mail_fields(), 'once') ?? print("no id\n"));
$show('composed later', fn() => (new MailQueue($server->dsn))->enqueue(null, 'later') ?? print("no id\n"));
$show('a duplicate', fn() => (new MailQueue($server->dsn))->enqueue(mail_fields(), 'twice') === null || print("not one\n"));
$pdo = $server->pdo();
$show("the application's connection", function () use ($pdo): void {
    $queue = new MailQueue($pdo);
    $queue->enqueue(mail_fields());
});
$pdo->beginTransaction();
$show("the application's transaction", fn() => (new MailQueue($pdo))->enqueue(mail_fields()));
$pdo->commit();
$hundred = array_map(fn(int $i) => ['message' => mail_fields(subject: "mail $i"), 'reference' => "r$i"], range(1, 100));
$show('a hundred', fn() => (new MailQueue($server->dsn))->enqueueMany($hundred) === 100 || print("not all\n"));
$one = new PDO($server->dsn);
$one->beginTransaction();
$show("a hundred in the application's transaction", fn() => (new MailQueue($one))->enqueueMany(array_map(fn(array $mail) => ['reference' => null] + $mail, $hundred)));
$one->commit();
$queue = new MailQueue($server->dsn);
$queue->enqueue(mail_fields());
usleep(10000);
$show('a connection that was idle is asked first', fn() => $queue->enqueue(mail_fields()));

$pdo->exec('CREATE TABLE orders (n int)');
$queue = new MailQueue($pdo);
$pdo->exec("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no mail today'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON mail_body FOR EACH ROW EXECUTE PROCEDURE refuse()");
echo "a failure leaves the application's transaction usable, and half a mail nowhere\n";
$pdo->beginTransaction();
$pdo->exec('INSERT INTO orders VALUES (1)');
echo thrown(fn() => $queue->enqueue(mail_fields(), 'half')), "\n";
$pdo->exec('INSERT INTO orders VALUES (2)');
$pdo->commit();
echo $pdo->query('SELECT count(*) FROM orders')->fetchColumn(), ' orders, ',
    $pdo->query("SELECT count(*) FROM mail_queue WHERE reference = 'half'")->fetchColumn(), " mails\n";
echo thrown(fn() => (new MailQueue($server->dsn))->enqueue(mail_fields(), 'half')), "\n";
echo $pdo->query("SELECT count(*) FROM mail_queue WHERE reference = 'half'")->fetchColumn(), " mails\n";
?>
--EXPECT--
the first mail makes the tables: 1
of its own: 1, and 1 to set up
  execute SELECT length set_config
  execute WITH job AS
composed later: 1, and 1 to set up
  execute SELECT length set_config
  execute WITH job AS
a duplicate: 2, and 1 to set up
  execute SELECT length set_config
  execute WITH job AS
  execute SELECT id, status
the application's connection: 2
  execute SELECT CAST value
  execute WITH job AS
the application's transaction: 3
  statement SAVEPOINT mailqueue_guard
  execute WITH job AS
  statement RELEASE mailqueue_guard
a hundred: 4, and 1 to set up
  execute SELECT length set_config
  statement BEGIN ISOLATION LEVEL
  execute INSERT INTO "mail_queue"
  execute INSERT INTO "mail_body"
  statement COMMIT
a hundred in the application's transaction: 4
  statement SAVEPOINT mailqueue
  execute INSERT INTO "mail_queue"
  execute INSERT INTO "mail_body"
  statement RELEASE SAVEPOINT mailqueue
a connection that was idle is asked first: 2
  execute SELECT 1
  execute WITH job AS
a failure leaves the application's transaction usable, and half a mail nowhere
MailQueue\DatabaseException [database]: SQLSTATE[P0001]: Raise exception: 7 ERROR:  no mail today
2 orders, 0 mails
MailQueue\DatabaseException [database]: SQLSTATE[P0001]: Raise exception: 7 ERROR:  no mail today
0 mails
