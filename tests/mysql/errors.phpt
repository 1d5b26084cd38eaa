--TEST--
MariaDB: how its errors are reported; old servers, deadlocks, truncation, sizes, migrations, a lost connection
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
$backend = new Backend('mysql');

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
foreach (['5.7.44-log', '8.0.3-rc', '', '5.5.5-10.5.29-MariaDB-1:10.5.29+maria~deb12', '10.5.8-MariaDB', '8.0.4', '8.4.3-3', '5.5.5-10.6.0-MariaDB', '11.8.2-MariaDB-log'] as $claims->version) {
    echo "$claims->version: ", thrown(fn() => new MailQueue($claims)), "\n";
}
foreach ([56, 57] as $length) {
    echo "$length octets: ", thrown(fn() => new MailQueue($claims, table: str_repeat('t', $length))), "\n";
}
echo thrown(fn() => new MailQueue(new PDO(preg_replace('/dbname=.*/', '', $backend->dsn)))), "\n";

$pdo = $backend->pdo();
$queue = new MailQueue($pdo);
$other = $backend->pdo();
$id = $queue->enqueue(mail_fields(), reference: 'r');

echo "a duplicate in a key of the application's is not one in ours\n";
$pdo->exec('ALTER TABLE mail_queue ADD UNIQUE KEY theirs (priority)');
echo preg_replace('/\[23000\].*?1062/', '1062', thrown(fn() => $queue->enqueue(mail_fields(), reference: 'another'))), "\n";
echo preg_replace('/\[23000\].*?1062/', '1062', thrown(fn() => $queue->enqueue(mail_fields()))), "\n";
var_dump($queue->enqueue(mail_fields(), reference: 'r'));
$pdo->exec('ALTER TABLE mail_queue DROP KEY theirs');

echo "locks\n";
$pdo->exec('SET innodb_lock_wait_timeout = 1');
$other->beginTransaction();
$other->query("SELECT * FROM mail_queue WHERE id = $id FOR UPDATE")->fetchAll();
echo thrown(fn() => $queue->hold([$id])), "\n";
$other->rollBack();
$other->exec('LOCK TABLES mail_body WRITE');
$pdo->exec('SET lock_wait_timeout = 1');
echo thrown(fn() => $queue->enqueue(mail_fields())), "\n";
$other->exec('UNLOCK TABLES');
$pdo->exec('SET innodb_lock_wait_timeout = 50, lock_wait_timeout = 50, max_statement_time = 0');
var_dump($queue->stats()->pending);

echo "who may not write\n";
$pdo->exec('SET SESSION TRANSACTION READ ONLY');
echo thrown(fn() => $queue->enqueue(mail_fields())), "\n";
$pdo->exec('SET SESSION TRANSACTION READ WRITE');

