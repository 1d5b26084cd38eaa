--TEST--
MariaDB: the application's connection settings, character sets, collations, orphan check, locked rows
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
$pdo = $backend->pdo();
$queue = new MailQueue($pdo);
echo $pdo->query("SELECT GROUP_CONCAT(CONCAT_WS(' ', table_name, engine, table_collation) ORDER BY table_name) FROM information_schema.tables WHERE table_schema = DATABASE()")->fetchColumn(), "\n";

echo "bytes are kept, whatever the connection is set to\n";
$body = "Subject: \\ '\"?\r\n\r\n" . implode('', array_map(chr(...), [...range(1, 9), ...range(14, 255)])) . " :x ?1 \\\r\n";
$reference = "Gr\u{fc}\u{df}e \u{1f4e7} ' \\ \"";
$sets = ['utf8mb4', 'utf8', 'latin1', 'ascii'];
foreach ($sets as $charset) {
    foreach ([false, true] as $emulate) {
        foreach (['', 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PIPES_AS_CONCAT', 'TRADITIONAL'] as $mode) {
            $one = new PDO(str_replace('utf8mb4', $charset, $backend->dsn), null, null, [PDO::ATTR_EMULATE_PREPARES => $emulate]);
            $one->exec("SET sql_mode = '$mode'");
            $its = new MailQueue($one);
            $id = $its->enqueue($body, reference: $reference, type: "\u{e4}\u{1f4e7}", envelopeFrom: '', recipients: ["m\u{fc}ller@example.org"]);
            $again = $its->enqueue($body, reference: $reference, type: "\u{e4}\u{1f4e7}", envelopeFrom: '', recipients: ['a@example.org']);
            $seen = $queue->job($id); // by a connection in utf8mb4
            [$job] = $its->claim();
            $same = $job->reference === $reference && $job->type === "\u{e4}\u{1f4e7}" && $job->recipients === ["m\u{fc}ller@example.org"] && $job->envelopeFrom === '';
            $whole = strstr($job->message, 'Subject: ') === strstr($seen->message, 'Subject: ') && str_contains($job->message, substr($body, -250));
            $its->fail($job, "nein, gr\u{fc}\u{df}e \u{1f4e7}");
            $told = $queue->job($id)->lastError === "nein, gr\u{fc}\u{df}e \u{1f4e7}" && $its->job($id)->lastError === $queue->job($id)->lastError;
            $its->setConfig('note', "gr\u{fc}n");
            $noted = $queue->config('note') === "gr\u{fc}n" && $its->config('note') === "gr\u{fc}n";
            echo $again === null && $same && $whole && $told && $noted && $queue->delete([$id]) === 1 ? '' : "$charset " . json_encode([$emulate, $mode, $again, $same, $whole, $told, $noted, $seen->reference]) . "\n";
        }
    }
}
foreach (['SET NAMES gbk', 'SET character_set_connection = latin1'] as $set) {
    $one = $backend->pdo();
    $one->exec($set);
    echo thrown(fn() => new MailQueue($one)), "\n";
}

echo "what a collation may take for the same is not\n";
foreach (['Anna', 'anna', "\u{e4}nna", 'anna ', "anna\u{200b}"] as $reference) {
    echo $queue->enqueue(mail_fields(), reference: $reference) ? 'stored ' : 'refused ';
}
echo count($queue->jobs()), "\n";
$pdo->exec('DELETE FROM mail_queue');

echo "attributes\n";
error_reporting(E_ALL & ~E_DEPRECATED); // PHP 8.5 has these in Pdo\Mysql, which 8.3 lacks
$attributes = [[PDO::MYSQL_ATTR_FOUND_ROWS => true], [PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false], [PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false, PDO::ATTR_EMULATE_PREPARES => false],
    [PDO::ATTR_EMULATE_PREPARES => false], [PDO::ATTR_EMULATE_PREPARES => false, PDO::ATTR_STRINGIFY_FETCHES => true], [PDO::MYSQL_ATTR_MULTI_STATEMENTS => false], [PDO::MYSQL_ATTR_DIRECT_QUERY => true], [PDO::ATTR_FETCH_TABLE_NAMES => true]];
foreach ($attributes as $options) {
    $one = $backend->pdo($options);
    $one->exec("SET SESSION completion_type = 'CHAIN', SESSION sql_safe_updates = 1, SESSION sql_auto_is_null = 1");
    $its = new MailQueue($one);
    $id = $its->enqueue(mail_fields(), reference: 'r');
    $out = [$its->enqueue(mail_fields(), reference: 'r'), $its->stats()->pending, count($jobs = $its->claim())];
    $its->setConfig('mailMaxPerHour', '3600');
    $its->setConfig('mailMaxPerHour', '3600');
    array_push($out, $its->renew($jobs[0]), $its->renew($jobs[0]), $its->renew($jobs[0]), $its->takeTokens(1), $its->complete($jobs[0]), $its->complete($jobs[0]));
    $its->setConfig('mailMaxPerHour', null);
    echo json_encode($out), $one->inTransaction() ? ' in a transaction' : '', ' ', $one->query('SELECT @@tx_isolation')->fetchAll(PDO::FETCH_COLUMN)[0], "\n";
}
echo "a result of the application's that is not read to its end\n";
$one = $backend->pdo([PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false]);
$its = new MailQueue($one);
$open = $one->query('SELECT seq FROM seq_1_to_1000');
$open->fetch();
echo str_replace('Pdo\Mysql::ATTR_', 'PDO::MYSQL_ATTR_', thrown(fn() => $its->enqueue(mail_fields()))), "\n"; // PDO's wording is new in 8.6
var_dump(count($open->fetchAll()), $its->enqueue(mail_fields()) > 0);

echo "without autocommit all is the application's transaction\n";
$one = $backend->pdo([PDO::ATTR_AUTOCOMMIT => false]);
$its = new MailQueue($one);
$one->exec('COMMIT'); // of rows that the queue has read
$before = count($queue->jobs());
$its->enqueue(mail_fields());
echo count($queue->jobs()) - $before;
$one->exec('ROLLBACK');
echo count($queue->jobs()) - $before;
$its->enqueue(mail_fields());
$one->exec('COMMIT');
echo count($queue->jobs()) - $before, "\n";

echo "a transaction that a subclass denies\n";
final class Denies extends PDO
{
    public function inTransaction(): bool
    {
        return false;
    }
}
$one = new Denies($backend->dsn);
$its = new MailQueue($one);
$one->exec('START TRANSACTION');
$one->exec("INSERT INTO config VALUES ('registered', 'x')");
$its->enqueue(mail_fields());
$one->exec('ROLLBACK');
var_dump($queue->config('registered'), count($queue->jobs()) - $before - 1);
$pdo->exec('DELETE FROM mail_queue');

echo "orphans: by numbers, and by words in another character set\n";
$pdo->exec('CREATE TABLE people (number INTEGER PRIMARY KEY)');
$pdo->exec('INSERT INTO people VALUES (1), (2)');
$pdo->exec('CREATE TABLE names (name VARCHAR(50) CHARACTER SET latin1 COLLATE latin1_german1_ci PRIMARY KEY)');
$pdo->exec("INSERT INTO names VALUES ('anna'), ('gr\u{fc}\u{df}e')");
foreach (['people.number' => ['1', '2', '3', null], 'names.name' => ['anna', "gr\u{fc}\u{df}e", 'otto', "gr\u{fc}n", null]] as $check => $references) {
    foreach (['utf8mb4', 'latin1'] as $charset) {
        $its = new MailQueue(new PDO(str_replace('utf8mb4', $charset, $backend->dsn)), orphanCheck: $check);
        foreach ($references as $reference) {
            $its->enqueue(mail_fields(), reference: $reference);
        }
        echo implode(' ', array_map(fn($job) => $job->reference ?? 'null', $jobs = $its->claim(10))), ', ', count($its->jobs()), " left\n";
        array_map($its->complete(...), $jobs);
        foreach ($references as $reference) {
            $its->enqueue(mail_fields(), reference: $reference);
        }
        $report = $its->recoverStuckSending();
        $pdo->exec('DELETE FROM mail_queue');
    }
}

echo "locked rows\n";
$ids = [$queue->enqueue(mail_fields()), $queue->enqueue(mail_fields())];
$other = $backend->pdo();
$other->beginTransaction();
$other->query("SELECT * FROM mail_queue WHERE id = $ids[0] FOR UPDATE")->fetchAll();
[$job] = $queue->claim(10);
var_dump($job->id === $ids[1], count($queue->claim(10)));
$other->rollBack();
var_dump(count($queue->claim(10)), $queue->complete($job), $queue->stats()->sending);

echo "campaign() in a transaction that cannot see the campaign of another\n";
$other->exec('SET SESSION innodb_snapshot_isolation = OFF'); // newer versions: ON, and error 1020 here
$other->beginTransaction();
$other->query('SELECT * FROM mail_campaign')->fetchAll();
$queue->campaign('spring');
(new MailQueue($other))->campaign('spring')->setMessage(array_diff_key(mail_fields(), ['to' => 0]));
$other->commit();
$queue->campaign('spring')->add(['a@example.org']);
echo $queue->campaign('spring')->preview('a@example.org') === '' ? 'no' : 'a', " message\n";

echo "resend() in a transaction that cannot see the mail\n";
$other->beginTransaction();
$other->query('SELECT * FROM mail_body')->fetchAll();
$id = $queue->enqueue(mail_fields());
$queue->hold([$id]);
$new = (new MailQueue($other))->resend($id);
$other->commit();
echo str_contains((string) $queue->job($new)->message, 'Subject:') ? 'a' : 'no', " message\n";
$queue->delete([$new]);

echo "a hold waits for a claim that is under way, and finds the job claimed\n";
$id = $queue->enqueue(mail_fields());
$second = new MailQueue($other);
$other->beginTransaction();
[$job] = $second->claim();
$hold = new Other('$queue = new MailQueue(new PDO($argv[1])); echo "there\n"; echo $queue->hold([(int) $argv[2]]), " held\n";', $backend->dsn, (string) $id);
echo $hold->line(), "\n";
must(wait_until(fn() => usleep(150_000) ?? (bool) $pdo->query("SELECT count(*) FROM information_schema.innodb_lock_waits")->fetchColumn()), 'it waits');
$other->commit();
echo $hold->end()[0];
var_dump($second->complete($job));
?>
--EXPECT--
config InnoDB utf8mb4_bin,mail_body InnoDB utf8mb4_bin,mail_bounce InnoDB utf8mb4_bin,mail_campaign InnoDB utf8mb4_bin,mail_count InnoDB utf8mb4_bin,mail_log InnoDB utf8mb4_bin,mail_queue InnoDB utf8mb4_bin,mail_recipient InnoDB utf8mb4_bin,mail_spent InnoDB utf8mb4_bin,mail_suppression InnoDB utf8mb4_bin,mail_window InnoDB utf8mb4_bin
bytes are kept, whatever the connection is set to
MailQueue\Exception: $database: the connection's character set is gbk for statements and gbk for comparisons, which would change stored text: add charset=utf8mb4 to the DSN
MailQueue\Exception: $database: the connection's character set is utf8mb4 for statements and latin1 for comparisons, which would change stored text: add charset=utf8mb4 to the DSN
what a collation may take for the same is not
stored stored stored stored stored 5
attributes
[null,1,1,true,true,true,1,true,false] REPEATABLE-READ
[null,1,1,true,true,true,1,true,false] REPEATABLE-READ
[null,1,1,true,true,true,1,true,false] REPEATABLE-READ
[null,1,1,true,true,true,1,true,false] REPEATABLE-READ
[null,1,1,true,true,true,1,true,false] REPEATABLE-READ
[null,1,1,true,true,true,1,true,false] REPEATABLE-READ
[null,1,1,true,true,true,1,true,false] REPEATABLE-READ
[null,1,1,true,true,true,1,true,false] REPEATABLE-READ
a result of the application's that is not read to its end
MailQueue\DatabaseException [busy]: SQLSTATE[HY000]: General error: 2014 Cannot execute queries while other unbuffered queries are active.  Consider using PDOStatement::fetchAll().  Alternatively, if your code is only ever going to run against mysql, you may enable query buffering by setting the PDO::MYSQL_ATTR_USE_BUFFERED_QUERY attribute.: read this connection's results to their end (fetchAll()) first, or use buffered queries
int(999)
bool(true)
without autocommit all is the application's transaction
001
a transaction that a subclass denies
NULL
int(0)
orphans: by numbers, and by words in another character set
1 2 null, 3 left
1 2 null, 3 left
anna grüße null, 3 left
anna grüße null, 3 left
locked rows
bool(true)
int(0)
int(1)
bool(true)
int(1)
campaign() in a transaction that cannot see the campaign of another
a message
resend() in a transaction that cannot see the mail
a message
a hold waits for a claim that is under way, and finds the job claimed
there
0 held
bool(true)
