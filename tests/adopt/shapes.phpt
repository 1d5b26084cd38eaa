--TEST--
mailqueue adopt: email_queues and mail_outbox, on SQLite, PostgreSQL and MariaDB; words for the status; rows with serialized PHP stay
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

$mail = static fn(string $to, string $cc = ''): string => "From: Shop <shop@example.org>\r\n"
    . ($to === '' ? '' : "To: $to\r\n") . ($cc === '' ? '' : "Cc: $cc\r\n") . "Subject: To $to\r\n\r\nHello\r\n";
$fill = static function (PDO $pdo, string $sql, array $rows): void {
    foreach ($rows as $row) {
        $pdo->prepare($sql)->execute($row);
    }
};
$show = static function (MailQueue $queue): void {
    foreach ($queue->jobs() as $job) {
        echo "  $job->id {$job->status->value} $job->attempts ", implode(',', $job->recipients ?? ['?']), ' ', strlen((string) $queue->job($job->id)->message) > 40 ? 'body' : 'EMPTY',
            ' ', $job->parkedFor ?? '-', ' ', $job->createdAt === 1768460400 ? 'created' : '-', "\n";
    }
};
foreach (['sqlite', 'pgsql', 'mysql'] as $name) {
    echo "-- $name\n";
    $backend = new Backend($name);
    $pdo = $backend->pdo();
    $quote = $name === 'mysql' ? '`' : '"';
    $pdo->exec("CREATE TABLE email_queues (id INTEGER PRIMARY KEY, {$quote}to{$quote} VARCHAR(200), subject VARCHAR(200), config TEXT, mail_body TEXT,
        status VARCHAR(40), locked_by VARCHAR(40), attempts INTEGER, last_attempt_at TIMESTAMP NULL, created_at TIMESTAMP NULL, tenant INTEGER)");
    $at = '2026-01-15 07:00:00';
    $fill($pdo, 'INSERT INTO email_queues VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', [
        [3, 'a@example.net', 's', 'a:1:{s:4:"host";s:1:"x";}', $mail('a@example.net', 'c@example.net'), '[x] PENDING', null, 0, null, $at, 8],
        [5, 'Bo <b@example.net>', 's', '', $mail(''), 'pending', 'worker-1', 0, $at, $at, 8],
        [6, 'd@example.net', 's', '', $mail('d@example.net'), '[ ] Failed', null, 4, $at, $at, null],
        [7, 'e@example.net', 's', '', $mail('e@example.net'), '[+] SENT', null, 1, $at, $at, 8],
        [8, 'f@example.net', 's', '', 'O:11:"Swift_Thing":0:{}', 'pending', null, 0, null, $at, 8],
        [9, 'g@example.net', 's', '', 'Hello you', 'pending', null, 0, null, $at, 8],
    ]);
    $pdo->exec("ALTER TABLE email_queues ADD COLUMN message_id VARCHAR(80) DEFAULT 'theirs'"); // the message has its own
    echo said(adopt($backend->dsn, '--dry-run'));
    echo said(adopt($backend->dsn));
    $show($backend->queue(referenceColumn: 'registration_number'));
    echo '  tenants: ', implode(' ', array_map(static fn($v) => $v ?? '-', column($pdo, 'SELECT tenant FROM mail_queue ORDER BY id'))), "\n";
    echo said(adopt($backend->dsn, '--undo'));
    echo '  ', implode(' ', column($pdo, 'SELECT id FROM email_queues ORDER BY id')), "\n";
    $pdo->exec('DROP TABLE email_queues');
    $pdo->exec("CREATE TABLE mail_outbox (id INTEGER PRIMARY KEY, recipient VARCHAR(200), message TEXT, state VARCHAR(40), created_at BIGINT)");
    $fill($pdo, 'INSERT INTO mail_outbox VALUES (?, ?, ?, ?, ?)', [
        [2, 'a@example.net', $mail('a@example.net'), 'queued', 1768460400], [4, 'b@example.net', $mail('b@example.net'), 'dispatching', 1768460400000],
        [5, 'c@example.net', $mail('c@example.net'), 'failed', 1768460400], [60000, 'd@example.net', $mail('d@example.net'), 'sent', 1768460400]]);
    $queue = $backend->queue(referenceColumn: 'registration_number'); // created earlier, and empty
    [$code, , $errors] = adopt($backend->dsn, 'mail_outbox');
    echo "  exit $code $errors";
    $show($queue);
    echo $queue->enqueue($mail('z@example.net')) > 60000 ? '' : "an id again\n";
    [$code, , $errors] = adopt($backend->dsn, '--undo');
    echo "  exit $code $errors";
    $pdo->exec('CREATE TABLE email_queues (id INTEGER PRIMARY KEY, mail_body TEXT, status VARCHAR(40))');
    echo '  ', said(adopt($backend->dsn));
    $pdo->exec('DROP TABLE email_queues');
    $pdo->exec('DROP TABLE mail_outbox_before');
    $pdo->exec("CREATE TABLE mail_outbox (id INTEGER PRIMARY KEY, message TEXT, status VARCHAR(40))");
    $pdo->exec('DELETE FROM mail_queue');
    $fill($pdo, 'INSERT INTO mail_outbox VALUES (?, ?, ?)', [[1, $mail('a@example.net'), 'bounced']]);
    echo '  ', substr(said(adopt($backend->dsn)), 0, 130), "\n";
}
?>
--EXPECT--
-- sqlite
exit 0: Would adopt 3 mails of email_queues: 1 pending, 1 sending, 1 parked.
1 that were sent stay in the old table.
Your own columns go with them: tenant.
Columns whose values only the old table keeps: subject, config, message_id.
Each mail goes to the recipients in its row. The headers also name others in row 3.
Left: row 8: serialized PHP, which is not read: only its own program can send it
Left: row 9: not a complete message, which begins with its headers
Nothing was changed.
exit 0: Adopted 3 mails of email_queues: 1 pending, 1 sending, 1 parked.
1 that were sent stay in the old table.
Your own columns go with them: tenant.
Columns whose values only the old table keeps: subject, config, message_id.
Each mail goes to the recipients in its row. The headers also name others in row 3.
Left: row 8: serialized PHP, which is not read: only its own program can send it
Left: row 9: not a complete message, which begins with its headers
Backup: %/mail.db-before-adopt-%
The old table is email_queues_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
  3 pending 0 a@example.net body - created
  5 sending 1 b@example.net body - created
  6 parked 4 d@example.net body exhausted created
  tenants: 8 8 -
