--TEST--
A queue moves from PostgreSQL to MariaDB and on to SQLite, byte for byte, also by DSNs on the command line; the move waits for an enqueue that is under way
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/copy.inc';

$start = new PDO('sqlite:' . ($path = database()));
fill(new MailQueue($path), $start);
$pgsql = new Backend('pgsql');
$mysql = new Backend('mysql');
$first = $pgsql->queue();
migration($start, $pgsql->pdo())->run();
$hide = fn(string $text): string => preg_replace(['/[0-9a-f]{64}/', '/(mysql|pgsql):[^ \n]*?(?=[:;.,]?( |\n))/'], ['HASH', '$1:%'], $text);
$move = function (string $from, string $to, string ...$words) use ($hide): void {
    [$code, $output, $errors] = cli(['migrate-store', $from, $to, ...$words]);
    echo "exit $code\n", $hide($output . $errors);
};

echo "PostgreSQL to MariaDB, by the command\n";
$move($pgsql->dsn, $mysql->dsn);
var_dump(dump($pgsql->pdo()) === ($there = dump($mysql->pdo())), $there === dump($start), strlen($there) > 100_000);

echo "only MariaDB sends; new ids are far from the old\n";
$second = $mysql->queue();
var_dump($first->claim(3), count($jobs = $second->claim(3)));
array_map($second->release(...), $jobs);
var_dump(($id = $second->enqueue(mail_fields())) >= 1_000_000, $second->delete([$id]));

echo "late mail\n";
$id = $first->enqueue(mail_fields(), reference: 'late');
$move($pgsql->dsn, $mysql->dsn);
echo $second->job($id)->reference, "\n";
$second->delete([$id]);

echo "on to SQLite, while an enqueue is not committed\n";
$open = $mysql->pdo();
$open->beginTransaction();
$last = (new MailQueue($open))->enqueue(mail_fields(), reference: 'open');
$process = proc_open(cli_command(['migrate-store', $mysql->dsn, $path2 = database()]), [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes, temp_home());
$waited = !wait_until(fn() => !proc_get_status($process)['running'], 3);
$open->commit();
$output = stream_get_contents($pipes[1]);
echo $waited ? 'waited' : 'did not wait', ', exit ', proc_close($process), "\n", str_replace($path2, '%', $hide($output));
$back = new MailQueue($path2);
var_dump($back->job($last)?->reference, $back->delete([$last]), dump($start, false) === dump(new PDO("sqlite:$path2"), false));
var_dump($second->claim(1), count($back->claim(3)));

echo "not into itself\n";
$same = new Backend('mysql');
$queue = $same->queue();
echo thrown(fn() => migration($same->pdo(), $same->pdo())->run()), "\n";
var_dump($queue->config('mailQueueMovedTo'), $queue->config('mailQueueMovedFrom'));
?>
--EXPECT--
PostgreSQL to MariaDB, by the command
exit 0
Moved 600 mails to mysql:%: 420 pending, 60 failed, 60 parked, 60 held.
All were compared: SHA-256 HASH.
bool(true)
bool(true)
bool(true)
only MariaDB sends; new ids are far from the old
array(0) {
}
int(3)
bool(true)
int(1)
late mail
exit 0
Brought 1 more mails to mysql:%.
late
on to SQLite, while an enqueue is not committed
waited, exit 0
Moved 601 mails to %: 421 pending, 60 failed, 60 parked, 60 held.
All were compared: SHA-256 HASH.
string(4) "open"
int(1)
bool(true)
array(0) {
}
int(3)
not into itself
MailQueue\Cli\Stop: source and target are the same table of the same database
NULL
NULL
