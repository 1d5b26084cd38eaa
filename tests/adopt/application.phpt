--TEST--
mailqueue adopt: own columns, foreign keys, indexes, triggers and views of the application; --drop-them, --undo
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/adopt.inc';

const APPLICATION = "CREATE TABLE registrations (number TEXT PRIMARY KEY, name TEXT);
    INSERT INTO registrations VALUES ('R1', 'Ann'), ('R2', 'Ben');
    CREATE TABLE mail_queue (job INTEGER PRIMARY KEY AUTOINCREMENT, registration_number TEXT COLLATE NOCASE NOT NULL
        REFERENCES registrations(number) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
        mail_type TEXT NOT NULL, status TEXT NOT NULL CHECK (status <> ''), attempts INTEGER, next_attempt_at TEXT,
        locked_until TEXT, last_error TEXT, note TEXT DEFAULT 'it''s, (so)' CHECK (length(note) < 20),
        subject TEXT NOT NULL, lang TEXT NOT NULL DEFAULT 'de', stamp TEXT DEFAULT CURRENT_TIMESTAMP, `odd ``name` BLOB,
        size INTEGER GENERATED ALWAYS AS (length(subject)) VIRTUAL, parent INTEGER REFERENCES mail_queue(job));
    INSERT INTO mail_queue (job, registration_number, mail_type, status, attempts, next_attempt_at, note, subject, `odd ``name`, parent) VALUES
        (7, 'R1', 'user', 'pending', 0, '2026-01-15T07:00:00Z', 'n', 'Hello', x'00ff', NULL),
        (9, 'R2', 'user', 'failed', 1, '2026-01-15 09:00:00+02:00', 'm', 'Hi', NULL, 7);
    INSERT INTO mail_queue (job, registration_number, mail_type, status, subject) VALUES (40, 'R1', 'gone', 'pending', '');
    DELETE FROM mail_queue WHERE job = 40;
    CREATE TABLE audit (job INTEGER REFERENCES mail_queue(job) ON DELETE CASCADE, what TEXT);
    INSERT INTO audit VALUES (7, 'queued');
    CREATE INDEX by_subject ON mail_queue(subject);
    CREATE UNIQUE INDEX \"the pair\" ON mail_queue(registration_number, mail_type);
    CREATE INDEX mail_queue_due ON mail_queue(status, next_attempt_at);
    CREATE VIEW waiting AS SELECT job, subject FROM mail_queue WHERE status = 'pending';
    CREATE TRIGGER noted AFTER UPDATE OF status ON mail_queue BEGIN
        INSERT INTO audit VALUES (NEW.job, 'now ' || NEW.status || '?'); END;
    CREATE TRIGGER gone AFTER DELETE ON mail_queue BEGIN INSERT INTO audit VALUES (NULL, 'gone'); END;
    CREATE TRIGGER left_out AFTER INSERT ON registrations BEGIN
        UPDATE mail_queue SET note = 'new' WHERE registration_number = NEW.number; END;";

