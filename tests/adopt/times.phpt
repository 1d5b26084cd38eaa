--TEST--
mailqueue adopt: times in every notation become UTC seconds; a value that is not a time stops it
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/adopt.inc';

$times = ["'2026-11-21 09:35:00'" => 1795253700, "'2026-11-21T09:35:00'" => 1795253700,
    "'2026-11-21T09:35:00Z'" => 1795253700, "'2026-11-21t09:35:00z'" => 1795253700,
    "'2026-11-21 09:35'" => 1795253700, "' 2026-11-21 09:35:00 '" => 1795253700,
    "'2026-11-21 09:35:00.999'" => 1795253700, "'2026-11-21 11:35:00+02:00'" => 1795253700,
    "'2026-11-21T11:35:00+0200'" => 1795253700, "'2026-11-21 11:35:00.5+02'" => 1795253700,
    "'2026-11-21 04:05:00-0530'" => 1795253700, "'2026-11-21 09:35:00 UTC'" => 1795253700,
    "'2026-11-21'" => 1795219200, "'2024-02-29 00:00:00'" => 1709164800, '1795253700' => 1795253700,
    "'1795253700'" => 1795253700, '1795253700.9' => 1795253700, "'1795253700.5'" => 1795253700,
    '1795253700123' => 1795253700, '1795253700123456' => 1795253700,
    "julianday('2026-11-21 09:35:00')" => 1795253700,
    "CAST('2026-11-21 09:35:00' AS BLOB)" => 1795253700, '0' => 0, 'NULL' => null, "''" => null,
    "'0000-00-00'" => null, "'0000-00-00 00:00:00'" => null, "'9999-12-31 23:59:59'" => 253402300799];
$pdo = old('CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, registration_number, mail_type, status, next_attempt_at)');
foreach (array_keys($times) as $i => $value) {
    $pdo->exec("INSERT INTO mail_queue VALUES ($i + 1, 'R$i', 'm', 'pending', $value)");
}
$began = time();
echo said(adopt($pdo));
$rows = $pdo->query('SELECT next_attempt_at, typeof(next_attempt_at) FROM mail_queue ORDER BY id')->fetchAll(PDO::FETCH_NUM);
foreach (array_keys($times) as $i => $value) {
    [$at, $type] = $rows[$i];
    $isSame = $times[$value] === null ? $at >= $began && $at <= time() : $at === $times[$value];
    echo $isSame && $type === 'integer' ? '' : "$value is $at\n";
}
echo "-- failed long ago: an outbox gave up\n";
foreach (['mail_outbox' => 'recipient, message, status, available_at', 'mail_queue' => 'registration_number, mail_type, status, next_attempt_at'] as $table => $columns) {
    $pdo = old("CREATE TABLE $table (id INTEGER PRIMARY KEY, $columns)");
    foreach ([['failed', 31], ['failed', 29], ['pending', 31]] as [$status, $days]) {
        $isJob = $table === 'mail_queue';
        $pdo->prepare("INSERT INTO $table ($columns) VALUES (?, ?, ?, ?)")->execute(['a@example.net' . ($isJob ? $status . $days : ''),
            $isJob ? 'm' : "From: b@example.net\r\nSubject: x\r\n\r\nHello\r\n", $status, time() - $days * 86400]);
    }
    echo strtok(said(adopt($pdo)), "\n"), ' ', implode(' ', column($pdo, 'SELECT status || coalesce(parked_for, 0) FROM mail_queue ORDER BY id')), "\n";
}
echo "-- values that are not times\n";
$bad = ["'soon'", "'now'", "'2026-02-31 00:00:00'", "'21.11.2026'", "'09:35'", "'2026-11-21 25:00:00'", '20261121',
    '20261121093500', "'2026-11-21 09:35:00 CET'", "'20261121'", "x'ff00'"];
foreach ($bad as $value) {
    $pdo = old("CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, registration_number, mail_type, status, next_attempt_at);
        INSERT INTO mail_queue VALUES (3, 'Q', 'm', 'pending', 5), (17, 'R', 'm', 'pending', $value)");
    $before = dump($pdo);
    [$code, , $errors] = adopt($pdo);
    echo $code === 78 && str_contains($errors, 'row 17: column next_attempt_at holds') && dump($pdo) === $before
        ? '' : "$value: $code $errors";
}
preg_match('/row 17.*/', $errors, $match);
echo preg_replace('/"[^"]*"/', '"…"', $match[0]), "\n";
?>
--EXPECT--
exit 0: Adopted 28 mails of mail_queue: 28 pending.
Backup: %/mail.db-before-adopt-%
The old table is mail_queue_before. To go back, before mail is stored or sent:
  mailqueue adopt --undo --reference-column registration_number
-- failed long ago: an outbox gave up
exit 0: Adopted 3 mails of mail_outbox: 1 parked, 1 failed, 1 pending. parkedexhausted failed0 pending0
exit 0: Adopted 3 mails of mail_queue: 2 failed, 1 pending. failed0 failed0 pending0
-- values that are not times
row 17: column next_attempt_at holds "…", which is not a time (YYYY-MM-DD HH:MM:SS in UTC, or seconds since 1970). Correct it. Nothing was changed.
