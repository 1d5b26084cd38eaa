--TEST--
mailqueue adopt: a mail_queue on PostgreSQL and MariaDB, the objects that refer to it, and --undo; another program's ..._before is left alone
--EXTENSIONS--
mailqueue
pdo_pgsql
pdo_mysql
--SKIPIF--
<?php
require __DIR__ . '/../lib/pgsql.inc';
require __DIR__ . '/../lib/mariadb.inc';
die(MailQueueTest\PostgreSQL::missing() ?: MailQueueTest\MariaDB::missing());
?>
--FILE--
<?php
require __DIR__ . '/adopt.inc';
require __DIR__ . '/../lib/backends.inc';

$old = static function (PDO $pdo, bool $hasId): void {
    $isMysql = $pdo->getAttribute(PDO::ATTR_DRIVER_NAME) === 'mysql';
    $id = $hasId ? 'id INTEGER PRIMARY KEY,' : '';
    $key = $hasId ? '' : ', PRIMARY KEY (registration_number, mail_type)';
    $engine = $isMysql ? ' ENGINE=InnoDB CHARACTER SET latin1' : '';
    [$data, $flag] = $isMysql ? ['BLOB', 'BOOLEAN'] : ['BYTEA', 'BOOLEAN'];
    $pdo->exec("CREATE TABLE mail_queue ($id registration_number VARCHAR(20) NOT NULL, mail_type VARCHAR(20) NOT NULL,
        status VARCHAR(20) NOT NULL, attempts INTEGER, next_attempt_at TIMESTAMP NULL, locked_until TIMESTAMP NULL,
        lang VARCHAR(5) DEFAULT 'de' NOT NULL, data $data, flag $flag$key)$engine");
    $pdo->exec('CREATE INDEX mail_queue_due ON mail_queue (status)');
    $ids = $hasId ? [1, 7, 9] : ['', '', ''];
    foreach ([["'R1', 'user', 'pending', 0, '2026-01-15 07:00:00', NULL, 'en', 'x', TRUE"],
        ["'R2', 'user', 'failed', 2, '2035-01-01 00:00:00', NULL, 'de', NULL, FALSE"],
        ["'R3', 'user', 'sending', 1, '2026-01-15 07:00:00', '2026-01-15 07:10:00', 'de', 'y', NULL"]] as $i => [$row]) {
        $pdo->exec('INSERT INTO mail_queue VALUES (' . ($hasId ? "$ids[$i], " : '') . "$row)");
    }
};
$rows = static function (PDO $pdo): void {
    $sql = 'SELECT id, registration_number AS r, status, attempts, next_attempt_at AS n, locked_until AS l, parked_for AS p, lang, data, flag FROM mail_queue ORDER BY id';
    foreach ($pdo->query($sql, PDO::FETCH_ASSOC) as $row) {
        $data = is_resource($row['data']) ? stream_get_contents($row['data']) : $row['data'];
        $data = $data === null || ctype_print((string) $data) ? $data : bin2hex($data);
        echo "  $row[id] $row[r] $row[status] $row[attempts] $row[n] ", $row['l'] ?? '-', ' ', $row['p'] ?? '-', " $row[lang] ", $data ?? '-', ' ', $row['flag'] === null ? '-' : (int) $row['flag'], "\n";
    }
};
foreach (['pgsql', 'mysql'] as $name) {
    echo "-- $name\n";
    $backend = new Backend($name);
    $pdo = $backend->pdo();
    $old($pdo, true);
    echo substr(thrown(fn() => $backend->queue(referenceColumn: 'registration_number')), -117), "\n";
    echo said(adopt($backend->dsn, '--dry-run'));
    echo '  ', implode(' ', column($pdo, 'SELECT registration_number FROM mail_queue ORDER BY 1')), "\n";
    echo said(adopt($backend->dsn));
    $rows($pdo);
    $indexes = $name === 'pgsql' ? "SELECT indexname FROM pg_indexes WHERE tablename = 'mail_queue' AND schemaname = current_schema() ORDER BY 1"
        : "SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_name = 'mail_queue' AND table_schema = DATABASE() ORDER BY 1";
    echo '  ', implode(' ', column($pdo, $indexes)), "\n";
    echo said(adopt($backend->dsn));
    echo said(adopt($backend->dsn, '--undo'));
    echo '  ', implode(' ', column($pdo, $indexes)), "\n";
    echo '  ', implode(' ', column($pdo, 'SELECT registration_number FROM mail_queue WHERE locked_until IS NULL ORDER BY 1')), "\n";

    $tables = $name === 'pgsql' ? "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'S') ORDER BY 1"
        : 'SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1';
    echo '  ', implode(' ', column($pdo, $tables)), "\n";

    echo "-- $name: what is somebody else's\n";
    $pdo->exec('CREATE TABLE mail_queue_before (x INTEGER)');
    $pdo->exec('INSERT INTO mail_queue_before VALUES (5)');
    foreach ([['--undo'], []] as $words) {
        echo said(adopt($backend->dsn, ...$words));
    }
    $pdo->exec('ALTER TABLE mail_queue RENAME TO elsewhere');
    echo said(adopt($backend->dsn));
    echo '  ', implode(' ', column($pdo, 'SELECT x FROM mail_queue_before')), ' ', implode(' ', column($pdo, $tables)), "\n";
    $pdo->exec('DROP TABLE mail_queue_before');
    $pdo->exec('CREATE VIEW mail_queue AS SELECT registration_number, mail_type, status FROM elsewhere');
    echo said(adopt($backend->dsn));
    $pdo->exec('DROP VIEW mail_queue');
    $pdo->exec('ALTER TABLE elsewhere RENAME TO mail_queue');
    $pdo->exec('CREATE TABLE config (' . ($name === 'mysql' ? '`key`' : 'key') . ' VARCHAR(190) PRIMARY KEY, value TEXT)');

    echo "-- $name: mail that is stored, or changed, since\n";
    echo substr(said(adopt($backend->dsn)), 0, 20), "\n";
    foreach (['priority = 3', "recipients = '[\"z@example.net\"]'", "lang = 'fr'", 'attempts = 9'] as $change) {
        $pdo->beginTransaction();
        $was = $pdo->query('SELECT * FROM mail_queue WHERE id = 1')->fetch(PDO::FETCH_ASSOC);
        $pdo->exec("UPDATE mail_queue SET $change WHERE id = 1");
        $pdo->commit();
        echo '  ', $change, ': ', substr(said(adopt($backend->dsn, '--undo')), 0, 60), "\n";
        $column = strtok($change, ' ');
        $pdo->prepare("UPDATE mail_queue SET $column = ? WHERE id = 1")->execute([$was[$column]]);
    }
    $queue = $backend->queue(referenceColumn: 'registration_number');
    $id = $queue->enqueue(mail_fields(), reference: 'new');
    echo $id > 9 ? '' : "an id again\n";
    echo substr(said(adopt($backend->dsn, '--undo')), 0, 60), "\n";
    $queue->delete([$id]);
    unset($queue);
    echo said(adopt($backend->dsn, '--undo'));
    echo '  ', implode(' ', column($pdo, $tables)), ' ', count(column($pdo, 'SELECT value FROM config')), "\n";

    echo "-- $name: what names the table\n";
    $backend = $backend->another();
    $pdo = $backend->pdo();
    $old($pdo, true);
    $pdo->exec('CREATE TABLE audit (job INTEGER, CONSTRAINT audits FOREIGN KEY (job) REFERENCES mail_queue (id))');
    $pdo->exec('INSERT INTO audit VALUES (7)');
    $pdo->exec("CREATE VIEW waiting AS SELECT registration_number, status FROM mail_queue WHERE status = 'pending'");
    $pdo->exec('CREATE VIEW above AS SELECT registration_number FROM waiting');
    $pdo->exec('CREATE TABLE people (n VARCHAR(20) PRIMARY KEY)');
    $pdo->exec("INSERT INTO people VALUES ('R1'), ('R2'), ('R3')");
    $name === 'mysql' && $pdo->exec('ALTER TABLE people CONVERT TO CHARACTER SET latin1');
    $pdo->exec('ALTER TABLE mail_queue ADD CONSTRAINT persons FOREIGN KEY (registration_number) REFERENCES people (n)');
    $name === 'pgsql' && $pdo->exec("ALTER TABLE mail_queue ADD COLUMN shout TEXT COLLATE \"C\" GENERATED ALWAYS AS (upper(lang)) STORED");
    $name === 'mysql' && $pdo->exec("ALTER TABLE mail_queue ADD COLUMN shout TEXT AS (upper(lang)) VIRTUAL");
    $pdo->exec('ALTER TABLE mail_queue ADD COLUMN big NUMERIC(30,10) DEFAULT 1.5 NOT NULL');
    echo said(adopt($backend->dsn));
    echo '  ', implode(' ', column($pdo, $tables)), "\n";
    echo said(adopt($backend->dsn, '--drop-them'));
    $pdo->exec("DELETE FROM people WHERE n = 'R3'"); // although the old table still exists
    $pdo->exec("INSERT INTO people VALUES ('R3')");
    echo '  ', implode(' ', column($pdo, 'SELECT concat(shout, big) FROM mail_queue ORDER BY id')), "\n";
    $pdo->exec("UPDATE mail_queue SET lang = 'fr' WHERE id = 1");
    echo '  ', implode(' ', column($pdo, 'SELECT shout FROM mail_queue WHERE id = 1')), "\n";
    $pdo->exec("UPDATE mail_queue SET lang = 'en' WHERE id = 1");
    echo said(adopt($backend->dsn, '--undo'));
    echo '  ', implode(' ', column($pdo, 'SELECT registration_number FROM above')), "\n";
    echo '  ', preg_match('/persons|foreign key/i', thrown(fn() => $pdo->exec("DELETE FROM people WHERE n = 'R3'"))) ? 'its own, too' : 'no key', "\n";
    echo '  ', preg_match('/audits|foreign key/i', thrown(fn() => $pdo->exec('INSERT INTO audit VALUES (8)'))) ? 'the key is there again' : 'no key', "\n";

    echo "-- $name: without an id\n";
    $backend = $backend->another();
    $pdo = $backend->pdo();
    $old($pdo, false);
    $pdo->exec("UPDATE mail_queue SET data = '" . ($name === 'pgsql' ? '\\x00ff27' : "\\0\xff''") . "'");
    [$code, , $errors] = adopt($backend->dsn);
    echo "  $code $errors";
    $rows($pdo);
    $pdo->exec('DROP TABLE IF EXISTS mail_queue_before, mail_queue, mail_body, mail_spent, mail_window, mail_count, mail_log, mail_suppression, mail_campaign, mail_recipient, mail_bounce, config');
    $pdo->exec('CREATE TABLE mail_queue (registration_number VARCHAR(20), mail_type VARCHAR(20), status VARCHAR(20), lang VARCHAR(5))');
    $pdo->exec("INSERT INTO mail_queue VALUES ('', 'm', 'pending', 'de'), ('R1', 'm', 'pending', 'de')" . ($name === 'mysql' ? '' : ", ('', 'm', 'pending', 'fr')"));
    $said = said(adopt($backend->dsn));
    echo $said;
    $name === 'pgsql' && print(implode(' ', column($pdo, 'SELECT lang FROM mail_queue ORDER BY id')) . "\n");
}
?>
--EXPECT--
-- pgsql
, recipient_id. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
exit 0: Would adopt 3 mails of mail_queue: 1 pending, 1 parked, 1 sending.
Your own columns go with them: lang, data, flag.
Nothing was changed.
  R1 R2 R3
