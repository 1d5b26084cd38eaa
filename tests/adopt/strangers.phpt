--TEST--
mailqueue adopt leaves other programs' objects alone; rows that cannot be told apart
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
function made(string $sql): array
{
    static $count = 0;
    $file = temp_home() . '/' . ++$count . '.sqlite';
    $pdo = new PDO("sqlite:$file");
    $pdo->exec($sql);
    return [$file, $pdo];
}
function state(PDO $pdo): string
{
    return json_encode($pdo->query("SELECT name, sql FROM sqlite_master ORDER BY 1")->fetchAll(PDO::FETCH_KEY_PAIR));
}
$jobs = "CREATE TABLE mail_queue (reference, mail_type, status);
    INSERT INTO mail_queue VALUES ('R1', 'm', 'pending');";
$cases = [
    'a mail_body of another program' => ["$jobs CREATE TABLE mail_body (id, what); INSERT INTO mail_body VALUES (1, 'theirs')", ['adopt']],
    'undo of a table that was never adopted' => ["CREATE TABLE mail_queue_before (a); CREATE TABLE mail_body (id, what)", ['adopt', '--undo']],
    'rows without id and reference' => ["CREATE TABLE mail_queue (job TEXT PRIMARY KEY, reference, mail_type, status) WITHOUT ROWID;
        INSERT INTO mail_queue VALUES ('a', '', 'm', 'pending'), ('b', '', 'm', 'pending'), ('c', '', 'm', 'pending')", ['adopt']],
    'rows without id, reference NULL' => ["CREATE TABLE mail_queue (job TEXT PRIMARY KEY, reference, mail_type, status) WITHOUT ROWID;
        INSERT INTO mail_queue VALUES ('a', NULL, 'm', 'pending')", ['adopt']],
    'a view of the queue\'s name' => ["CREATE TABLE x (a); CREATE VIEW mail_queue AS SELECT a FROM x;
        CREATE TABLE email_queues (id INTEGER PRIMARY KEY, mail_body, status); INSERT INTO email_queues VALUES (1, 'From: a@example.org', 'pending')", ['adopt']],
    'an index of the queue\'s name' => ["$jobs CREATE TABLE x (a); CREATE INDEX mail_queue_lease ON x (a)", ['adopt']],
    'a view that another view hides' => ["CREATE TABLE mail_outbox (message, status); CREATE VIEW one AS SELECT status AS s FROM mail_outbox;
        CREATE VIEW two AS SELECT s FROM one", ['adopt']],
    'which column is the message' => ["CREATE TABLE mail_outbox (message, body, status)", ['adopt']],
    'no message' => ["CREATE TABLE mail_outbox (eml, status)", ['adopt']],
];
foreach ($cases as $what => [$sql, $words]) {
    [$file, $pdo] = made($sql);
    $before = state($pdo);
    [$code, , $error] = cli([...$words, '--database', $file]);
    echo "$what: exit $code ", $error, state($pdo) === $before ? 'as it was' : 'adopted', count(glob("$file-before*")) ? ', with a backup' : '', "\n";
    $code === 0 && print(implode(' ', $pdo->query('SELECT job FROM mail_queue ORDER BY 1')->fetchAll(PDO::FETCH_COLUMN)) . "\n");
}
?>
--EXPECT--
a mail_body of another program: exit 78 mailqueue: A table mail_body already exists, but the queue needs that name: rename it. Nothing was changed.
as it was
undo of a table that was never adopted: exit 78 mailqueue: There is nothing to undo: no adoption is recorded here.
as it was
rows without id and reference: exit 0 adopted, with a backup
a b c
rows without id, reference NULL: exit 0 adopted, with a backup
a
a view of the queue's name: exit 78 mailqueue: A view mail_queue already exists, but the queue needs that name: rename it. Nothing was changed.
as it was
an index of the queue's name: exit 78 mailqueue: The database refuses: SQLSTATE[HY000]: General error: 1 index mail_queue_lease already exists
as it was
a view that another view hides: exit 78 mailqueue: These do not work with the queue's table: view one, view two. With --drop-them they are dropped (--undo creates them again). Nothing was changed.
as it was
which column is the message: exit 78 mailqueue: Table mail_outbox has the columns message and body, and only one of them can count: rename the other. Nothing was changed.
as it was
no message: exit 78 mailqueue: Table mail_outbox is not a mail queue that is known: it lacks a message (a column mail_body or message or raw_message or mime or body). Give the queue another --table. Nothing was changed.
as it was
