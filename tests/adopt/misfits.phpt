--TEST--
mailqueue adopt: what does not fit is refused before anything is changed, with the row or the column and a cure; on SQLite, PostgreSQL and MariaDB
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

$why = static fn(array $result): string => preg_replace(["/\A.*?mailqueue: (Table mail_queue cannot become the queue's: )?/s", '/Nothing was changed\.\n\z/'], ['', '…'], said($result));
$tables = static fn(PDO $pdo): string => implode(' ', column($pdo, ['sqlite' => "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1",
    'pgsql' => "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'S') ORDER BY 1",
    'mysql' => 'SHOW TABLES'][$pdo->getAttribute(PDO::ATTR_DRIVER_NAME)]));
/** Columns, values of the second row, and the databases. */
$cases = [
    ['registration_number TEXT', "'" . str_repeat('x', 300) . "'"], ['registration_number TEXT', "'a\nb'"],
    ['id BIGINT', '999999999999999999'], ['id BIGINT', '0'], ['priority BIGINT', '99999999999'], ['attempts BIGINT', '99999999999'],
    ['max_attempts BIGINT', '1000000'], ['paid INTEGER', '1'], ['recipients TEXT', "'a@example.org, b@example.org'"],
    ['recipients TEXT', "'[\"a@example.org\",[\"b@example.org\"]]'"], ['refused TEXT', "'no'"], ['fields TEXT', "'name=x'"],
    ['envelope_from TEXT', "'Me <me@example.org>'"], ['message_id TEXT', "'17'"],
    ['claimable INTEGER', '1', 'mysql'], ['code VARCHAR(9), number INTEGER AS (code) STORED', "'abc'", 'mysql'], ['day DATE AS (DATE(next_attempt_at)) VIRTUAL', '', 'mysql'],
    ['lang obligatory', "'de'", 'pgsql'], ['day DATE GENERATED ALWAYS AS (CAST(next_attempt_at AS DATE)) STORED', '', 'pgsql'],
];
foreach (['sqlite', 'pgsql', 'mysql'] as $name) {
    echo "-- $name\n";
    $backend = new Backend($name);
    $pdo = $backend->pdo();
    $name === 'pgsql' && $pdo->exec('CREATE DOMAIN obligatory AS TEXT NOT NULL');
    $name === 'mysql' && $pdo->exec("SET SESSION sql_mode = ''");
    foreach ($cases as $case) {
        [$column, $value, $only] = [...$case, null];
        if (($only ?? $name) !== $name) {
            continue;
        }
        $columns = ['id' => 'id BIGINT', 'registration_number' => 'registration_number VARCHAR(20)', 'mail_type' => 'mail_type VARCHAR(20)',
            'status' => 'status VARCHAR(20)', 'next_attempt_at' => 'next_attempt_at TIMESTAMP NULL'];
        $key = strtok($column, ' ');
        $columns = array_replace($columns, [$key => $column]);
        $pdo->exec('CREATE TABLE mail_queue (' . implode(', ', $columns) . ')');
        $values = ['id' => 1, 'registration_number' => "'A'", 'mail_type' => "'m'", 'status' => "'held'", 'next_attempt_at' => 'NULL'] + ($key === 'lang' ? ['lang' => "'de'"] : []);
        foreach ([$values, array_replace($values, ['id' => 2, 'registration_number' => "'B'"], $value === '' ? [] : [$key => $value])] as $row) {
            $pdo->exec('INSERT INTO mail_queue (' . implode(', ', array_keys($row)) . ') VALUES (' . implode(', ', $row) . ')');
        }
        $before = $tables($pdo);
        $said = [$why(adopt($backend->dsn, '--dry-run')), $why(adopt($backend->dsn))];
        echo "$key: ", preg_replace('/: SQLSTATE.*?(?=\. (?:Change|Correct))/s', ': (its error)', $said[0]), $said[0] === $said[1] ? '' : " BUT $said[1]", "\n";
        echo $tables($pdo) === $before ? '' : "CHANGED: {$tables($pdo)}\n";
        $pdo->exec('DROP TABLE mail_queue');
    }
}

echo "-- computed from a later column; sequences of its own\n";
$more = ['pgsql' => 'twice INTEGER GENERATED ALWAYS AS (n * 2) STORED, n INTEGER DEFAULT 4, pos SERIAL, place INTEGER GENERATED ALWAYS AS IDENTITY',
    'mysql' => 'twice INTEGER AS (n * 2) VIRTUAL, n INTEGER DEFAULT 4'];
foreach ($more as $name => $columns) {
    $backend = new Backend($name);
    $pdo = $backend->pdo();
    $pdo->exec("CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, registration_number VARCHAR(20), mail_type VARCHAR(20), status VARCHAR(20), $columns)");
    $pdo->exec("INSERT INTO mail_queue (id, registration_number, mail_type, status) VALUES (5, 'A', 'm', 'held')");
    echo substr(said(adopt($backend->dsn, '--dry-run')), 0, 27), ' ', $tables($pdo), "\n", substr(said(adopt($backend->dsn)), 0, 22), "\n";
    $pdo->exec('DROP TABLE mail_queue_before');
    $backend->queue(referenceColumn: 'registration_number')->enqueue(mail_fields(), reference: 'B');
    echo json_encode($pdo->query('SELECT twice, n' . ($name === 'pgsql' ? ', pos, place' : '') . ' FROM mail_queue ORDER BY id')->fetchAll(PDO::FETCH_NUM)), "\n";
}

