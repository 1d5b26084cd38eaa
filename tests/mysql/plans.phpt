--TEST--
MariaDB: no operation on a long queue reads much of its table; claims lock the rows that they take
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
$backend = new Backend('mysql');
$backend->queue()->setConfig('mailMaxPerHour', 1000000);
$backend->queue()->setConfig('mailBurst', 1000000);
$backend->queue()->setConfig('mailRateMode', 'strict');
$look = $backend->pdo();
$look->exec('CREATE TABLE people (number VARCHAR(50) PRIMARY KEY)');
$look->exec("INSERT INTO people SELECT CONCAT('r', seq) FROM seq_1_to_20000");
$look->exec("INSERT INTO mail_queue (reference, mail_type, status, priority, next_attempt_at, created_at, message_id, expires_at, locked_until, locked_by, parked_for)
    SELECT CONCAT('r', seq), 'mail', CASE WHEN seq % 500 = 0 THEN 'sending' WHEN seq % 50 = 1 THEN 'parked' WHEN seq % 50 = 2 THEN 'failed' ELSE 'pending' END,
        seq % 3, seq, 1000, '<x@example.org>', CASE WHEN seq % 100 = 7 THEN 4000000000 END,
        CASE WHEN seq % 500 = 0 THEN 4000000000 END, CASE WHEN seq % 500 = 0 THEN 'x' END, CASE WHEN seq % 50 = 1 THEN 'exhausted' END
    FROM seq_1_to_20000");
$look->exec("UPDATE mail_queue SET envelope_from = 'a@example.org', recipients = '[\"b@example.org\"]'");
$look->exec("INSERT INTO mail_body SELECT id, 'From: a@example.org\r\n\r\ntext\r\n' FROM mail_queue");
/* The rows and index entries that the session's handlers have read. */
$reads = function (PDO $pdo): int {
    $all = $pdo->query("SHOW SESSION STATUS LIKE 'Handler_read%'")->fetchAll(PDO::FETCH_KEY_PAIR);
    return array_sum(array_diff_key($all, ['Handler_read_rnd_deleted' => 0]));
};
$steps = [
    'enqueue' => [60, fn(MailQueue $queue) => $queue->enqueue(mail_fields(), reference: 'r3')],
    'enqueue again' => [60, fn(MailQueue $queue) => $queue->enqueue(mail_fields(), reference: 'r1')],
    'claim' => [250, fn(MailQueue $queue) => $GLOBALS['jobs'] = $queue->claim(3)],
    'settle' => [250, fn(MailQueue $queue) => $queue->complete($GLOBALS['jobs'][0]) && $queue->fail($GLOBALS['jobs'][1], 'x') && $queue->renew($GLOBALS['jobs'][2])],
    'recovery' => [150, fn(MailQueue $queue) => $queue->recoverStuckSending()],
    'tokens' => [150, fn(MailQueue $queue) => $queue->takeTokens(1)],
    'hold, retry, delete' => [60, fn(MailQueue $queue) => $queue->hold([9]) . $queue->retryFailed([9]) . $queue->delete([9])],
    // Of what is being sent, 40 mails here, a list reads all.
    'lists' => [150, function (MailQueue $queue): void {
        foreach ([null, ...MailQueue\Status::cases()] as $status) {
            $queue->jobs($status, after: 5000, limit: 10);
        }
    }],
];
foreach (['before', 'after'] as $when) {
    foreach ([true, false] as $emulated) {
        $pdo = $backend->pdo([PDO::ATTR_EMULATE_PREPARES => $emulated]);
        $queue = new MailQueue($pdo, orphanCheck: 'people.number');
        foreach ($steps as $name => [$most, $step]) {
            $read = $reads($pdo);
            $step($queue);
            $read = $reads($pdo) - $read;
            echo $read > $most || getenv('SHOW_READS') ? "$when ANALYZE: $name read $read\n" : '';
        }
    }
    $look->query('ANALYZE TABLE mail_queue, people')->fetchAll();
}
echo "few rows\n";

/* Statements that read and write many rows, by a list of ids. */
final class Noting extends PDO
{
    public array $lists = [];

    #[ReturnTypeWillChange]
    public function prepare($query, $options = [])
    {
        if (str_contains($query, 'JSON_TABLE')) {
            $this->lists[$query] = true;
        }
        return parent::prepare($query, $options);
    }
}
putenv('XDG_STATE_HOME=' . temp_directory());
foreach ([true, false] as $emulated) {
    $pdo = new Noting($backend->dsn, null, null, [PDO::ATTR_EMULATE_PREPARES => $emulated]);
    echo (new MailQueue($pdo))->runWorker('null://null', log: '', messageLimit: 100)->sent, " sent\n";
    foreach (array_keys($pdo->lists) as $sql) {
        $params = substr_count(preg_replace("/'[^']*'/", '', $sql), '?');
        $json = json_encode(array_map(fn($n) => [$n, 0], range(2000, 2099)));
        $explain = $look->prepare("EXPLAIN $sql");
        $explain->execute(match (true) {
            str_starts_with($sql, 'UPDATE') => [$json, 'sending', 1, 'x', null],
            str_contains($sql, 'LENGTH(content)') => [65536, $json, 'x'],
            default => array_slice([$json, 1], 0, $params),
        });
        echo strtok($sql, ' '), ':';
        foreach ($explain->fetchAll(PDO::FETCH_ASSOC) as $row) {
            echo " $row[table] $row[type] $row[key]";
        }
        echo "\n";
    }
}

/* All waiting jobs can be claimed at the same time, by as many claims as there are jobs. */
$look->exec("DELETE FROM mail_queue");
$backend->queue()->setConfig('mailMaxPerHour', 0);
$backend->queue()->enqueueMany(array_map(fn() => ['message' => mail_fields()], range(1, 6)));
$claims = [];
for ($i = 0; $i < 3; $i++) {
    $pdo = $backend->pdo();
    $queue = new MailQueue($pdo);
    $pdo->exec('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
    $pdo->beginTransaction();
    $claims[] = [$pdo, count($queue->claim(2))];
}
echo implode(' ', array_column($claims, 1)), ' jobs, ', $look->query("SELECT sum(trx_rows_locked) < 60 FROM information_schema.innodb_trx")->fetchColumn(), "\n";
?>
--EXPECT--
few rows
100 sent
UPDATE: list ALL  mail_queue eq_ref PRIMARY
SELECT: list ALL  mail_queue eq_ref PRIMARY mail_body eq_ref PRIMARY
SELECT: list ALL  mail_queue eq_ref PRIMARY
DELETE: list ALL  mail_queue eq_ref PRIMARY
DELETE: list ALL  mail_body eq_ref PRIMARY
100 sent
UPDATE: list ALL  mail_queue eq_ref PRIMARY
SELECT: list ALL  mail_queue eq_ref PRIMARY mail_body eq_ref PRIMARY
SELECT: list ALL  mail_queue eq_ref PRIMARY
DELETE: list ALL  mail_queue eq_ref PRIMARY
DELETE: list ALL  mail_body eq_ref PRIMARY
2 2 2 jobs, 1
