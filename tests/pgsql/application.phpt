--TEST--
PostgreSQL: the application's schemas, notices, orphan check; claims skip rows that others have locked
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
$backend = new Backend('pgsql');
$pdo = $backend->pdo();
$pdo->exec('CREATE SCHEMA shared; CREATE TABLE shared.config (key TEXT PRIMARY KEY, value TEXT)');
$own = $pdo->query('SELECT current_schema')->fetchColumn();
$pdo->exec("SET search_path = $own, shared; SET lock_timeout = '10s'");
$notices = [];
if (method_exists($pdo, 'setNoticeCallback')) {
    $pdo->setNoticeCallback(function (string $text) use (&$notices): void { $notices[] = $text; });
}
$queue = new MailQueue($pdo, orphanCheck: 'people.number');
$queue->migrate();
var_dump($notices, $pdo->query('SHOW client_min_messages')->fetchColumn(), $pdo->query('SHOW search_path')->fetchColumn() === "$own, shared");
echo implode(' ', $pdo->query("SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname IN ('$own', 'shared') ORDER BY tablename")->fetchAll(PDO::FETCH_COLUMN)) === "shared.config $own.mail_body $own.mail_bounce $own.mail_campaign $own.mail_count $own.mail_log $own.mail_queue $own.mail_recipient $own.mail_spent $own.mail_suppression $own.mail_window" ? "the config table is the application's\n" : "other tables\n";
echo $pdo->query("SELECT array_to_string(reloptions, ' ') FROM pg_class WHERE oid = 'mail_queue'::regclass")->fetchColumn(), "\n";
$pdo->exec('CREATE TABLE others_queue (id BIGINT PRIMARY KEY, name TEXT)');
echo thrown(fn() => new MailQueue($pdo, table: 'others_queue')), "\n";

echo "orphans: by a column of numbers\n";
$pdo->exec('CREATE TABLE people (number INTEGER PRIMARY KEY); INSERT INTO people VALUES (1), (2)');
foreach (['1', '2', '3', 'x', null] as $reference) {
    $queue->enqueue(mail_fields(), reference: $reference);
}
echo implode(' ', array_map(fn($job) => $job->reference ?? 'null', $jobs = $queue->claim(10))), ', ', count($queue->jobs()), " left\n";
array_map($queue->complete(...), $jobs);

echo "locked rows\n";
$ids = [$queue->enqueue(mail_fields()), $queue->enqueue(mail_fields())];
$other = $backend->pdo();
$other->exec("SET search_path = $own, shared");
$other->beginTransaction();
$other->exec("SELECT * FROM mail_queue WHERE id = $ids[0] FOR UPDATE");
[$job] = $queue->claim(10);
var_dump($job->id === $ids[1], count($queue->claim(10)));
$other->rollBack();
var_dump(count($queue->claim(10)), $queue->complete($job), $queue->stats()->sending);

echo "a hold waits for a claim that is under way, and finds the job claimed\n";
$id = $queue->enqueue(mail_fields());
$second = new MailQueue($other);
$other->beginTransaction();
[$job] = $second->claim();
$hold = new Other('$pdo = new PDO($argv[1]); $pdo->exec($argv[2]); $queue = new MailQueue($pdo); echo "there\n"; echo $queue->hold([(int) $argv[3]]), " held\n";', $backend->dsn, "SET search_path = $own, shared", (string) $id);
echo $hold->line(), "\n";
must(wait_until(fn() => (bool) $pdo->query("SELECT count(*) FROM pg_locks WHERE NOT granted")->fetchColumn()), 'it waits');
$other->commit();
echo $hold->end()[0];
var_dump($second->complete($job));

echo "emulated statements are the pooler's need: no names in the server\n";
$names = fn(PDO $pdo): int => $pdo->query('SELECT count(*) FROM pg_prepared_statements')->fetchColumn();
foreach ([false, true] as $emulate) {
    $one = $backend->pdo([PDO::ATTR_EMULATE_PREPARES => $emulate]);
    $one->exec("SET search_path = $own, shared");
    $its = new MailQueue($one);
    for ($i = 0; $i < 4; $i++) { // a statement has a name from its third use on
        $its->enqueue("Subject: \\ '?\r\n\r\n\xff :x ?1\r\n", envelopeFrom: '', recipients: ['a@example.org']);
        $its->stats();
    }
    [$job] = $its->claim();
    var_dump(str_contains($job->message, "Subject: \\ '?") && str_contains($job->message, "\xff :x ?1\r\n"), $names($one) > 1, $its->complete($job));
}
?>
--EXPECTF--
array(0) {
}
string(6) "notice"
bool(true)
the config table is the application's
autovacuum_vacuum_scale_factor=0.01
MailQueue\DatabaseException [schema]: a table others_queue exists that is not the queue's: it lacks reference, mail_type, status, %s, fields, subject, resent_of, uncertain_to, paid_to, waits_for, relay, scope, cleared, recipient_id. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
orphans: by a column of numbers
1 2 null, 3 left
locked rows
bool(true)
int(0)
int(1)
bool(true)
int(1)
a hold waits for a claim that is under way, and finds the job claimed
there
0 held
bool(true)
emulated statements are the pooler's need: no names in the server
bool(true)
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