exit 0: Adopted 3 mails of mail_queue: 1 pending, 1 parked, 1 sending.
Your own columns go with them: lang, data, flag.
The old table is mail_queue_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
  1 R1 pending 0 1768460400 - - en x 1
  7 R2 parked 2 2051222400 - exhausted de - 0
  9 R3 sending 1 1768460400 1768461000 - de y -
  mail_queue_due mail_queue_expiry mail_queue_key mail_queue_lease mail_queue_live mail_queue_parked mail_queue_pkey mail_queue_rest
exit 78: mailqueue: There is nothing to adopt: mail_queue, email_queues or mail_outbox does not exist, or is already the queue's.
exit 0: Table mail_queue is as it was.
  mail_queue_due mail_queue_pkey
  R1 R2
  mail_queue
-- pgsql: what is somebody else's
exit 78: mailqueue: There is nothing to undo: no adoption is recorded here.
exit 78: mailqueue: Table mail_queue_before already exists, and mail_queue would get that name: rename or drop it. Nothing was changed.
exit 78: mailqueue: There is nothing to adopt: mail_queue, email_queues or mail_outbox does not exist, or is already the queue's.
  5 elsewhere mail_queue_before
exit 78: mailqueue: There is nothing to adopt: mail_queue is a view. Only a table can be adopted.
-- pgsql: mail that is stored, or changed, since
exit 0: Adopted 3 ma
  priority = 3: exit 78: mailqueue: Mail was stored, sent or tried since: wh
  recipients = '["z@example.net"]': exit 78: mailqueue: Mail was stored, sent or tried since: wh
  lang = 'fr': exit 78: mailqueue: Mail was stored, sent or tried since: wh
  attempts = 9: exit 78: mailqueue: Mail was stored, sent or tried since: wh
