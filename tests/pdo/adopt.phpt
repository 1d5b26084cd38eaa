--TEST--
A mail_queue of the application's own becomes the queue's: new MailQueue(path or PDO), mailqueue migrate
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

/* As the application's old mailer made it. */
function old(): PDO
{
    $pdo = new PDO('sqlite:' . database());
    $pdo->exec("CREATE TABLE registrations (number TEXT PRIMARY KEY);
        INSERT INTO registrations VALUES ('R1'), ('R2'), ('R3'), ('R4');
        CREATE TABLE mail_queue (
            registration_number TEXT NOT NULL REFERENCES registrations(number) ON DELETE CASCADE,
            mail_type TEXT NOT NULL CHECK (mail_type IN ('user','organizer')),
            status TEXT NOT NULL CHECK (status IN ('pending','sending','failed')),
            attempts INTEGER NOT NULL DEFAULT 0,
            next_attempt_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, locked_until TEXT, last_error TEXT,
            PRIMARY KEY (registration_number, mail_type));
        CREATE TABLE mail_seen (registration_number TEXT);
        CREATE TRIGGER seen AFTER DELETE ON mail_queue BEGIN
            INSERT INTO mail_seen VALUES (OLD.registration_number || ' gone?');
        END;
        INSERT INTO mail_queue VALUES ('R1', 'user', 'pending', 0, '2026-01-15 07:00:00', NULL, NULL),
            ('R2', 'user', 'failed', 2, '2026-01-15 07:00:00', NULL, '451 later'),
            ('R3', 'user', 'failed', 5, '2099-01-01 00:00:00', NULL, '550 no'),
            ('R4', 'user', 'sending', 1, '2026-01-15 07:00:00', '2026-01-15 07:10:00', NULL)");
    return $pdo;
}

function path(PDO $pdo): string
{
    return $pdo->query('PRAGMA database_list')->fetchColumn(2);
}

function rows(PDO $pdo): void
{
    $sql = 'SELECT id, registration_number, status, attempts, next_attempt_at, last_error, parked_for FROM mail_queue';
    foreach ($pdo->query($sql, PDO::FETCH_NUM) as $row) {
        echo implode(' ', array_map(fn($v): string => (string) ($v ?? '-'), $row)), "\n";
    }
    echo 'seen: ', $pdo->query('SELECT count(*) FROM mail_seen')->fetchColumn(), "\n";
}

echo "-- a path\n";
$pdo = old();
$queue = new MailQueue(path($pdo), referenceColumn: 'registration_number');
rows($pdo);
var_dump($queue->enqueue(mail_fields(), reference: 'R1', type: 'user'));
$subjects = [];
$report = $queue->runWorker(function (MailQueue\Job $job, string $message) use (&$subjects): void {
    preg_match('/^Message-ID: <[0-9a-f]{32}@localhost>/m', $message) or print "no Message-ID\n";
    $subjects[] = $job->reference;
}, fn(MailQueue\Job $job): array => mail_fields(subject: "To $job->reference"), log: '');
sort($subjects);
echo $report->sent, ' sent: ', implode(' ', $subjects), "\n";
echo implode(', ', $pdo->query('SELECT * FROM mail_seen ORDER BY 1')->fetchAll(PDO::FETCH_COLUMN)), "\n";

echo "-- a PDO, with foreign keys\n";
$pdo = old();
$pdo->exec('PRAGMA foreign_keys = ON');
$pdo->setAttribute(PDO::ATTR_STRINGIFY_FETCHES, true);
$pdo->beginTransaction();
echo thrown(fn() => new MailQueue($pdo, referenceColumn: 'registration_number')), "\n";
$pdo->rollBack();
$queue = new MailQueue($pdo, referenceColumn: 'registration_number');
rows($pdo);
foreach (['foreign_keys', 'legacy_alter_table'] as $setting) {
    echo $setting, ' ', $pdo->query("PRAGMA $setting")->fetchColumn(), "\n";
}
$pdo->exec("DELETE FROM registrations WHERE number = 'R2'");
echo implode(', ', $pdo->query('SELECT * FROM mail_seen')->fetchAll(PDO::FETCH_COLUMN)), "\n";

echo "-- mailqueue migrate\n";
$pdo = old();
show(cli(['migrate', '--database', path($pdo), '--reference-column', 'registration_number']));
rows($pdo);
$pdo = old();
$pdo->exec("PRAGMA ignore_check_constraints = ON; UPDATE mail_queue SET status = 'sent' WHERE registration_number < 'R3'");
show(cli(['migrate', '--database', path($pdo), '--reference-column', 'registration_number']));
echo $pdo->query("SELECT count(*) FROM pragma_table_info('mail_queue')")->fetchColumn(), " columns\n";
?>
--EXPECT--
-- a path
1 R1 pending 0 1768460400 - -
2 R2 failed 2 1768460400 451 later -
3 R3 parked 5 4070908800 550 no exhausted
4 R4 sending 1 1768460400 - -
seen: 0
NULL
2 sent: R1 R2
R1 gone?, R2 gone?
-- a PDO, with foreign keys
MailQueue\DatabaseException [schema]: the queue's tables must be created or upgraded, which is not done within the application's transaction: run `mailqueue migrate`
1 R1 pending 0 1768460400 - -
2 R2 failed 2 1768460400 451 later -
3 R3 parked 5 4070908800 550 no exhausted
4 R4 sending 1 1768460400 - -
seen: 0
foreign_keys 1
legacy_alter_table 0
R2 gone?
-- mailqueue migrate
exit 0
The tables are at version 1.
1 R1 pending 0 1768460400 - -
2 R2 failed 2 1768460400 451 later -
3 R3 parked 5 4070908800 550 no exhausted
4 R4 sending 1 1768460400 - -
seen: 0
exit 78
mailqueue: table mail_queue cannot become the queue's: it has rows with the status "sent" (2). Delete those that were sent; give the others pending, failed, parked (not sent by itself) or sending (begun; it may have arrived). Nothing was changed
7 columns