$pdo = old(APPLICATION);
$before = dump($pdo);
echo said(adopt($pdo, '--drop-them'));
foreach ($pdo->query('SELECT id, job, next_attempt_at, note, subject, lang, size, hex(`odd ``name`), typeof(`odd ``name`), parent FROM mail_queue', PDO::FETCH_NUM) as $row) {
    echo implode(' ', $row), "\n";
}
echo 'keys: ', implode('; ', column($pdo, "SELECT \"from\" || '>' || \"table\" || '.' || \"to\" || ' ' || on_delete
    FROM pragma_foreign_key_list('mail_queue') ORDER BY 1")), "\n";
echo 'deferred: ', column($pdo, "SELECT sql LIKE '%DEFERRABLE INITIALLY DEFERRED%' FROM sqlite_master WHERE name = 'mail_queue'")[0], "\n";
echo implode(' ', column($pdo, "SELECT name FROM sqlite_master WHERE type IN ('index', 'trigger', 'view') AND sql IS NOT NULL ORDER BY name")), "\n";
echo 'nothing fired: ', implode(', ', column($pdo, 'SELECT what FROM audit')), "\n";
$pdo->exec('PRAGMA foreign_keys = ON');
echo 'violated: ', count(column($pdo, 'PRAGMA foreign_key_check')), "\n";
echo 'view: ', implode(', ', column($pdo, 'SELECT subject FROM waiting')), "\n";
echo said(adopt($pdo, '--undo'));
echo dump($pdo) === $before ? "as it was\n" : "CHANGED\n$before\n" . dump($pdo) . "\n";
echo said(adopt($pdo, '--json', '--drop-them')) === '' ? '' : "adopted again\n";

$pdo->exec("UPDATE mail_queue SET status = 'parked' WHERE id = 9");
echo 'trigger: ', column($pdo, 'SELECT what FROM audit WHERE job = 9')[0], "\n";
$pdo->exec("INSERT INTO registrations VALUES ('R3', 'Cyd')");
$queue = new MailQueue($pdo, referenceColumn: 'registration_number');
var_dump($queue->enqueue(mail_fields(), reference: 'R3') > 40, $queue->enqueue(mail_fields(), reference: 'R3'));
echo implode(' ', column($pdo, "SELECT lang || ' ' || note || ' ' || length(stamp) FROM mail_queue WHERE registration_number = 'R3'")), "\n";
$pdo->exec("UPDATE mail_queue SET parent = NULL; DELETE FROM registrations WHERE number = 'R1'");
echo 'cascaded: ', implode(', ', column($pdo, 'SELECT id FROM mail_queue WHERE id = 7 UNION SELECT job FROM audit WHERE job = 7')), "\n";

echo "-- what does not work with the new table\n";
$pdo = old("CREATE TABLE mail_queue (registration_number, mail_type, status, a, b, FOREIGN KEY (a, b) REFERENCES pairs (a, b));
    CREATE TABLE pairs (a, b, PRIMARY KEY (a, b)); CREATE TABLE log (x);
    INSERT INTO mail_queue VALUES ('R', 'm', 'pending', NULL, NULL);
    CREATE VIEW every AS SELECT rowid AS n, _rowid_ AS m FROM mail_queue");
$before = dump($pdo);
echo said(adopt($pdo));
echo said(adopt($pdo, '--drop-them')), said(adopt($pdo, '--undo'));
echo dump($pdo) === $before ? "as it was\n" : "CHANGED\n";
$pdo = old("CREATE TABLE email_queues (id INTEGER PRIMARY KEY, `to` TEXT, mail_body TEXT, status TEXT);
    CREATE TABLE seen (x); CREATE VIEW open AS SELECT mail_body FROM email_queues;
    CREATE TRIGGER opens INSTEAD OF DELETE ON open BEGIN INSERT INTO seen VALUES (1); END;
    CREATE VIEW broken AS SELECT x FROM nowhere; CREATE TRIGGER breaks INSTEAD OF DELETE ON broken BEGIN SELECT 1; END;
    CREATE TRIGGER sees AFTER DELETE ON email_queues BEGIN INSERT INTO seen VALUES (OLD.id); END;
    INSERT INTO email_queues VALUES (4, 'a@example.org', 'Subject: s' || char(10) || 'From: b@example.org' || char(10) || char(10) || 'text', 'pending')");
$before = dump($pdo, 'email_queues');
echo said(adopt($pdo));
echo dump($pdo, 'email_queues') === $before ? "as it was\n" : "CHANGED\n";
echo said(adopt($pdo, '--drop-them')), said(adopt($pdo, '--undo'));
echo dump($pdo, 'email_queues') === $before ? "as it was\n" : "CHANGED\n$before\n" . dump($pdo, 'email_queues') . "\n";
$pdo = old("CREATE TABLE mail_queue (registration_number TEXT PRIMARY KEY, mail_type, status);
    CREATE TABLE child (n TEXT REFERENCES mail_queue(registration_number));
    INSERT INTO mail_queue VALUES ('A', 'm', 'pending'); INSERT INTO child VALUES ('A'), ('Z')");
echo said(adopt($pdo));
echo 'violated, as before: ', count(column($pdo, 'PRAGMA foreign_key_check')), "\n";
$pdo = old("CREATE TABLE mail_queue (registration_number, mail_type, status, rowid TEXT);
    INSERT INTO mail_queue VALUES ('A', 'm', 'pending', 'mine')");
adopt($pdo);
echo implode(' ', column($pdo, "SELECT id FROM mail_queue WHERE `rowid` = 'mine'")), "\n";
$pdo = old("CREATE TABLE mail_queue (id INT PRIMARY KEY, registration_number, mail_type, status);
    INSERT INTO mail_queue VALUES (12, 'A', 'm', 'pending')");
adopt($pdo);
echo implode(' ', column($pdo, 'SELECT id FROM mail_queue')), "\n";
?>
--EXPECT--
exit 0: Adopted 2 mails of mail_queue: 1 failed, 1 pending.
Your own columns go with them: job, note, lang, stamp, odd `name, size, parent.
Dropped, or left with the old table: index mail_queue_due, trigger left_out of registrations.
The worker's own connection does not enforce the foreign keys of audit: rows there stay when a mail is deleted.
Backup: %/mail.db-before-adopt-%
The old table is mail_queue_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
7 7 1768460400 n Hello de 5 00FF blob 
9 9 1768460400 m Hi de 2  null 7
keys: parent>mail_queue.job NO ACTION; registration_number>registrations.number CASCADE
deferred: 1
by_subject gone mail_log_at mail_log_id mail_queue_due mail_queue_expiry mail_queue_for_job mail_queue_key mail_queue_lease mail_queue_live mail_queue_parked mail_queue_rest mail_queue_w noted the pair waiting
nothing fired: queued
violated: 0
view: Hello
exit 0: Table mail_queue is as it was.
as it was
adopted again
trigger: now parked?
bool(true)
NULL
de it's, (so) 19
cascaded: 
-- what does not work with the new table
exit 78: mailqueue: These refer to table mail_queue: foreign key ("a", "b") REFERENCES "pairs"("a", "b") ON UPDATE NO ACTION ON DELETE NO ACTION. With --drop-them views, foreign keys, and rules and triggers of other tables are dropped (--undo creates them again); the others stay with the old table. Nothing was changed.
exit 0: Adopted 1 mail of mail_queue: 1 pending.
Your own columns go with them: a, b.
Dropped, or left with the old table: foreign key ("a", "b") REFERENCES "pairs"("a", "b") ON UPDATE NO ACTION ON DELETE NO ACTION.
Backup: %/mail.db-before-adopt-%
The old table is mail_queue_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
exit 0: Table mail_queue is as it was.
as it was
exit 78: mailqueue: These do not work with the queue's table: trigger sees, view open, trigger opens. With --drop-them they are dropped (--undo creates them again). Nothing was changed.
as it was
exit 0: Adopted 1 mail of email_queues: 1 pending.
Dropped, or left with the old table: trigger sees, view open, trigger opens.
Backup: %/mail.db-before-adopt-%
The old table is email_queues_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
exit 0: Table email_queues is as it was.
as it was
exit 0: Adopted 1 mail of mail_queue: 1 pending.
The worker's own connection does not enforce the foreign keys of child: rows there stay when a mail is deleted.
Backup: %/mail.db-before-adopt-%
The old table is mail_queue_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
violated, as before: 1
1
12
