--TEST--
mailqueue adopt: what becomes of each status, lease, number and id; what is refused, with nothing changed
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/adopt.inc';

$now = time();
[$soon, $month, $later] = [$now + 300, $now + 30 * 86400 - 60, $now + 30 * 86400 + 60];
$pdo = old("CREATE TABLE mail_queue (registration_number, mail_type, status, attempts,
    next_attempt_at, locked_until, priority, created_at, message_id, locked_by);
    INSERT INTO mail_queue VALUES
    ('A', 'm', 'failed', 1, $month, NULL, NULL, NULL, NULL, NULL),
    ('B', 'm', 'failed', 1, $later, NULL, NULL, NULL, NULL, NULL), -- given up
    ('C', 'm', 'failed', '3', NULL, NULL, NULL, NULL, NULL, NULL), -- given up, too
    ('D', 'm', 'pending', 0, $later, NULL, 5, 1700000000, '<d@x>', NULL),
    ('E', 'm', 'SENDING ', 0, 5, '', '-3', NULL, '', 'host:123'), -- without a lease: over
    ('F', 'm', 'Pending', NULL, 5, $soon, NULL, NULL, NULL, NULL), -- marked by the lease alone
    ('', 'm', 'pending', 0, 5, $now - 1, NULL, NULL, NULL, 'me'),
    ('', 'm', 'pending', 0, 5, NULL, NULL, '2023-11-14 22:13:20', NULL, NULL),
    ('G', 'm', 'held', 0, 5, NULL, NULL, NULL, NULL, NULL),
    ('H', 'm', 'parked', 9, 5, NULL, NULL, NULL, NULL, NULL),
    (4711.0, 'm', 'sending', 2, 5, 1, NULL, NULL, NULL, NULL)");
echo said(adopt($pdo));
$names = [$month => '<30 days', $later => '>30 days', $soon => 'soon', 5 => 5, 1 => 1, 1700000000 => 1700000000];
$time = static fn(?int $at): string => $at === null ? '-' : (string) ($names[$at] ?? (abs($at - time()) < 60 ? 'now' : $at));
$sql = 'SELECT id, registration_number AS r, status, attempts, next_attempt_at AS n, locked_until AS l, priority, created_at AS c,
    parked_for AS p, length(locked_by) AS t, paid, message_id AS m FROM mail_queue ORDER BY id';
foreach ($pdo->query($sql, PDO::FETCH_ASSOC) as $row) {
    $message = preg_match('/\A<[0-9a-f]{32}@localhost>\z/', $row['m']) ? '' : " $row[m]";
    echo "$row[id] ", $row['r'] ?? '-', " $row[status] $row[attempts] {$time($row['n'])} {$time($row['l'])} $row[priority] ",
        "{$time($row['c'])} ", $row['p'] ?? '-', ' ', $row['t'] ?? '-', " $row[paid]$message\n";
}

