--TEST--
migrate-store: ids that leave no room, bodies without a job in the target, and --abort without it: what is refused, and the cure
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/copy.inc';
require_once __DIR__ . '/../lib/cli.inc';

$move = static function (string ...$words): void {
    [$code, $output, $errors] = cli(['migrate-store', ...$words]);
    echo preg_replace(['~/\S*/~', '/SHA-256 \w+/'], ['%/', 'SHA-256 …'], "exit $code: $output$errors");
};
$keys = static fn(string $path): string => json_encode((new PDO("sqlite:$path"))->query("SELECT key FROM config WHERE key LIKE '%Moved%'")->fetchAll(PDO::FETCH_COLUMN));

echo "-- a huge id\n";
[$from, $to] = [database(), database()];
(new MailQueue($from))->enqueue(mail_fields());
$pdo = new PDO("sqlite:$from");
$pdo->exec('UPDATE mail_queue SET id = 999999999999999999; UPDATE mail_body SET id = 999999999999999999; UPDATE sqlite_sequence SET seq = 999999999999999999');
$move($from, $to);
echo $keys($from), $keys($to), "\n";

echo "-- a body without a job\n";
[$from, $to] = [database(), database()];
$queue = new MailQueue($from);
$queue->enqueue(mail_fields());
$queue->enqueue(mail_fields());
unset($queue);
$move($from, $to);
$pdo = new PDO("sqlite:$to");
$pdo->exec("DELETE FROM mail_queue WHERE id = 1; UPDATE config SET value = replace(value, ' copied ', ' copying ') WHERE key = 'mailQueueMovedFrom'");
(new PDO("sqlite:$from"))->exec("UPDATE config SET value = replace(value, ' moved ', ' moving ') WHERE key = 'mailQueueMovedTo'");
$move($from, $to);

echo "-- the target is gone\n";
$gone = database();
$move('--abort', $from, $gone);
?>
--EXPECT--
-- a huge id
exit 78: mailqueue: the next id would be 1000000000000000000, and ids above 10^17 cannot be moved: delete the mails with such ids, and set the counter back (AUTOINCREMENT, sequence)
[][]
-- a body without a job
exit 0: Moved 2 mails to %/mail.db: 2 pending.
All were compared: SHA-256 ….
exit 0: Moved 2 mails to %/mail.db: 2 pending.
All were compared: SHA-256 ….
-- the target is gone
exit 73: mailqueue: There is no database %/mail.db, or this user cannot reach it. Check the path; mailqueue migrate creates it. If TO is gone for good, let FROM send again with mailqueue config --unset mailQueueMovedTo; what TO has sent is then sent again.
