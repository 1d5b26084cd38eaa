--TEST--
mailqueue adopt into, and --undo of, a queue that was moved or is being moved is refused: nothing would be sent, or all twice
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/adopt.inc';

$pdo = old("CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, registration_number, mail_type, status);
    INSERT INTO mail_queue VALUES (4, 'A', 'm', 'pending')");
[$code] = adopt($pdo);
$to = database();
[$moved, , $errors] = cli(['migrate-store', '--reference-column', 'registration_number', path($pdo), $to]);
echo "adopted: $code, moved: $moved $errors\n";
echo preg_replace('~/\S*/~', '%/', said(adopt($pdo, '--undo')));
echo implode(' ', column($pdo, 'SELECT id FROM mail_queue')), ' ', implode(' ', column(new PDO("sqlite:$to"), 'SELECT id FROM mail_queue')), "\n";
var_dump((new MailQueue($to, referenceColumn: 'registration_number'))->config('mailQueueMovedTo'));
echo json_encode(column(new PDO("sqlite:$to"), "SELECT key FROM config WHERE key LIKE 'mailQueueAdopted%'")), "\n";
echo "-- into it\n";
$pdo->exec('DROP TABLE mail_queue_before; DELETE FROM mail_queue; DELETE FROM config WHERE key LIKE \'mailQueueAdopted%\'');
$pdo->exec("CREATE TABLE mail_outbox (id INTEGER PRIMARY KEY, message TEXT, status TEXT);
    INSERT INTO mail_outbox VALUES (1, 'From: a@example.org' || char(10) || 'To: b@example.org' || char(10) || char(10), 'queued')");
$before = dump($pdo, 'mail_outbox');
echo said(adopt($pdo));
$move = column($pdo, "SELECT value FROM config WHERE key = 'mailQueueMovedTo'")[0];
$pdo->exec("UPDATE config SET key = 'mailQueueMovedFrom', value = replace(value, ' moved 0 0 ', ' copying 3 5 ') WHERE key = 'mailQueueMovedTo'");
echo said(adopt($pdo));
echo dump($pdo, 'mail_outbox') === $before ? "as it was\n" : "CHANGED\n";
$pdo->exec("UPDATE config SET value = replace(value, ' copying ', ' copied ') WHERE key = 'mailQueueMovedFrom'");
echo said(adopt($pdo));
$pdo = old("CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, registration_number, mail_type, status); CREATE TABLE config (name, value)");
echo said(adopt($pdo));
?>
--EXPECT--
adopted: 0, moved: 0 
exit 78: mailqueue: The queue is moved to %/mail.db, which sends its mail: what is in mail_queue_before would be sent again. Nothing was changed.
4 4
NULL
[]
-- into it
exit 78: mailqueue: The queue mail_queue was moved to %/mail.db and sends nothing, so what is adopted would not be sent: adopt where it is sent, or finish the move (mailqueue migrate-store). Nothing was changed.
exit 78: mailqueue: The queue mail_queue is being moved here from %/mail.db and sends nothing, so what is adopted would not be sent: adopt where it is sent, or finish the move (mailqueue migrate-store). Nothing was changed.
as it was
exit 0: Adopted 1 mail of mail_outbox: 1 pending.
Backup: %/mail.db-before-adopt-%
The old table is mail_outbox_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
exit 78: mailqueue: Table config is another program's: it lacks key. Give the queue another --config-table. Nothing was changed.