echo "-- nothing can be adopted\n";
$pdo = old("CREATE TABLE mail_outbox (id INTEGER PRIMARY KEY, message TEXT, status TEXT); INSERT INTO mail_outbox VALUES
    (1, 'Dear Ann', 'queued'), (2, 'Dear Bob', 'queued'), (3, 'Dear Cy', 'sent')");
echo $why(adopt($pdo)), "\n", $tables($pdo), "\n";

echo "-- PostgreSQL: schemas, owners, policies, rows that come at the last moment\n";
$backend = new Backend('pgsql');
$pdo = $backend->pdo();
$other = $backend->another();
[$here, $there] = array_map(fn(PDO $one): string => column($one, 'SELECT current_schema()')[0], [$pdo, $other->pdo()]);
$pdo->exec('CREATE TABLE mail_queue (id SERIAL PRIMARY KEY, registration_number TEXT, mail_type TEXT, status TEXT)');
$pdo->exec("INSERT INTO mail_queue (registration_number, mail_type, status) VALUES ('A', 'm', 'held')");
$both = str_replace($there, "$there,$here", $other->dsn);
echo str_replace([$here, $there], ['HERE', 'THERE'], $why(adopt($both))), "\n";
$role = 'app_' . bin2hex(random_bytes(4));
$pdo->exec("CREATE ROLE $role; GRANT ALL ON SCHEMA $here TO $role; ALTER TABLE mail_queue OWNER TO $role");
$blocker = $backend->pdo();
$blocker->exec("BEGIN; INSERT INTO mail_queue (registration_number, mail_type, status) VALUES ('B', 'm', 'held'), ('C', 'm', 'held')");
$process = proc_open(cli_command(['adopt', '--reference-column', 'registration_number']), [1 => ['pipe', 'w'], 2 => STDOUT], $pipes, null,
    ['MAILQUEUE_DATABASE' => $backend->dsn] + getenv());
while (column($pdo, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = to_regclass('mail_queue')")[0] == 0) {
    usleep(20000);
}
$blocker->exec('COMMIT');
echo strtok(stream_get_contents($pipes[1]), "\n"), "\n";
proc_close($process);
echo implode(' ', array_unique(column($pdo, "SELECT CASE WHEN tableowner = '$role' THEN 'the same owner' ELSE tableowner END FROM pg_tables WHERE schemaname = '$here'"))), "\n";
echo $backend->queue(referenceColumn: 'registration_number')->enqueue(mail_fields(), reference: 'D'), "\n";
$pdo->exec('DROP TABLE mail_queue, mail_body, mail_spent, mail_window, mail_count, mail_log, mail_suppression, mail_campaign, mail_recipient, mail_bounce, config, mail_queue_before');
$pdo->exec("CREATE TABLE mail_queue (id SERIAL PRIMARY KEY, registration_number TEXT, mail_type TEXT, status TEXT); ALTER TABLE mail_queue OWNER TO $role;
    ALTER TABLE mail_queue ENABLE ROW LEVEL SECURITY; ALTER TABLE mail_queue FORCE ROW LEVEL SECURITY; ALTER ROLE $role LOGIN");
echo preg_replace('/SQLSTATE.*query/', 'query', $why(adopt(preg_replace('/user=\w+/', "user=$role", $backend->dsn), '--drop-them'))), "\n", $tables($pdo), "\n";
?>
--EXPECT--
-- sqlite
registration_number: row 2: reference must have 1 to 190 octets, not 300. Correct it, or rename the column. …
registration_number: row 2: reference has the control character U+000A at octet 2; remove it. Correct it, or rename the column. …
id: row 999999999999999999: its id "999999999999999999" is not a whole number from 1 to 10^17. Correct it, or give the column another name. …
id: row 0: its id "0" is not a whole number from 1 to 10^17. Correct it, or give the column another name. …
priority: row 2: priority must be -100 … 100, not 2147483647. Correct it, or rename the column. …
attempts: row 2: column attempts holds "99999999999", but the queue has a column of that name for another purpose. Rename the column. …
max_attempts: row 2: maxAttempts must be 1 … 1000, or null for what the backoff policy says. Correct it, or rename the column. …
paid: row 2: column paid holds "1", but the queue has a column of that name for another purpose. Rename the column. …
recipients: row 2: column recipients holds "a@example.org, b@example.org", but the queue has a column of that name for another purpose. Rename the column. …
recipients: row 2: column recipients holds "["a@example.org",["b@example.org"]]", but the queue has a column of that name for another purpose. Rename the column. …
refused: row 2: column refused holds "no", but the queue has a column of that name for another purpose. Rename the column. …
fields: row 2: column fields holds "name=x", but the queue has a column of that name for another purpose. Rename the column. …
envelope_from: row 2: envelopeFrom: the address "Me <me@example.org>" has a character that is not allowed before the "@"; write a plain name@example.org without quotes, comments or spaces. Correct it, or rename the column. …
message_id: row 2: column message_id holds "17", but the queue has a column of that name for another purpose. Rename the column. …
-- pgsql
registration_number: row 2: reference must have 1 to 190 octets, not 300. Correct it, or rename the column. …
registration_number: row 2: reference has the control character U+000A at octet 2; remove it. Correct it, or rename the column. …
id: row 999999999999999999: its id "999999999999999999" is not a whole number from 1 to 10^17. Correct it, or give the column another name. …
id: row 0: its id "0" is not a whole number from 1 to 10^17. Correct it, or give the column another name. …
priority: row 2: priority must be -100 … 100, not 2147483647. Correct it, or rename the column. …
attempts: row 2: column attempts holds "99999999999", but the queue has a column of that name for another purpose. Rename the column. …
max_attempts: row 2: maxAttempts must be 1 … 1000, or null for what the backoff policy says. Correct it, or rename the column. …
paid: row 2: column paid holds "1", but the queue has a column of that name for another purpose. Rename the column. …
recipients: row 2: column recipients holds "a@example.org, b@example.org", but the queue has a column of that name for another purpose. Rename the column. …
recipients: row 2: column recipients holds "["a@example.org",["b@example.org"]]", but the queue has a column of that name for another purpose. Rename the column. …
refused: row 2: column refused holds "no", but the queue has a column of that name for another purpose. Rename the column. …
fields: row 2: column fields holds "name=x", but the queue has a column of that name for another purpose. Rename the column. …
envelope_from: row 2: envelopeFrom: the address "Me <me@example.org>" has a character that is not allowed before the "@"; write a plain name@example.org without quotes, comments or spaces. Correct it, or rename the column. …
message_id: row 2: column message_id holds "17", but the queue has a column of that name for another purpose. Rename the column. …
lang: its column lang has the type obligatory, which is never NULL, and no default: enqueue() could store nothing. Give it a default. …
day: its column day is computed from next_attempt_at, which becomes a number. Drop it. …
-- mysql
registration_number: row 2: reference must have 1 to 190 octets, not 300. Correct it, or rename the column. …
registration_number: row 2: reference has the control character U+000A at octet 2; remove it. Correct it, or rename the column. …
id: row 999999999999999999: its id "999999999999999999" is not a whole number from 1 to 10^17. Correct it, or give the column another name. …
id: row 0: its id "0" is not a whole number from 1 to 10^17. Correct it, or give the column another name. …
priority: row 2: priority must be -100 … 100, not 2147483647. Correct it, or rename the column. …
attempts: row 2: column attempts holds "99999999999", but the queue has a column of that name for another purpose. Rename the column. …
max_attempts: row 2: maxAttempts must be 1 … 1000, or null for what the backoff policy says. Correct it, or rename the column. …
paid: row 2: column paid holds "1", but the queue has a column of that name for another purpose. Rename the column. …
recipients: row 2: column recipients holds "a@example.org, b@example.org", but the queue has a column of that name for another purpose. Rename the column. …
recipients: row 2: column recipients holds "["a@example.org",["b@example.org"]]", but the queue has a column of that name for another purpose. Rename the column. …
refused: row 2: column refused holds "no", but the queue has a column of that name for another purpose. Rename the column. …
fields: row 2: column fields holds "name=x", but the queue has a column of that name for another purpose. Rename the column. …
envelope_from: row 2: envelopeFrom: the address "Me <me@example.org>" has a character that is not allowed before the "@"; write a plain name@example.org without quotes, comments or spaces. Correct it, or rename the column. …
message_id: row 2: column message_id holds "17", but the queue has a column of that name for another purpose. Rename the column. …
claimable: its column claimable has the name of a column that the queue computes. Rename it. …
code: row 2: (its error). Correct it. …
day: its column day is computed from next_attempt_at, which becomes a number. Drop it. …
-- computed from a later column; sequences of its own
exit 0: Would adopt 1 mail  mail_queue mail_queue_place_seq mail_queue_pos_seq
exit 0: Adopted 1 mail
[[8,4,1,1],[8,4,null,null]]
exit 0: Would adopt 1 mail  mail_queue
exit 0: Adopted 1 mail
[[8,4],[8,4]]
-- nothing can be adopted
No row of mail_outbox can be adopted. Row 1: not a complete message, which begins with its headers (and 1 more rows). …
mail_outbox
-- PostgreSQL: schemas, owners, policies, rows that come at the last moment
Table mail_queue is in the schema HERE, but new tables are made in THERE: give a DSN with ;options='-csearch_path=HERE'. …
Adopted 3 mails of mail_queue: 3 held.
the same owner
4
The database refuses: query would be affected by row-level security policy for table "mail_queue" HINT:  To disable the policy for the table's owner, use ALTER TABLE NO FORCE ROW LEVEL SECURITY.

mail_queue mail_queue_id_seq
