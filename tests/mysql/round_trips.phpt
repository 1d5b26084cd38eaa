--TEST--
MariaDB: enqueue() takes four round trips on a connection of its own and within the application's transaction; so does enqueueMany() of a hundred
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/mariadb.inc'; die(MailQueueTest\MariaDB::missing()); ?>
--FILE--
<?php
require __DIR__ . '/../lib/round_trips.inc';
$server = new RoundTrips('mysql');
$show = $server->show(...);
echo 'the first mail makes the tables: ', (new MailQueue($server->dsn))->enqueue(mail_fields(), 'twice'), "\n";

$show('of its own', fn() => (new MailQueue($server->dsn))->enqueue(mail_fields(), 'once') ?? print("no id\n"));
$show('composed later', fn() => (new MailQueue($server->dsn))->enqueue(null, 'later') ?? print("no id\n"));
$show('a duplicate', fn() => (new MailQueue($server->dsn))->enqueue(mail_fields(), 'twice') === null || print("not one\n"));
foreach (['emulated' => true, 'prepared' => false] as $name => $emulate) {
    $pdo = new PDO($server->dsn, null, null, [PDO::ATTR_EMULATE_PREPARES => $emulate]);
    $pdo->beginTransaction();
    $show("the application's transaction, $name", fn() => (new MailQueue($pdo))->enqueue(mail_fields()));
    $pdo->commit();
    var_dump((bool) $pdo->getAttribute(PDO::ATTR_EMULATE_PREPARES) === $emulate);
}
$hundred = array_map(fn(int $i) => ['message' => mail_fields(subject: "mail $i"), 'reference' => "r$i"], range(1, 100));
$show('a hundred', fn() => (new MailQueue($server->dsn))->enqueueMany($hundred) === 100 || print("not all\n"));
$one = new PDO($server->dsn);
$one->beginTransaction();
$show("a hundred in the application's transaction", fn() => (new MailQueue($one))->enqueueMany(array_map(fn(array $mail) => ['reference' => null] + $mail, $hundred)));
$one->commit();
$large = mail_fields(text: str_repeat("A line of text.\n", 8000));
$pdo->beginTransaction();
// Close has no reply: a statement after it shows that it is in the log.
$show('a large one is prepared where the application has it so', fn() => (new MailQueue($pdo))->enqueue($large) && $pdo->exec('DO 0') === 0);
$pdo->commit();
?>
--EXPECT--
the first mail makes the tables: 1
of its own: 4, and 1 to set up
  query SET SESSION innodb_lock_wait_timeout
  query START TRANSACTION
  query INSERT INTO `mail_queue`
  query INSERT INTO `mail_body`
  query COMMIT AND NO
composed later: 3, and 1 to set up
  query SET SESSION innodb_lock_wait_timeout
  query START TRANSACTION
  query INSERT INTO `mail_queue`
  query COMMIT AND NO
a duplicate: 4, and 1 to set up
  query SET SESSION innodb_lock_wait_timeout
  query START TRANSACTION
  query INSERT INTO `mail_queue`
  query SELECT id, status
  query COMMIT AND NO
the application's transaction, emulated: 4, and 1 to set up
  query SELECT DATABASE ),
  query SAVEPOINT mailqueue
  query INSERT INTO `mail_queue`
  query INSERT INTO `mail_body`
  query RELEASE SAVEPOINT mailqueue
bool(true)
the application's transaction, prepared: 4, and 1 to set up
  query SELECT DATABASE ),
  query SAVEPOINT mailqueue
  query INSERT INTO `mail_queue`
  query INSERT INTO `mail_body`
  query RELEASE SAVEPOINT mailqueue
bool(true)
a hundred: 4, and 1 to set up
  query SET SESSION innodb_lock_wait_timeout
  query START TRANSACTION
  query INSERT INTO `mail_queue`
  query INSERT INTO `mail_body`
  query COMMIT AND NO
a hundred in the application's transaction: 4, and 1 to set up
  query SELECT DATABASE ),
  query SAVEPOINT mailqueue
  query INSERT INTO `mail_queue`
  query INSERT INTO `mail_body`
  query RELEASE SAVEPOINT mailqueue
a large one is prepared where the application has it so: 6, and 1 to set up
  query SELECT DATABASE ),
  query SAVEPOINT mailqueue
  query INSERT INTO `mail_queue`
  prepare INSERT INTO `mail_body`
  execute INSERT INTO `mail_body`
  query RELEASE SAVEPOINT mailqueue
  close stmt
