--TEST--
mailqueue adopt on PostgreSQL: users of the old table can use the queue; those who cannot store mail see neither bodies nor settings, and take no ids
--EXTENSIONS--
mailqueue
pdo_pgsql
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql'); ?>
--FILE--
<?php
require __DIR__ . '/adopt.inc';
require __DIR__ . '/../lib/backends.inc';

const JOBS = 'CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, registration_number VARCHAR(400), mail_type VARCHAR(20), status VARCHAR(20))';
const ROW = "INSERT INTO mail_queue VALUES (1, 'A', 'm', 'held')";

$backend = new Backend('pgsql');
$pdo = $backend->pdo();
[$app, $reader] = array_map(static fn(string $name): string => $name . bin2hex(random_bytes(4)), ['app_', 'Reader_']);
$here = column($pdo, 'SELECT current_schema()')[0];
array_map($pdo->exec(...), [JOBS, ROW, "CREATE ROLE $app LOGIN", "CREATE ROLE \"$reader\" LOGIN", "GRANT USAGE ON SCHEMA $here TO $app, \"$reader\"",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON mail_queue TO $app", "GRANT SELECT ON mail_queue TO \"$reader\""]);
echo strtok(said(adopt($backend->dsn)), "\n"), "\n";
$as = static fn(string $user): PDO => new PDO(preg_replace('/user=\w+/', "user=$user", $backend->dsn));
echo thrown(function () use ($as, $app): void {
    $queue = new MailQueue($as($app), referenceColumn: 'registration_number');
    echo $queue->enqueue(mail_fields()), ' ', $queue->runWorker('null://null')->sent, "\n";
}), "\n";
echo implode(' ', column($as($reader), 'SELECT registration_number FROM mail_queue')), "\n";
foreach (['SELECT count(*) FROM mail_body', 'SELECT count(*) FROM config', 'DELETE FROM mail_queue', "SELECT nextval(pg_get_serial_sequence('mail_queue', 'id'))"] as $sql) {
    echo str_contains(thrown(fn() => $as($reader)->exec($sql)), 'permission denied') ? 'denied' : 'ALLOWED', "\n";
}
?>
--EXPECT--
exit 0: Adopted 1 mail of mail_queue: 1 held.
3 1
nothing
A
denied
denied
denied
denied
