--TEST--
A queue moves from SQLite to PostgreSQL and back, byte for byte; rows that do not fit there are named
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql'); ?>
--FILE--
<?php
require __DIR__ . '/copy.inc';

$first = new PDO('sqlite:' . ($path = database()));
$queue = new MailQueue($path);
fill($queue, $first);
$backend = new Backend('pgsql');
$server = $backend->queue();
$phases = [];
$report = migration($first, $backend->pdo(), function (array $about) use (&$phases): void {
    $phases[$about['phase']] = "$about[done]/$about[total]";
})->run();
echo told($report), "\n", json_encode($phases), "\n";
$there = dump($backend->pdo());
var_dump(dump($first) === $there, strlen($there) > 100_000);

echo "only PostgreSQL sends, under the old ids; new ones are far from them\n";
var_dump($queue->stats()->enabled, $queue->claim(5), count($jobs = $server->claim(5)) >= 4); // depending on the tokens refilled meanwhile
array_map($server->release(...), $jobs);
var_dump($server->enqueue(mail_fields()) >= 1_000_000, $server->delete([(int) $backend->pdo()->query('SELECT max(id) FROM mail_queue')->fetchColumn()]));

echo "late mail\n";
$id = $queue->enqueue(mail_fields(), reference: 'late');
echo told(migration($first, $backend->pdo())->run()), "\n";
var_dump($server->job($id)->reference, $server->delete([$id]), migration($first, $backend->pdo())->run()->copied);

echo "and back\n";
$pdo2 = new PDO('sqlite:' . ($path2 = database()));
$again = migration($backend->pdo(), $pdo2)->run();
$back = new MailQueue($path2);
var_dump($again->mails, $again->checksum === $report->checksum);
$queue->delete([$id]);
var_dump(dump($pdo2, false) === dump($first, false));
echo implode(' ', array_map(fn($key) => $back->config($key), ['mailMaxPerHour', 'mailRateMode', 'mailRedirectTypes'])), "\n";
var_dump($server->claim(1), count($back->claim(5)) >= 4);

echo "what PostgreSQL cannot take\n";
$pdo3 = new PDO('sqlite:' . ($path3 = database()));
$bad = (new MailQueue($path3))->enqueue(mail_fields());
$second = (new Backend('pgsql'))->pdo();
foreach (["last_error = 'a' || char(0)", "last_error = CAST(x'ff' AS TEXT)", 'attempts = 3000000000', "next_attempt_at = 'soon'"] as $set) {
    $pdo3->exec("UPDATE mail_queue SET last_error = NULL, attempts = 0, next_attempt_at = 5, $set");
    echo thrown(fn() => migration($pdo3, $second)->run()), "\n";
}
$pdo3->exec('UPDATE mail_queue SET next_attempt_at = 5');
var_dump(migration($pdo3, $second)->run()->copied);

echo "a callback that throws; a transaction that is open elsewhere\n";
$sixth = new MailQueue($pdo6 = ($backend6 = new Backend('pgsql'))->pdo());
$sixth->enqueue(mail_fields());
$other = new PDO('sqlite:' . database());
echo thrown(fn() => migration($pdo6, $other, fn() => throw new LogicException('enough'))->run()), "\n";
$open = $backend6->pdo();
$open->beginTransaction();
$open->query('SELECT 1');
migration($pdo6, $other)->abort();
echo thrown(fn() => migration($pdo6, $other, timeout: 0)->run()), "\n";
$open->rollBack();
var_dump(migration($pdo6, $other, timeout: 10)->run()->mails);

echo "not into itself\n";
$same = new Backend('pgsql');
$queue = $same->queue();
echo thrown(fn() => migration($same->pdo(), $same->pdo())->run()), "\n";
var_dump($queue->config('mailQueueMovedTo'), $queue->config('mailQueueMovedFrom'));
?>
--EXPECT--
{"late":false,"copied":600,"deleted":0,"kept":0,"mails":600,"counts":{"pending":420,"sending":0,"failed":60,"parked":60,"held":60},"ignoredColumns":[],"changedKeys":[],"keptKeys":[]}
{"copying":"600\/600","verifying":"600\/600"}
bool(true)
bool(true)
only PostgreSQL sends, under the old ids; new ones are far from them
bool(false)
array(0) {
}
bool(true)
bool(true)
int(1)
late mail
{"late":true,"copied":1,"deleted":0,"kept":0,"mails":1,"counts":{"pending":0,"sending":0,"failed":0,"parked":0,"held":0},"ignoredColumns":[],"changedKeys":[],"keptKeys":[]}
string(4) "late"
int(1)
int(0)
and back
int(600)
bool(true)
bool(true)
3000 strict user
array(0) {
}
bool(true)
what PostgreSQL cannot take
MailQueue\Cli\Stop: mail 1 cannot be moved: its column last_error holds octets that are not UTF-8 text. Correct the row in the source, or delete the mail, and repeat the command
MailQueue\Cli\Stop: mail 1 cannot be moved: its column last_error holds octets that are not UTF-8 text. Correct the row in the source, or delete the mail, and repeat the command
MailQueue\Cli\Stop: mail 1 cannot be moved: its column attempts holds a number that is too large there. Correct the row in the source, or delete the mail, and repeat the command
MailQueue\Cli\Stop: mail 1 cannot be moved: its column next_attempt_at holds no integer. Correct the row in the source, or delete the mail, and repeat the command
int(1)
a callback that throws; a transaction that is open elsewhere
LogicException: enough
MailQueue\Cli\Stop: transactions are still open after 0 s. The source stays paused: repeat the command to go on, or cancel the move with --abort
int(1)
not into itself
MailQueue\Cli\Stop: source and target are the same table of the same database
NULL
NULL