echo "deadlocks\n";
$pdo->exec('CREATE TABLE tries (n INT AUTO_INCREMENT PRIMARY KEY) ENGINE=MyISAM');
$pdo->exec("CREATE TRIGGER deadlock BEFORE INSERT ON mail_body FOR EACH ROW BEGIN
    INSERT INTO tries VALUES ();
    IF LAST_INSERT_ID() % 4 <> 0 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'as if it were one'; END IF; END");
var_dump($queue->enqueue(mail_fields(), reference: 'tried again') > 0, $pdo->query('SELECT count(*) FROM tries')->fetchColumn());
$pdo->exec('DROP TRIGGER deadlock');
echo "a node that is not ready\n";
$pdo->exec("CREATE TRIGGER joining BEFORE INSERT ON mail_body FOR EACH ROW SIGNAL SQLSTATE '08S01' SET MYSQL_ERRNO = 1047, MESSAGE_TEXT = 'WSREP has not yet prepared node for application use'");
echo thrown(fn() => $queue->enqueue(mail_fields())), "\n";
$pdo->exec('DROP TRIGGER joining');
echo "a true one, within the application's transaction\n";
$pdo->exec('CREATE TABLE theirs (id INT PRIMARY KEY, n INT)');
$pdo->exec('INSERT INTO theirs VALUES (1, 0), (2, 0)');
/* The other transaction has changed more, so ours becomes the victim; the other has the row of a
 * duplicate, and waits for ours. */
$code = '$pdo = new PDO($argv[1]); $pdo->beginTransaction();
    $pdo->exec("INSERT INTO theirs SELECT seq, 0 FROM seq_10_to_900"); $pdo->exec("UPDATE mail_queue SET priority = 1 WHERE id = $argv[2]"); echo "has it\n"; fgets(STDIN);
    $pdo->exec("UPDATE theirs SET n = 1 WHERE id = 1"); echo "got it\n"; $pdo->rollBack();';
$another = new Other($code, $backend->dsn, (string) $id);
echo $another->line(), "\n";
$pdo->beginTransaction();
$pdo->exec('UPDATE theirs SET n = 1 WHERE id = 1');
$another->tell('go');
must(wait_until(fn() => usleep(150_000) ?? (bool) $other->query("SELECT count(*) FROM information_schema.innodb_lock_waits")->fetchColumn()), 'it waits');
echo thrown(fn() => $queue->hold([$id])), "\n";
var_dump($pdo->inTransaction(), $another->end()[0], $queue->enqueue(mail_fields(), reference: 'afterwards') > 0);

echo "one that the application has met itself, and goes on\n";
$another = new Other($code, $backend->dsn, (string) $id);
$another->line();
$pdo->beginTransaction();
$pdo->exec('UPDATE theirs SET n = 1 WHERE id = 1');
$another->tell('go');
must(wait_until(fn() => usleep(150_000) ?? (bool) $other->query("SELECT count(*) FROM information_schema.innodb_lock_waits")->fetchColumn()), 'it waits');
echo preg_replace('/:.*/', '', thrown(fn() => $pdo->exec("UPDATE mail_queue SET priority = 2 WHERE id = $id"))), "\n";
$another->end();
$before = count($other->query('SELECT id FROM mail_queue')->fetchAll());
echo thrown(fn() => $queue->enqueue(mail_fields(), reference: 'lost')), "\n";
var_dump($pdo->inTransaction(), count($other->query('SELECT id FROM mail_queue')->fetchAll()) - $before);

echo "a config table that cannot hold a value\n";
$pdo->exec("SET sql_mode = ''");
$pdo->exec('ALTER TABLE config MODIFY value VARCHAR(40)');
echo thrown(fn() => $queue->setConfig('mailRedirectTypes', str_repeat('a', 41))), "\n";
var_dump($queue->config('mailRedirectTypes'));
$queue->setConfig('mailRedirectTypes', str_repeat('a', 40));
$queue->setConfig('mailRedirectTypes', null);
echo "one without a key\n";
$pdo->exec('ALTER TABLE config DROP PRIMARY KEY');
foreach ([1, 1, 2] as $limit) {
    $queue->setConfig('mailBurst', $limit);
}
var_dump($pdo->query("SELECT GROUP_CONCAT(value) FROM config WHERE `key` = 'mailBurst'")->fetchColumn());
echo thrown(fn() => $queue->enqueue(mail_fields(), reference: str_repeat("\u{e4}", 96))), "\n";
var_dump($queue->enqueue(mail_fields(), reference: str_repeat("\u{e4}", 95)) > 0);

echo "messages larger than what the server takes\n";
$pdo->exec('SET GLOBAL max_allowed_packet = 1048576');
foreach ([true, false] as $emulate) {
    $small = $backend->pdo([PDO::ATTR_EMULATE_PREPARES => $emulate]);
    $its = new MailQueue($small);
    $small->beginTransaction();
    $small->exec("INSERT INTO theirs VALUES (5, 0)");
    foreach (["'" => 700_000, 'x' => 1_100_000] as $character => $length) {
        $raw = "Subject: x\r\n\r\n" . chunk_split(str_repeat($character, $length), 900);
        echo $emulate ? 'emulated ' : 'native ', preg_replace('/has \d+ octets/', 'has N octets', thrown(fn() => $its->enqueue($raw, envelopeFrom: '', recipients: ['a@example.org']))), "\n";
    }
    $two = array_map(fn(string $mail) => ['message' => $mail, 'envelopeFrom' => '', 'recipients' => ['a@example.org']], ["Subject: y\r\n\r\nsmall\r\n", $raw]);
    echo 'beside a small one: ', substr(thrown(fn() => $its->enqueueMany($two)), 0, 68), "\n";
    var_dump($small->inTransaction());
    $small->rollBack();
    unset($its, $small); // PHP itself leaks a statement that still exists then, unless it is emulated
}
$pdo->exec('SET GLOBAL max_allowed_packet = 16777216');

echo "tables are made by one at a time\n";
$new = new Backend('mysql');
$holder = $new->pdo();
$holder->query("SELECT GET_LOCK(CONCAT('mailqueue.', SHA1(DATABASE())), 0)")->fetchAll();
$waits = new Other('$queue = new MailQueue(new PDO($argv[1])); echo $queue->stats()->pending, "\n";', $new->dsn);
must(wait_until(fn() => (bool) $other->query("SELECT count(*) FROM information_schema.processlist WHERE state = 'User lock'")->fetchColumn()), 'it waits');
var_dump($holder->query('SHOW TABLES')->fetchAll());
$holder->query("SELECT RELEASE_LOCK(CONCAT('mailqueue.', SHA1(DATABASE())))")->fetchAll();
echo $waits->end()[0];
var_dump($holder->query("SELECT IS_FREE_LOCK(CONCAT('mailqueue.', SHA1(DATABASE())))")->fetchColumn());
echo "a migration that broke off is gone on with; missing columns are added\n";
$holder->exec('DROP TABLE mail_body');
$holder->exec("DELETE FROM config");
$holder->exec('ALTER TABLE mail_queue DROP COLUMN fields');
$holder->exec("INSERT INTO config VALUES ('mailSchemaVersion', '2')");
var_dump($new->queue()->migrate(), $new->queue()->enqueue(mail_fields()) > 0, $holder->query("SELECT fields FROM mail_queue")->fetchColumn());
$holder->exec('CREATE TABLE others_queue (id BIGINT PRIMARY KEY, name TEXT)');
echo thrown(fn() => new MailQueue($holder, table: 'others_queue')), "\n";

echo "the connection is lost\n";
$pdo->beginTransaction();
$other->exec('KILL ' . $session = $pdo->query('SELECT CONNECTION_ID()')->fetchColumn());
must(wait_until(fn() => !$other->query("SELECT count(*) FROM information_schema.processlist WHERE id = $session")->fetchColumn()), 'the session is gone');
foreach ([fn() => $queue->enqueue(mail_fields()), fn() => $queue->stats()] as $call) {
    try {
        $call();
    } catch (MailQueue\DatabaseException $e) {
        echo "$e->reason ", strstr($e->getMessage(), 'the connection is lost'), "\n";
    }
}
?>
--EXPECT--
versions
5.7.44-log: MailQueue\Exception: $database: the server is MySQL 5.7.44-log, and the queue needs MySQL 8.0.4 or MariaDB 10.6 or later (SELECT ... FOR UPDATE SKIP LOCKED, JSON_TABLE): upgrade the server
8.0.3-rc: MailQueue\Exception: $database: the server is MySQL 8.0.3-rc, and the queue needs MySQL 8.0.4 or MariaDB 10.6 or later (SELECT ... FOR UPDATE SKIP LOCKED, JSON_TABLE): upgrade the server
: MailQueue\Exception: $database: the server is MySQL of an unknown version, and the queue needs MySQL 8.0.4 or MariaDB 10.6 or later (SELECT ... FOR UPDATE SKIP LOCKED, JSON_TABLE): upgrade the server
5.5.5-10.5.29-MariaDB-1:10.5.29+maria~deb12: MailQueue\Exception: $database: the server is MariaDB 10.5.29-MariaDB-1:10.5.29+maria~deb12, and the queue needs MySQL 8.0.4 or MariaDB 10.6 or later (SELECT ... FOR UPDATE SKIP LOCKED, JSON_TABLE): upgrade the server
10.5.8-MariaDB: MailQueue\Exception: $database: the server is MariaDB 10.5.8-MariaDB, and the queue needs MySQL 8.0.4 or MariaDB 10.6 or later (SELECT ... FOR UPDATE SKIP LOCKED, JSON_TABLE): upgrade the server
8.0.4: nothing
8.4.3-3: nothing
5.5.5-10.6.0-MariaDB: nothing
11.8.2-MariaDB-log: nothing
56 octets: nothing
57 octets: ValueError: table must have at most 56 octets in this database
MailQueue\Exception: $database: the connection has chosen no database: add dbname= to the DSN
a duplicate in a key of the application's is not one in ours
MailQueue\DatabaseException [database]: SQLSTATE1062 Duplicate entry '0' for key 'theirs'
MailQueue\DatabaseException [database]: SQLSTATE1062 Duplicate entry '0' for key 'theirs'
NULL
locks
MailQueue\DatabaseException [busy]: SQLSTATE[HY000]: General error: 1205 Lock wait timeout exceeded; try restarting transaction: keep other connections' transactions short, or raise busyTimeout (with a PDO of your own: innodb_lock_wait_timeout, lock_wait_timeout)
MailQueue\DatabaseException [busy]: SQLSTATE[HY000]: General error: 1205 Lock wait timeout exceeded; try restarting transaction: keep other connections' transactions short, or raise busyTimeout (with a PDO of your own: innodb_lock_wait_timeout, lock_wait_timeout)
int(1)
who may not write
MailQueue\DatabaseException [readonly]: SQLSTATE[25006]: Read only sql transaction: 1792 Cannot execute statement in a READ ONLY transaction: use a connection and a transaction that may write, and the primary server
deadlocks
bool(true)
int(4)
a node that is not ready
MailQueue\DatabaseException [busy]: SQLSTATE[08S01]: Communication link failure: 1047 WSREP has not yet prepared node for application use: the server is not ready (Galera: wsrep_ready; or offline mode): try again later
a true one, within the application's transaction
has it
MailQueue\DatabaseException [busy]: SQLSTATE[40001]: Serialization failure: 1213 Deadlock found when trying to get lock; try restarting transaction: a deadlock with another transaction: run it again; the database has undone your whole transaction: roll back and repeat it
bool(false)
string(7) "got it
"
bool(true)
one that the application has met itself, and goes on
PDOException
MailQueue\DatabaseException [database]: the server has undone the transaction that was open on this connection, as after a deadlock: roll back and repeat it
bool(false)
int(0)
a config table that cannot hold a value
MailQueue\DatabaseException [schema]: the column `value` of table config cannot hold the 41 octets of mailRedirectTypes: make it a TEXT in utf8mb4
NULL
one without a key
string(1) "2"
ValueError: reference must have 1 to 190 octets, not 192
bool(true)
messages larger than what the server takes
emulated MailQueue\DatabaseException [full]: the message is too large for this server: a statement with it has N octets, and max_allowed_packet is 1048576: raise that on the server, then connect again; or make the message smaller
emulated MailQueue\DatabaseException [full]: the message is too large for this server: a statement with it has N octets, and max_allowed_packet is 1048576: raise that on the server, then connect again; or make the message smaller
beside a small one: MailQueue\DatabaseException [full]: the message is too large for thi
bool(true)
native nothing
native MailQueue\DatabaseException [full]: the message is too large for this server: a statement with it has N octets, and max_allowed_packet is 1048576: raise that on the server, then connect again; or make the message smaller
beside a small one: MailQueue\DatabaseException [full]: the message is too large for thi
bool(true)
tables are made by one at a time
array(0) {
}
0
int(1)
a migration that broke off is gone on with; missing columns are added
int(6)
bool(true)
NULL
MailQueue\DatabaseException [schema]: a table others_queue exists that is not the queue's: it lacks reference, mail_type, status, priority, attempts, max_attempts, uncertain, paid, next_attempt_at, expires_at, locked_until, locked_by, last_attempt_at, last_error, parked_for, created_at, message_id, envelope_from, recipients, refused, campaign_id, fields, subject, resent_of, uncertain_to, paid_to, waits_for, relay, scope, cleared, recipient_id. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
the connection is lost
io the connection is lost: open a new PDO and a MailQueue with it; what was being committed may be stored or not
io the connection is lost: open a new PDO and a MailQueue with it; what was being committed may be stored or not
