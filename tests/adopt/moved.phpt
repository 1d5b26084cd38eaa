--TEST--
mailqueue adopt --undo refuses a queue that was moved or is being moved: its mail would be sent twice
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
?>
--EXPECT--
adopted: 0, moved: 0 
exit 78: mailqueue: The queue is moved to %/mail.db, which sends its mail: what is in mail_queue_before would be sent again. Nothing was changed.
4 4
NULL
[]