exit 78: mailqueue: Mail was stored, sent or tried since: wh
exit 0: Table mail_queue is as it was.
  config mail_queue 0
-- pgsql: what names the table
exit 78: mailqueue: These refer to table mail_queue: view above, view waiting, foreign key audits of audit, foreign key persons of mail_queue. With --drop-them views, foreign keys, and rules and triggers of other tables are dropped (--undo creates them again); the others stay with the old table. Nothing was changed.
  audit mail_queue people
exit 0: Adopted 3 mails of mail_queue: 1 pending, 1 parked, 1 sending.
Your own columns go with them: lang, data, flag, shout, big.
Dropped, or left with the old table: view above, view waiting, foreign key audits of audit, foreign key persons of mail_queue.
The old table is mail_queue_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
  EN1.5000000000 DE1.5000000000 DE1.5000000000
  FR
exit 0: Table mail_queue is as it was.
  R1
  its own, too
  the key is there again
-- pgsql: without an id
  0   2 R1 pending 0 1768460400 - - en 00ff27 1
  3 R3 sending 1 1768460400 1768461000 - de 00ff27 -
  4 R2 parked 2 2051222400 - exhausted de 00ff27 0
exit 0: Adopted 3 mails of mail_queue: 3 pending.
Your own columns go with them: lang.
The old table is mail_queue_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
de de fr
-- mysql
, recipient_id. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
exit 0: Would adopt 3 mails of mail_queue: 1 pending, 1 parked, 1 sending.
Your own columns go with them: lang, data, flag.
Nothing was changed.
  R1 R2 R3
