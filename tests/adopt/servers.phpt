--TEST--
mailqueue adopt: a mail_queue on PostgreSQL and MariaDB; ended in the middle it goes on, or back
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

    echo "-- $name: ended in the middle\n";
    $rename = static function () use ($pdo, $name): void {
        $pdo->exec('ALTER TABLE mail_queue RENAME TO mail_queue_before');
        $name === 'mysql' || $pdo->exec('ALTER INDEX mail_queue_due RENAME TO mail_queue_before_due');
        $name === 'mysql' || $pdo->exec('ALTER INDEX mail_queue_pkey RENAME TO mail_queue_before_pkey');
    };
    $rename();
    echo said(adopt($backend->dsn, '--undo'));
    $rename();
    $backend->queue(referenceColumn: 'registration_number')->enqueue(mail_fields(), reference: 'new');
    echo substr(said(adopt($backend->dsn, '--undo')), 0, 60), "\n";
    echo said(adopt($backend->dsn));
    echo '  ', implode(' ', column($pdo, "SELECT registration_number FROM mail_queue ORDER BY id")), "\n";
    $queue = $backend->queue(referenceColumn: 'registration_number');
    echo '  ', $queue->job((int) column($pdo, "SELECT id FROM mail_queue WHERE registration_number = 'new'")[0])->message === null ? 'no body' : 'its body', "\n";
    echo $queue->enqueue(mail_fields()) > 9 ? '' : "an id again\n";
    echo $queue->enqueue(mail_fields(), reference: 'R1', type: 'user') === null ? '' : "twice\n";
    echo substr(said(adopt($backend->dsn, '--undo')), 0, 60), "\n";

    echo "-- $name: what names the table\n";
    $backend = $backend->another();
    $pdo = $backend->pdo();
    $old($pdo, true);
    $pdo->exec('CREATE TABLE audit (job INTEGER, CONSTRAINT audits FOREIGN KEY (job) REFERENCES mail_queue (id))');
    $pdo->exec('INSERT INTO audit VALUES (7)');
    $pdo->exec("CREATE VIEW waiting AS SELECT registration_number FROM mail_queue WHERE status = 'pending'");
    echo said(adopt($backend->dsn));
    echo said(adopt($backend->dsn, '--drop-them'));
    echo said(adopt($backend->dsn, '--undo'));
    echo '  ', implode(' ', column($pdo, 'SELECT registration_number FROM waiting')), "\n";
    echo '  ', preg_match('/audits|foreign key/i', thrown(fn() => $pdo->exec('INSERT INTO audit VALUES (8)'))) ? 'the key is there again' : 'no key', "\n";

    echo "-- $name: without an id\n";
    $backend = $backend->another();
    $pdo = $backend->pdo();
    $old($pdo, false);
    [$code, , $errors] = adopt($backend->dsn);
    echo "  $code $errors";
    $rows($pdo);
}
?>
--EXPECT--
-- pgsql
ign_id, fields. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
exit 0: Would adopt 3 mails of mail_queue: 1 pending, 1 parked, 1 sending.
Your own columns go with them: lang, data, flag.
Nothing was changed.
  R1 R2 R3
exit 0: Adopted 3 mails of mail_queue: 1 pending, 1 parked, 1 sending.
Your own columns go with them: lang, data, flag.
The old table is mail_queue_before. Back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
  1 R1 pending 0 1768460400 - - en x 1
  7 R2 parked 2 2051222400 - exhausted de - 0
  9 R3 sending 1 1768460400 1768461000 - de y -
  mail_queue_due mail_queue_expiry mail_queue_key mail_queue_lease mail_queue_parked mail_queue_pkey mail_queue_rest
exit 78: mailqueue: There is nothing to adopt: mail_queue, email_queues or mail_outbox is not there, or is the queue's already.
exit 0: Table mail_queue is as it was.
  mail_queue_due mail_queue_pkey
  R1 R2
-- pgsql: ended in the middle
exit 0: Table mail_queue is as it was.
exit 78: mailqueue: Mail was stored, sent or tried since: wh
exit 0: Adopted 3 mails of mail_queue: 1 pending, 1 parked, 1 sending.
Your own columns go with them: lang, data, flag.
The old table is mail_queue_before. Back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
  R1 R2 R3 new
  its body
exit 78: mailqueue: Mail was stored, sent or tried since: wh
-- pgsql: what names the table
exit 78: mailqueue: Table mail_queue is named by: view waiting, foreign key audits of audit. With --drop-them views and foreign keys of other tables are dropped (--undo makes them again), the others stay with the old table. Nothing was changed.
exit 0: Adopted 3 mails of mail_queue: 1 pending, 1 parked, 1 sending.
Your own columns go with them: lang, data, flag.
Dropped, or left with the old table: view waiting, foreign key audits of audit.
The old table is mail_queue_before. Back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
exit 0: Table mail_queue is as it was.
  R1
  the key is there again
-- pgsql: without an id
  0   2 R1 pending 0 1768460400 - - en x 1
  3 R3 sending 1 1768460400 1768461000 - de y -
  4 R2 parked 2 2051222400 - exhausted de - 0
-- mysql
ign_id, fields. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
exit 0: Would adopt 3 mails of mail_queue: 1 pending, 1 parked, 1 sending.
Your own columns go with them: lang, data, flag.
Nothing was changed.
  R1 R2 R3
exit 0: Adopted 3 mails of mail_queue: 1 pending, 1 parked, 1 sending.
Your own columns go with them: lang, data, flag.
The old table is mail_queue_before. Back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
  1 R1 pending 0 1768460400 - - en x 1
  7 R2 parked 2 2051222400 - exhausted de - 0
  9 R3 sending 1 1768460400 1768461000 - de y -
  mail_queue_due mail_queue_expiry mail_queue_key mail_queue_lease mail_queue_state PRIMARY
exit 78: mailqueue: There is nothing to adopt: mail_queue, email_queues or mail_outbox is not there, or is the queue's already.
exit 0: Table mail_queue is as it was.
  mail_queue_due PRIMARY
  R1 R2
-- mysql: ended in the middle
exit 0: Table mail_queue is as it was.
exit 78: mailqueue: Mail was stored, sent or tried since: wh
exit 0: Adopted 3 mails of mail_queue: 1 pending, 1 parked, 1 sending.
Your own columns go with them: lang, data, flag.
The old table is mail_queue_before. Back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
  R1 R2 R3 new
  its body
exit 78: mailqueue: Mail was stored, sent or tried since: wh
-- mysql: what names the table
exit 78: mailqueue: Table mail_queue is named by: view waiting, foreign key audits of audit. With --drop-them views and foreign keys of other tables are dropped (--undo makes them again), the others stay with the old table. Nothing was changed.
exit 0: Adopted 3 mails of mail_queue: 1 pending, 1 parked, 1 sending.
Your own columns go with them: lang, data, flag.
Dropped, or left with the old table: view waiting, foreign key audits of audit.
The old table is mail_queue_before. Back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
exit 0: Table mail_queue is as it was.
  R1
  the key is there again
-- mysql: without an id
  0   1 R1 pending 0 1768460400 - - en x 1
  2 R3 sending 1 1768460400 1768461000 - de y -
  3 R2 parked 2 2051222400 - exhausted de - 0
