--TEST--
mailqueue adopt: no recipient is left out, and an expires_at of 0 means never; mail that has expired is counted
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/adopt.inc';

$body = "From: a@example.org\nTo: y@example.org\n\nhi";
$pdo = old('CREATE TABLE email_queues (id INTEGER PRIMARY KEY, `to` TEXT, mail_body TEXT, status TEXT)');
$insert = $pdo->prepare("INSERT INTO email_queues VALUES (?, ?, ?, 'pending')");
$lists = ['["z@example.org","y@example.org"]', '[{"email":"z@example.org"},"y@example.org"]', '["z@example.org",17]',
    '{"z@example.org":"Zoe"}', '["z@example.org",["y@example.org"]]', '[]', 'z@example.org; y@example.org'];
foreach ($lists as $i => $list) {
    $insert->execute([$i + 1, $list, $body]);
}
echo said(adopt($pdo));
foreach ((new MailQueue(path($pdo), referenceColumn: 'registration_number'))->jobs() as $job) {
    echo $job->id, ' ', implode(' ', $job->recipients), "\n";
}

$past = time() - 60;
$pdo = old("CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, registration_number, mail_type, status, expires_at);
    INSERT INTO mail_queue VALUES (1, 'A', 'm', 'pending', 0), (2, 'B', 'm', 'pending', '0'), (3, 'C', 'm', 'pending', $past),
    (4, 'D', 'm', 'parked', $past), (5, 'E', 'm', 'pending', '1969-12-31 00:00:00'), (6, 'F', 'm', 'pending', NULL)");
echo said(adopt($pdo));
echo implode(' ', array_map(fn(?int $at): string => $at === null ? 'never' : "then", column($pdo, 'SELECT expires_at FROM mail_queue'))), "\n";
?>
--EXPECT--
exit 0: Adopted 2 mails of email_queues: 2 pending.
Left: row 2: its column for to holds no list of addresses
Left: row 3: its column for to holds no list of addresses
Left: row 4: its column for to holds no list of addresses
Left: row 5: its column for to holds no list of addresses
Left: row 6: its column for to holds no list of addresses
Backup: %/mail.db-before-adopt-%
The old table is email_queues_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
1 z@example.org y@example.org
7 z@example.org y@example.org
exit 0: Adopted 6 mails of mail_queue: 5 pending, 1 parked.
1 of them have expired: the first run deletes them.
Backup: %/mail.db-before-adopt-%
The old table is mail_queue_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
never never then then never never