const TABLE = 'CREATE TABLE mail_queue (registration_number, mail_type, status, attempts, id2);';
$cases = [
    TABLE . "INSERT INTO mail_queue VALUES ('A', 'm', 'sent', 1, 0), ('B', 'm', 'sent', 1, 0), ('C', 'm', NULL, 1, 0), ('D', 'm', 'pending', 0, 0)",
    TABLE . "INSERT INTO mail_queue VALUES ('A', 'm', 'pending', 1, 0), ('A', 'm', 'failed', 1, 0)",
    TABLE . "INSERT INTO mail_queue VALUES ('A', NULL, 'pending', 1, 0)",
    TABLE . "INSERT INTO mail_queue VALUES ('A', 'm', 'pending', 'many', 0)",
    "CREATE TABLE mail_queue (id TEXT PRIMARY KEY, registration_number, mail_type, status);
        INSERT INTO mail_queue VALUES ('f00-ba', 'A', 'm', 'pending')",
    'CREATE TABLE mail_queue (registration_number TEXT PRIMARY KEY, mail_type, status);
        CREATE TABLE child (n TEXT REFERENCES mail_queue)',
    'CREATE TABLE mail_queue (registration_number, mail_type)',
    'CREATE TABLE mail_queue (registration_number, mail_type, status); CREATE TABLE mail_queue_before (x)',
    'CREATE TABLE other (x)',
    'CREATE TABLE mail_queue (registration_number, mail_type, status); CREATE TABLE email_queues (mail_body, status)',
];
foreach ($cases as $script) {
    $pdo = old($script);
    $table = str_contains($script, 'mail_queue') ? 'mail_queue' : 'other';
    $before = dump($pdo, $table);
    echo said(adopt($pdo));
    echo dump($pdo, $table) === $before ? '' : "CHANGED\n";
    echo count(glob(path($pdo) . '-before-adopt*')) ? "a backup of nothing\n" : '';
}
echo said(adopt($pdo, 'email_queues'));
echo said(adopt($pdo, '--undo'));
echo said(adopt($pdo, '--undo', '--dry-run'));
echo said(cli(['adopt', '--database', path($pdo) . 'x']));
?>
--EXPECT--
exit 0: Adopted 11 mails of mail_queue: 3 parked, 2 sending, 4 pending, 1 held, 1 failed.
Backup: %/mail.db-before-adopt-%
The old table is mail_queue_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
1 A failed 1 <30 days - 0 now - - 0
2 B parked 1 >30 days - 0 now exhausted - 0
3 C parked 3 now - 0 now exhausted - 0
4 D pending 0 >30 days - 5 1700000000 - - 0 <d@x>
5 E sending 1 5 now -3 5 - 32 0
6 F pending 0 soon - 0 5 - - 0
7 - pending 0 5 - 0 5 - - 0
8 - pending 0 5 - 0 1700000000 - - 0
9 G held 0 5 - 0 5 - - 0
10 H parked 9 5 - 0 5 hold - 0
11 4711 sending 2 5 1 0 5 - 32 0
exit 78: mailqueue: Table mail_queue cannot become the queue's: it has rows with the status "NULL" (1), "sent" (2). Delete those that were sent; give the others pending, failed, parked (not sent by itself) or sending (begun; it may have arrived). Nothing was changed.
exit 78: mailqueue: Table mail_queue cannot become the queue's: registration_number and mail_type ("A", "m") is there 2 times, and must be unique in the queue. Delete what need not be sent. Nothing was changed.
exit 78: mailqueue: Table mail_queue cannot become the queue's: row 1: it has no mail_type. Give it one, or delete it. Nothing was changed.
exit 78: mailqueue: Table mail_queue cannot become the queue's: row 1: column attempts holds "many", which is not a whole number. Correct it. Nothing was changed.
exit 78: mailqueue: Table mail_queue cannot become the queue's: row f00-ba: its id "f00-ba" is not a whole number from 1 to 10^17. Correct it, or give the column another name. Nothing was changed.
exit 78: mailqueue: Table mail_queue cannot become the queue's: a foreign key of child refers to its primary key without naming the column, and that will be id. Name the column in REFERENCES. Nothing was changed.
exit 78: mailqueue: Table mail_queue is not a mail queue that is known: it lacks status. Give the queue another --table. Nothing was changed.
exit 78: mailqueue: Table mail_queue_before already exists, and mail_queue would get that name: rename or drop it. Nothing was changed.
exit 78: mailqueue: There is nothing to adopt: mail_queue, email_queues or mail_outbox does not exist, or is already the queue's.
exit 64: mailqueue: There are several tables to adopt: mail_queue, email_queues. Name one: mailqueue adopt TABLE
exit 78: mailqueue: Table mail_queue is another program's: adopt that first (mailqueue adopt mail_queue), or give the queue another --table. Nothing was changed.
exit 78: mailqueue: There is nothing to undo: no adoption is recorded here.
exit 64: mailqueue: --undo cannot be combined with --dry-run, --drop-them or a table.
exit 73: mailqueue: There is no database %/mail.dbx. Check the path.
