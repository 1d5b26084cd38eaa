--TEST--
mailqueue adopt: what is not its own it leaves alone; rows that cannot be told apart
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
];
foreach ($cases as $what => [$sql, $words]) {
    [$file, $pdo] = made($sql);
    $before = state($pdo);
    [$code, , $error] = cli([...$words, '--database', $file]);
    echo "$what: exit $code ", $error, state($pdo) === $before ? "as it was\n" : "CHANGED\n";
}
[$code, , $error] = cli(['adopt', '--database', 'pgsql:host=localhost;dbname=x']);
echo "a server: exit $code $error";
?>
--EXPECT--
a mail_body of another program: exit 78 mailqueue: A table mail_body is there already, which the queue needs for itself: rename it. Nothing was changed.
as it was
undo of a table that was never adopted: exit 78 mailqueue: There is nothing to undo: no adoption is noted here.
as it was
rows without id and reference: exit 78 mailqueue: Table mail_queue_before cannot be copied: row with the reference  has neither an id nor a reference and type of its own. Give the table an id. Nothing was changed.
as it was
rows without id, reference NULL: exit 78 mailqueue: Table mail_queue_before cannot be copied: row with the reference  has neither an id nor a reference and type of its own. Give the table an id. Nothing was changed.
as it was
a server: exit 78 mailqueue: adopt knows SQLite files only. On a server rename the table, let the queue make its own (mailqueue migrate), and store what waits with enqueue().