exit 0: Table email_queues is as it was.
  3 5 6 7 8 9
  exit 0   2 pending 0 a@example.net body - created
  4 sending 1 b@example.net body - created
  5 parked 0 c@example.net body exhausted created
  exit 78 mailqueue: Mail was stored, sent or tried since: what was sent would be sent again, what was stored would be lost. The old table is there as mail_outbox_before. Nothing was changed.
  exit 78: mailqueue: The queue mail_queue has mail already, whose ids would be those of email_queues: let it be sent first (mailqueue work), or give the queue another --table. Nothing was changed.
  exit 78: mailqueue: Table mail_outbox cannot become the queue's: it has rows with the status "bounced" (1). Delete those that were
-- pgsql
exit 0: Would adopt 3 mails of email_queues: 1 pending, 1 sending, 1 parked.
1 that were sent stay in the old table.
Your own columns go with them: tenant.
Columns whose values only the old table keeps: subject, config, message_id.
Each mail goes to the recipients in its row. The headers also name others in row 3.
Left: row 8: serialized PHP, which is not read: only its own program can send it
Left: row 9: not a complete message, which begins with its headers
Nothing was changed.
exit 0: Adopted 3 mails of email_queues: 1 pending, 1 sending, 1 parked.
1 that were sent stay in the old table.
Your own columns go with them: tenant.
Columns whose values only the old table keeps: subject, config, message_id.
Each mail goes to the recipients in its row. The headers also name others in row 3.
Left: row 8: serialized PHP, which is not read: only its own program can send it
Left: row 9: not a complete message, which begins with its headers
The old table is email_queues_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
  3 pending 0 a@example.net body - created
  5 sending 1 b@example.net body - created
  6 parked 4 d@example.net body exhausted created
  tenants: 8 8 -
exit 0: Table email_queues is as it was.
  3 5 6 7 8 9
  exit 0   2 pending 0 a@example.net body - created
  4 sending 1 b@example.net body - created
  5 parked 0 c@example.net body exhausted created
  exit 78 mailqueue: Mail was stored, sent or tried since: what was sent would be sent again, what was stored would be lost. The old table is there as mail_outbox_before. Nothing was changed.
  exit 78: mailqueue: The queue mail_queue has mail already, whose ids would be those of email_queues: let it be sent first (mailqueue work), or give the queue another --table. Nothing was changed.
  exit 78: mailqueue: Table mail_outbox cannot become the queue's: it has rows with the status "bounced" (1). Delete those that were
-- mysql
exit 0: Would adopt 3 mails of email_queues: 1 pending, 1 sending, 1 parked.
1 that were sent stay in the old table.
Your own columns go with them: tenant.
Columns whose values only the old table keeps: subject, config, message_id.
Each mail goes to the recipients in its row. The headers also name others in row 3.
Left: row 8: serialized PHP, which is not read: only its own program can send it
Left: row 9: not a complete message, which begins with its headers
Nothing was changed.
exit 0: Adopted 3 mails of email_queues: 1 pending, 1 sending, 1 parked.
1 that were sent stay in the old table.
Your own columns go with them: tenant.
Columns whose values only the old table keeps: subject, config, message_id.
Each mail goes to the recipients in its row. The headers also name others in row 3.
Left: row 8: serialized PHP, which is not read: only its own program can send it
Left: row 9: not a complete message, which begins with its headers
The old table is email_queues_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
  3 pending 0 a@example.net body - created
  5 sending 1 b@example.net body - created
  6 parked 4 d@example.net body exhausted created
  tenants: 8 8 -
exit 0: Table email_queues is as it was.
  3 5 6 7 8 9
  exit 0   2 pending 0 a@example.net body - created
  4 sending 1 b@example.net body - created
  5 parked 0 c@example.net body exhausted created
  exit 78 mailqueue: Mail was stored, sent or tried since: what was sent would be sent again, what was stored would be lost. The old table is there as mail_outbox_before. Nothing was changed.
  exit 78: mailqueue: The queue mail_queue has mail already, whose ids would be those of email_queues: let it be sent first (mailqueue work), or give the queue another --table. Nothing was changed.
  exit 78: mailqueue: Table mail_outbox cannot become the queue's: it has rows with the status "bounced" (1). Delete those that were
