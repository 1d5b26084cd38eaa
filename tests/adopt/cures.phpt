--TEST--
mailqueue adopt: rare obstacles, each with a cure, and nothing changed
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/adopt.inc';
require __DIR__ . '/../lib/backends.inc';

const JOBS = 'CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, registration_number TEXT, mail_type TEXT, status TEXT);';
const OUTBOX = "CREATE TABLE mail_outbox (id INTEGER PRIMARY KEY, message TEXT, status TEXT);
    INSERT INTO mail_outbox VALUES (1, 'From: a@example.org' || char(10) || 'To: b@example.org' || char(10) || char(10), 'queued')";

echo "-- SQLite\n";
$pdo = old(JOBS . "CREATE TABLE log (x); CREATE TRIGGER latin AFTER DELETE ON mail_queue BEGIN INSERT INTO log VALUES ('M\xfcller'); END");
$before = $pdo->query('SELECT hex(sql) FROM sqlite_master')->fetchAll();
echo said(adopt($pdo)), $pdo->query('SELECT hex(sql) FROM sqlite_master')->fetchAll() === $before ? '' : "CHANGED\n";
$pdo = old(JOBS);
echo substr(said(adopt($pdo, 'MAIL_QUEUE', '--dry-run')), 0, 38), "\n";
$pdo = old(OUTBOX);
echo substr(said(adopt($pdo)), 0, 22), "\n";
$pdo->exec('CREATE TABLE mail_outbox (id INTEGER PRIMARY KEY, message TEXT, status TEXT)');
echo said(adopt($pdo, '--undo'));
$pdo->exec('DROP TABLE mail_outbox');
echo said(adopt($pdo, '--undo'));
$pdo = old(OUTBOX);
adopt($pdo);
$pdo->exec('PRAGMA journal_mode = WAL');
touch($mark = path($pdo) . '-unsynced');
echo said(adopt($pdo, '--undo')), count(column($pdo, 'SELECT id FROM mail_queue')), "\n";
cli(['doctor', '--database', path($pdo)]);
echo file_exists($mark) ? 'not repaired ' : '', said(adopt($pdo, '--undo'));
$pdo = old(OUTBOX . "; UPDATE mail_outbox SET id = -5; INSERT INTO mail_outbox SELECT 0, message, status FROM mail_outbox");
echo substr(said(adopt($pdo)), 0, 22), ' ', implode(' ', column($pdo, 'SELECT id FROM mail_queue ORDER BY id')), "\n";
$pdo = old("CREATE TABLE mail_queue (k BLOB PRIMARY KEY, registration_number, mail_type, status) WITHOUT ROWID;
    INSERT INTO mail_queue VALUES (x'00ff', 'A', 'm', 'held')");
echo said(adopt($pdo));
$pdo = old(JOBS);
$limited = new PDO('sqlite:' . path($pdo));
foreach (['attempt to write a readonly database' => 78, 'database or disk is full' => 75] as $text => $code) {
    $e = new PDOException("SQLSTATE[HY000]: General error: 8 $text");
    require_once __DIR__ . '/../../cli/ExitCode.php';
    require_once __DIR__ . '/../../cli/Adopt/Database.php';
    echo MailQueue\Cli\Adopt\Database::code($e) === $code ? '' : 'wrong code: ', MailQueue\Cli\Adopt\Database::text($e, 'app.sqlite'), "\n";
}

foreach (['pgsql', 'mysql'] as $name) {
    echo "-- $name\n";
    $backend = new Backend($name);
    $pdo = $backend->pdo();
    $pdo->exec('CREATE TABLE mailqueue_adopting_config (a INTEGER)');
    $pdo->exec(str_replace('TEXT', 'VARCHAR(20)', rtrim(JOBS, ';')));
    echo said(adopt($backend->dsn));
    $pdo->exec('DROP TABLE mailqueue_adopting_config');
    $long = str_repeat('x', 60);
    $pdo->exec("CREATE TABLE $long (id INTEGER PRIMARY KEY, message TEXT, status VARCHAR(20))");
    echo said(adopt($backend->dsn, $long));
}
?>
--EXPECT--
-- SQLite
exit 78: mailqueue: The SQL of trigger latin is not UTF-8, so --undo could not make it again. Create it again in UTF-8. Nothing was changed.
exit 0: Would adopt 0 mails of mail_qu
exit 0: Adopted 1 mail
exit 78: mailqueue: A table mail_outbox is there again: the old program has made it. Stop that, copy its rows into mail_outbox_before and drop it. Nothing was changed.
exit 0: Table mail_outbox is as it was.
exit 74: mailqueue: The disk did not store the write-ahead log of %/mail.db: run mailqueue doctor first.
1
exit 0: Table mail_outbox is as it was.
exit 0: Adopted 2 mail 1 2
exit 78: mailqueue: Row with the reference A cannot be copied: its key finds no row, or several. Give the table a primary key of one column with numbers or text. Nothing was changed.
app.sqlite or its directory cannot be written: SQLSTATE[HY000]: General error: 8 attempt to write a readonly database. Run adopt as the user that the file belongs to
app.sqlite: SQLSTATE[HY000]: General error: 8 database or disk is full. Nothing was changed. Free about twice the size of the file, and try again
-- pgsql
exit 78: mailqueue: Table mailqueue_adopting_config is another program's: adopt needs the name. Rename it. Nothing was changed.
exit 78: mailqueue: The name xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx is too long: the table would be called xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_before. Rename it. Nothing was changed.
-- mysql
exit 78: mailqueue: Table mailqueue_adopting_config is another program's: adopt needs the name. Rename it. Nothing was changed.
exit 78: mailqueue: The name xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx is too long: the table would be called xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_before. Rename it. Nothing was changed.