exit 0: Adopted 3 mails of mail_queue: 1 pending, 1 parked, 1 sending.
Your own columns go with them: lang, data, flag.
The old table is mail_queue_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
  1 R1 pending 0 1768460400 - - en x 1
  7 R2 parked 2 2051222400 - exhausted de - 0
  9 R3 sending 1 1768460400 1768461000 - de y -
  mail_queue_due mail_queue_expiry mail_queue_key mail_queue_lease mail_queue_live mail_queue_state PRIMARY
exit 78: mailqueue: There is nothing to adopt: mail_queue, email_queues or mail_outbox does not exist, or is already the queue's.
exit 0: Table mail_queue is as it was.
  mail_queue_due PRIMARY
  R1 R2
  mail_queue
-- mysql: what is somebody else's
exit 78: mailqueue: There is nothing to undo: no adoption is recorded here.
exit 78: mailqueue: Table mail_queue_before already exists, and mail_queue would get that name: rename or drop it. Nothing was changed.
exit 78: mailqueue: There is nothing to adopt: mail_queue, email_queues or mail_outbox does not exist, or is already the queue's.
  5 elsewhere mail_queue_before
exit 78: mailqueue: There is nothing to adopt: mail_queue is a view. Only a table can be adopted.
-- mysql: mail that is stored, or changed, since
exit 0: Adopted 3 ma
  priority = 3: exit 78: mailqueue: Mail was stored, sent or tried since: wh
  recipients = '["z@example.net"]': exit 78: mailqueue: Mail was stored, sent or tried since: wh
  lang = 'fr': exit 78: mailqueue: Mail was stored, sent or tried since: wh
  attempts = 9: exit 78: mailqueue: Mail was stored, sent or tried since: wh
exit 78: mailqueue: Mail was stored, sent or tried since: wh
exit 0: Table mail_queue is as it was.
  config mail_queue 0
-- mysql: what names the table
exit 78: mailqueue: These refer to table mail_queue: view above, view waiting, foreign key audits of audit, foreign key persons of mail_queue. With --drop-them views, foreign keys, and rules and triggers of other tables are dropped (--undo creates them again); the others stay with the old table. Nothing was changed.
  above audit mail_queue people waiting
exit 0: Adopted 3 mails of mail_queue: 1 pending, 1 parked, 1 sending.
Your own columns go with them: lang, data, flag, shout, big.
Dropped, or left with the old table: view above, view waiting, foreign key audits of audit, foreign key persons of mail_queue.
The old table is mail_queue_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
  EN1.5000000000 DE1.5000000000 DE1.5000000000
  FR
exit 0: Table mail_queue is as it was.
  R1
  its own, too
  the key is there again
-- mysql: without an id
  0   1000 R1 pending 0 1768460400 - - en 00ff27 1
  1001 R3 sending 1 1768460400 1768461000 - de 00ff27 -
  1002 R2 parked 2 2051222400 - exhausted de 00ff27 0
exit 78: mailqueue: Table mail_queue cannot be adopted with columns of its own, as it has rows without any key: give it a primary key. Nothing was changed.
