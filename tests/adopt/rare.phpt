--TEST--
mailqueue adopt: names in other cases, invisible columns, short config values, rows that come at the last moment; on PostgreSQL and MariaDB
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

const JOBS = 'CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, registration_number VARCHAR(400), mail_type VARCHAR(20), status VARCHAR(20))';
const ROW = "INSERT INTO mail_queue VALUES (1, 'A', 'm', 'held')";

echo "-- a config table with short values; a name that the queue cannot have\n";
foreach (['pgsql', 'mysql'] as $name) {
    $backend = new Backend($name);
    $pdo = $backend->pdo();
    $key = $name === 'mysql' ? '`key`' : 'key';
    array_map($pdo->exec(...), ["CREATE TABLE config ($key VARCHAR(190) PRIMARY KEY, value VARCHAR(60))", JOBS, ROW]);
    echo said(adopt($backend->dsn)), implode(' ', column($pdo, 'SELECT registration_number FROM mail_queue')), "\n";
    $pdo->exec('ALTER TABLE mail_queue RENAME TO email_queues');
    $pdo->exec('ALTER TABLE email_queues ADD COLUMN mail_body TEXT');
    echo said(adopt($backend->dsn, 'email_queues', '--dry-run', '--table', 'my queue'));
}

echo "-- PostgreSQL: names with capitals\n";
$backend = new Backend('pgsql');
$pdo = $backend->pdo();
$pdo->exec('CREATE TABLE mail_queue ("ID" INTEGER, "Registration_Number" TEXT, "Mail_Type" TEXT, "Status" TEXT, "Lang" TEXT)');
$pdo->exec("INSERT INTO mail_queue VALUES (5, 'A', 'm', 'held', 'de'), (6, 'A', 'm', 'held', 'en')");
echo strstr(said(adopt($backend->dsn)), 'registration_number'), "";
$pdo->exec("UPDATE mail_queue SET \"Registration_Number\" = 'B' WHERE \"ID\" = 6");
echo strtok(said(adopt($backend->dsn)), "\n"), ' ', implode(' ', column($pdo, "SELECT concat(id, registration_number, \"Lang\") FROM mail_queue ORDER BY id")), "\n";
echo strtok(said(adopt($backend->dsn, '--undo')), "\n"), "\n";
$pdo->exec('ALTER TABLE mail_queue ADD COLUMN status TEXT');
echo said(adopt($backend->dsn));

echo "-- PostgreSQL: at the last moment\n";
$backend = $backend->another();
$pdo = $backend->pdo();
array_map($pdo->exec(...), [JOBS, ROW]);
$blocker = $backend->pdo();
$long = str_repeat('x', 300);
$blocker->exec("BEGIN; INSERT INTO mail_queue VALUES (2, '$long', 'm', 'held')");
$process = proc_open(cli_command(['adopt', '--reference-column', 'registration_number']), [1 => STDOUT, 2 => ['pipe', 'w']], $pipes, null,
    ['MAILQUEUE_DATABASE' => $backend->dsn] + getenv());
while (column($pdo, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = to_regclass('mail_queue')")[0] == 0) {
    usleep(20000);
}
$blocker->exec('COMMIT');
echo stream_get_contents($pipes[2]), proc_close($process), ' ', implode(' ', column($pdo, 'SELECT length(registration_number) FROM mail_queue ORDER BY id')), "\n";

echo "-- PostgreSQL: a server that writes dates in another order\n";
$backend = $backend->another();
$pdo = $backend->pdo();
$pdo->exec('DO $$ BEGIN EXECUTE format(\'ALTER DATABASE %I SET datestyle = German\', current_database()); END $$');
array_map($pdo->exec(...), [JOBS, ROW, "ALTER TABLE mail_queue ADD COLUMN created_at TIMESTAMP DEFAULT '2026-01-15 07:00:00'"]);
echo column($backend->pdo(), 'SELECT created_at FROM mail_queue')[0], "\n";
echo strtok(said(adopt($backend->dsn)), "\n"), ' ', column($pdo, 'SELECT created_at FROM mail_queue')[0], "\n";

echo "-- MariaDB: invisible columns\n";
$backend = new Backend('mysql');
$pdo = $backend->pdo();
$pdo->exec("CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, registration_number VARCHAR(20), mail_type VARCHAR(20), status VARCHAR(20), attempts INTEGER INVISIBLE, lang VARCHAR(5) INVISIBLE)");
$pdo->exec("INSERT INTO mail_queue (id, registration_number, mail_type, status, attempts, lang) VALUES (1, 'A', 'm', 'held', 4, 'de')");
echo strtok(said(adopt($backend->dsn)), "\n"), ' ', implode(' ', column($pdo, 'SELECT concat(attempts, lang) FROM mail_queue')), "\n";
?>
--EXPECT--
-- a config table with short values; a name that the queue cannot have
exit 78: mailqueue: Table config cannot record the adoption: its column value holds less than 1127 characters. Make it a text column. Nothing was changed.
A
exit 78: mailqueue: the table must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
exit 78: mailqueue: Table config cannot record the adoption: its column value holds less than 123 characters. Make it a text column. Nothing was changed.
A
exit 78: mailqueue: the table must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
-- PostgreSQL: names with capitals
registration_number and mail_type ("A", "m") is there 2 times, and must be unique in the queue. Delete what need not be sent. Nothing was changed.
exit 0: Adopted 2 mails of mail_queue: 2 held. 5Ade 6Ben
exit 0: Table mail_queue is as it was.
exit 78: mailqueue: Table mail_queue has the columns Status and status, and only one of them can count: rename the other. Nothing was changed.
-- PostgreSQL: at the last moment
mailqueue: Table mail_queue cannot become the queue's: row 2: reference must have 1 to 190 octets, not 300. Correct it, or rename the column. Nothing was changed.
78 1 300
-- PostgreSQL: a server that writes dates in another order
15.01.2026 07:00:00
exit 0: Adopted 1 mail of mail_queue: 1 held. 1768460400
-- MariaDB: invisible columns
exit 0: Adopted 1 mail of mail_queue: 1 held. 4de
