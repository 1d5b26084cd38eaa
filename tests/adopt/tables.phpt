--TEST--
mailqueue adopt: tables without an id, with other keys, with CHECKs, times as text; the new table is the queue's own and works; --undo
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/adopt.inc';

const COLUMNS = "mail_type TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'pending', attempts INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER NOT NULL, locked_until INTEGER, last_error TEXT";
const TEXT_COLUMNS = 'mail_type TEXT NOT NULL, status TEXT NOT NULL, attempts INTEGER NOT NULL,
    next_attempt_at DATETIME NOT NULL, locked_until DATETIME, last_error TEXT';
$fixtures = [
    'columns missing' => ['CREATE TABLE mail_queue (id INTEGER PRIMARY KEY AUTOINCREMENT, registration_number TEXT, ' . COLUMNS . ')', false],
    'no AUTOINCREMENT' => ['CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, registration_number TEXT, ' . COLUMNS . ')', false],
    'no id' => ['CREATE TABLE mail_queue (registration_number TEXT, ' . COLUMNS . ')', false],
    'a pair as primary key' => ['CREATE TABLE mail_queue (registration_number TEXT, ' . COLUMNS
        . ', PRIMARY KEY (registration_number, mail_type))', false],
    'no rowid' => ['CREATE TABLE mail_queue (registration_number TEXT, ' . COLUMNS
        . ', PRIMARY KEY (registration_number, mail_type)) WITHOUT ROWID', false],
    'a NOT NULL reference' => ['CREATE TABLE mail_queue (id INTEGER PRIMARY KEY AUTOINCREMENT, registration_number VARCHAR(20) NOT NULL, '
        . COLUMNS . ', UNIQUE (registration_number, mail_type))', false],
    'CHECK on status and type' => ["CREATE TABLE mail_queue (id INTEGER PRIMARY KEY AUTOINCREMENT, registration_number TEXT,
        mail_type TEXT NOT NULL CHECK (mail_type IN ('user','organizer')), status TEXT COLLATE NOCASE CONSTRAINT states
        CHECK (status IN ('pending','sending','failed','parked','held')), attempts INTEGER, next_attempt_at INTEGER,
        locked_until INTEGER, last_error TEXT, CHECK (attempts < 6 AND `status` <> ''), CONSTRAINT t CHECK (mail_type <> ''))", false],
    'times as text' => ['CREATE TABLE mail_queue (id INTEGER PRIMARY KEY AUTOINCREMENT, registration_number TEXT, ' . TEXT_COLUMNS . ')', true],
    'STRICT' => ['CREATE TABLE mail_queue (registration_number TEXT, ' . COLUMNS . ', extra ANY) STRICT', false],
    'all of it' => ["CREATE TABLE \"Mail_Queue\" ( -- ours, since 2019 (see wiki)\n registration_number VARCHAR(20) NOT NULL, /* a, b */
        mail_type TEXT NOT NULL CHECK(mail_type IN ('user','organizer')),\n [status] TEXT NOT NULL DEFAULT 'pending' CHECK (\"status\" <> 'x,('),
        attempts INT DEFAULT 0, next_attempt_at TEXT, locked_until TEXT, last_error TEXT -- of the relay\n
        , PRIMARY KEY (registration_number, mail_type) ON CONFLICT REPLACE)", true],
];
$declared = 'SELECT group_concat(name || type || "notnull" || COALESCE(dflt_value, \'-\') || pk)
    FROM (SELECT * FROM pragma_table_info(\'mail_queue\') WHERE name <> \'extra\' ORDER BY name)';
$indexes = "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name)";
$new = old('');
new MailQueue($new, referenceColumn: 'registration_number');

$past = time() - 3600;
$lease = time() + 2;
$year = time() + 365 * 86400;
$rows = [['R1', 'user', 'pending', 0, $past, null, null], ['R1', 'organizer', 'pending', 0, time() + 7 * 86400, null, null],
    ['R2', 'user', 'sending', 1, $past, $past, null], ['R3', 'user', 'failed', 2, $past, null, '451 later'],
    ['R4', 'user', 'failed', 5, $year, null, '550 no'], ['R5', 'user', 'parked', 5, $past, null, '550 no'],
    ['R6', 'user', 'held', 0, $past, null, null]];
$expected = "R1 organizer pending 0 - - -\nR1 user pending 0 - - -\nR2 user sending 1 $past - -\nR3 user failed 2 - 451 later -\n"
    . "R4 user parked 5 - 550 no exhausted\nR5 user parked 5 - 550 no hold\nR6 user held 0 - - -";

foreach ($fixtures as $name => [$script, $isText]) {
    try {
        $pdo = old($script);
    } catch (PDOException) {
        continue; // STRICT needs SQLite 3.37
    }
    $insert = $pdo->prepare('INSERT INTO mail_queue (registration_number, mail_type, status, attempts, next_attempt_at, locked_until,
        last_error) VALUES (?, ?, ?, ?, ?, ?, ?)');
    foreach ($rows as $row) {
        $row[4] = $isText ? gmdate('Y-m-d H:i:s', $row[4]) : $row[4];
        $row[5] = $isText && $row[5] ? gmdate('Y-m-d H:i:s', $row[5]) : $row[5];
        $insert->execute($row);
    }
    $before = dump($pdo);
    [$code, $output, $errors] = adopt($pdo, '--dry-run');
    must($code === 0 && dump($pdo) === $before && !glob(path($pdo) . '-before-adopt*'), "$name: a dry run changes nothing $errors");
    [$code, $output, $errors] = adopt($pdo);
    must($code === 0, "$name: adopted: $errors");
    $got = implode("\n", column($pdo, "SELECT registration_number || ' ' || mail_type || ' ' || status || ' ' || attempts || ' ' ||
        COALESCE(locked_until, '-') || ' ' || COALESCE(last_error, '-') || ' ' || COALESCE(parked_for, '-')
        FROM mail_queue ORDER BY registration_number, mail_type"));
    echo $got === $expected ? '' : "$name:\n$got\n";
    foreach ([$declared, $indexes] as $sql) {
        echo column($pdo, $sql) === column($new, $sql) ? '' : "$name: " . column($pdo, $sql)[0] . "\n";
    }
    $backup = glob(path($pdo) . '-before-adopt*');
    must(count($backup) === 1 && (fileperms($backup[0]) & 0777) === 0600, "$name: one backup of mode 0600");
    must(dump(new PDO("sqlite:$backup[0]")) === $before, "$name: the backup is as it was");
    must(column($pdo, "SELECT count(DISTINCT message_id) FROM mail_queue WHERE message_id GLOB '<????????????????????????????????@localhost>'") === [7], "$name: message ids");
    must(column($pdo, "SELECT seq >= 7 FROM sqlite_sequence WHERE name = 'mail_queue'") === [1], "$name: ids go on");
    must(column($pdo, 'PRAGMA integrity_check') === ['ok'], "$name: integrity");
    [$code, , $errors] = adopt($pdo);
    must($code === 78 && str_contains($errors, 'nothing to adopt'), "$name: once only");

    [$code, , $errors] = adopt($pdo, '--undo');
    must($code === 0 && dump($pdo) === $before, "$name: undone $errors");
    [$code] = adopt($pdo);
    must($code === 0, "$name: and adopted again");

    $queue = new MailQueue($pdo, referenceColumn: 'registration_number');
    must($queue->recoverStuckSending() === 1, "$name: the lease of the old program is over");
    $recovered = column($pdo, "SELECT status || attempts || uncertain FROM mail_queue WHERE registration_number = 'R2'");
    must($recovered === ['failed11'], "$name: it may have arrived: $recovered[0]");
    must($queue->enqueue(mail_fields(), reference: 'R3', type: 'user') === null, "$name: queued already");
    must($queue->enqueue(mail_fields(), reference: 'R5', type: 'user') > 7, "$name: what is parked is replaced");
    must($queue->enqueue(mail_fields()) > 7, "$name: without a reference");
    must(count($queue->claim(20)) === 4, "$name: due are R1, R3, R5 and the last"); // R2 waits for its next attempt
    [$code, , $errors] = adopt($pdo, '--undo');
    must($code === 78 && str_contains($errors, 'Mail was stored, sent or tried since'), "$name: no way back now");
}
echo "done\n";
?>
--EXPECT--
done
