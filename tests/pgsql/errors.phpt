--TEST--
PostgreSQL: how its errors are reported; an old server, a lost connection, a lock, a deadlock, an aborted transaction
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
$backend = new Backend('pgsql');

echo "versions\n";
final class Claims extends PDO
{
    public string $version = '';

    public function getAttribute(int $attribute): mixed
    {
        return $attribute === PDO::ATTR_SERVER_VERSION ? $this->version : parent::getAttribute($attribute);
    }
}
$claims = new Claims($backend->dsn);
foreach (['9.4.26', '8.4', '', '9.5.25', '10.0', '17beta1'] as $claims->version) {
    echo "$claims->version: ", thrown(fn() => new MailQueue($claims)), "\n";
}
foreach ([56, 57] as $length) {
    echo "$length octets: ", thrown(fn() => new MailQueue($claims, table: str_repeat('t', $length))), "\n";
}

$pdo = $backend->pdo();
$queue = new MailQueue($pdo);
$other = $backend->pdo();
$id = $queue->enqueue(mail_fields(), reference: 'r');

echo "locks\n";
$pdo->exec("SET lock_timeout = '50ms'");
$other->beginTransaction();
$other->exec('LOCK TABLE mail_queue IN ACCESS EXCLUSIVE MODE');
echo thrown(fn() => $queue->enqueue(mail_fields())), "\n";
$pdo->exec("SET lock_timeout = 0; SET statement_timeout = '500ms'");
echo thrown(fn() => $queue->stats()), "\n";
$other->rollBack();
$pdo->exec('SET statement_timeout = 0');
var_dump($queue->stats()->pending);

echo "an aborted transaction\n";
$pdo->beginTransaction();
thrown(fn() => $pdo->exec('SELECT 1 / 0'));
echo thrown(fn() => $queue->enqueue(mail_fields())), "\n";
$pdo->rollBack();
var_dump($queue->stats()->pending);

echo "an isolation level of the application's\n";
$pdo->exec("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE");
$pdo->exec('CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.fields = current_setting(\'transaction_isolation\'); RETURN NEW; END $$');
$pdo->exec('CREATE TRIGGER note BEFORE INSERT ON mail_queue FOR EACH ROW EXECUTE PROCEDURE note()');
$queue->enqueue(mail_fields(), reference: 'isolated');
$queue->enqueueMany([['reference' => 'one'], ['reference' => 'two']]);
echo 'a statement alone ', $pdo->query("SELECT fields FROM mail_queue WHERE reference = 'isolated'")->fetchColumn(), ', a transaction of ours ',
    $pdo->query("SELECT fields FROM mail_queue WHERE reference = 'two'")->fetchColumn(), ', then ', $pdo->query('SHOW transaction_isolation')->fetchColumn(), "\n";

echo "a serialization failure is tried again\n";
$pdo->exec('CREATE SEQUENCE tries');
$pdo->exec('CREATE OR REPLACE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval(\'tries\') % 5 <> 0 THEN RAISE EXCEPTION \'not yet\' USING ERRCODE = \'40001\'; END IF; RETURN NEW; END $$');
var_dump($queue->enqueue(mail_fields(), reference: 'tried again') > 0, $pdo->query('SELECT last_value FROM tries')->fetchColumn());
echo "not within the application's transaction\n";
$pdo->beginTransaction();
echo thrown(fn() => $queue->enqueue(mail_fields(), reference: 'not tried again')), "\n";
$pdo->commit();
var_dump($pdo->query('SELECT last_value FROM tries')->fetchColumn());
$pdo->exec('DROP TRIGGER note ON mail_queue');

echo "a transaction of ours that the server undid is not taken for stored\n";
$pdo->exec('CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION \'refused at the commit\'; END $$');
$pdo->exec('CREATE CONSTRAINT TRIGGER late AFTER INSERT ON mail_queue DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE PROCEDURE refuse()');
echo thrown(fn() => $queue->enqueue(mail_fields(), reference: 'late')), "\n";
$pdo->exec('DROP TRIGGER late ON mail_queue');
var_dump($queue->enqueue(mail_fields(), reference: 'late') > 0);

echo "a config table that cannot be read\n";
$pdo->exec('ALTER TABLE config RENAME TO elsewhere');
$pdo->exec("DELETE FROM mail_queue WHERE id <> $id");
echo thrown(fn() => $queue->claim()), "\n";
$pdo->exec('ALTER TABLE elsewhere RENAME TO config');
var_dump(count($jobs = $queue->claim()), $queue->release($jobs[0]));

echo "no file\n";
$facts = $queue->diagnostics();
var_dump($facts['database'], $facts['journal']);

echo "the connection is lost\n";
$pdo->beginTransaction();
$session = $pdo->query('SELECT pg_backend_pid()')->fetchColumn();
$other->exec("SELECT pg_terminate_backend($session)");
must(wait_until(fn() => !$other->query("SELECT count(*) FROM pg_stat_activity WHERE pid = $session")->fetchColumn()), 'the session is gone');
foreach ([fn() => $queue->enqueue(mail_fields()), fn() => $queue->stats()] as $call) {
    try {
        $call();
    } catch (MailQueue\DatabaseException $e) {
        echo "$e->reason ", strstr($e->getMessage(), 'the connection is lost'), "\n";
    }
}
?>
--EXPECTF--
versions
9.4.26: MailQueue\Exception: $database: the server is PostgreSQL 9.4.26, and the queue needs 9.5 or later (SELECT ... FOR UPDATE SKIP LOCKED): upgrade the server
8.4: MailQueue\Exception: $database: the server is PostgreSQL 8.4, and the queue needs 9.5 or later (SELECT ... FOR UPDATE SKIP LOCKED): upgrade the server
: MailQueue\Exception: $database: the server is PostgreSQL of an unknown version, and the queue needs 9.5 or later (SELECT ... FOR UPDATE SKIP LOCKED): upgrade the server
9.5.25: nothing
10.0: nothing
17beta1: nothing
56 octets: nothing
57 octets: ValueError: table must have at most 56 octets in this database
locks
MailQueue\DatabaseException [busy]: SQLSTATE[55P03]: %s: keep other connections' transactions short, or raise lock_timeout
MailQueue\DatabaseException [busy]: SQLSTATE[57014]: %s: keep other connections' transactions short, or raise statement_timeout
int(1)
an aborted transaction
MailQueue\DatabaseException [database]: SQLSTATE[25P02]: %s: a statement before this one failed: roll the transaction back
int(1)
an isolation level of the application's
a statement alone serializable, a transaction of ours read committed, then serializable
a serialization failure is tried again
bool(true)
int(5)
not within the application's transaction
MailQueue\DatabaseException [busy]: SQLSTATE[40001]: Serialization failure: 7 ERROR:  not yet: another transaction was faster: run it again
int(6)
a transaction of ours that the server undid is not taken for stored
MailQueue\DatabaseException [database]: SQLSTATE[P0001]: Raise exception: 7 ERROR:  refused at the commit
bool(true)
a config table that cannot be read
MailQueue\DatabaseException [database]: SQLSTATE[42P01]: %srelation "config" does not exist: run `mailqueue migrate`, or look at the search_path
int(1)
bool(true)
no file
string(0) ""
string(0) ""
the connection is lost
io the connection is lost: open a new PDO and a MailQueue with it; what was being committed may be stored or not
io the connection is lost: open a new PDO and a MailQueue with it; what was being committed may be stored or not
