--TEST--
A user who may only read the database sees its contents; commands that write name the user and the cure
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
pcntl
--SKIPIF--
<?php if (posix_geteuid() !== 0) die('skip root is needed, for a second user'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
const READER = 65534;

/** Runs the command as the other user. */
function reader(array $command): array
{
    [$command, $environment] = for_others($command, ['HOME' => '/', 'PATH' => getenv('PATH')] + sanitizer_environment());
    $as = ['setpriv', '--reuid=' . READER, '--regid=' . READER, '--clear-groups'];
    $process = proc_open([...$as, ...$command], [['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes, '/', $environment);
    $output = stream_get_contents($pipes[1]);
    $errors = stream_get_contents($pipes[2]);
    return [proc_close($process), $output, $errors];
}
/** The output of PHP code there, with $argv[1] as the database. */
function as_reader(string $path, string $code): string
{
    $thrown = 'function thrown(callable $call): string { try { $call(); } catch (Throwable $e) { return get_class($e) . " [" . ($e->reason ?? "") . "] " . $e->getMessage(); } return "nothing"; }';
    [, $output, $errors] = reader(php_command('-r', "$thrown $code", '--', $path));
    return str_replace([dirname($path), (string) READER], ['%', 'N'], $output . $errors);
}
function files(string $path): string
{
    $files = array_map(fn(string $file): string => substr(basename($file), strlen('mail')) . ':' . fileowner($file), glob(dirname($path) . '/mail*'));
    return implode(' ', str_replace(READER, 'N', $files));
}
/** A database with three mails, in a directory of that mode. */
function made(string $journal, int $mode = 0755): array
{
    $path = database();
    (new MailQueue($path, journal: $journal))->stats();
    (new PDO("sqlite:$path"))->query('SELECT count(*) FROM mail_queue')->fetchAll(); // empties the WAL
    chmod($path, 0644);
    $queue = new MailQueue($path);
    for ($i = 0; $i < 3; $i++) {
        $queue->enqueue(mail_fields(), "r$i");
    }
    foreach (['-wal', '-shm', '-journal'] as $suffix) {
        file_exists($path . $suffix) && chmod($path . $suffix, 0644);
    }
    chmod(dirname($path), $mode);
    return [$path, $queue];
}
const LOOKS = '$looks = function () { $q = new MailQueue($_SERVER["argv"][1]); echo $q->stats()->pending, " pending, ", count($q->jobs()), " jobs, ", strlen($q->job(1)->message) > 100 ? "a message" : "none", ", ", $q->diagnostics()["journal"], ", ", $q->config("mailMaxPerHour") ?? "no limit", "\n"; }; ($text = thrown($looks)) === "nothing" || print("$text\n");';

foreach (['truncate', 'wal'] as $journal) {
    echo "-- $journal, the owner has it open\n";
    [$path, $queue] = made($journal);
    $before = files($path);
    echo as_reader($path, LOOKS);
    echo as_reader($path, '$q = new MailQueue($argv[1]);
        foreach (["enqueue" => fn() => $q->enqueue(["from" => "a@example.org", "to" => "b@example.org", "subject" => "s", "text" => "t"]),
            "claim" => fn() => $q->claim(), "runWorker" => fn() => $q->runWorker("null://null", log: ""), "recoverStuckSending" => fn() => $q->recoverStuckSending(),
            "takeTokens" => fn() => $q->takeTokens(1), "retryFailed" => fn() => $q->retryFailed(), "hold" => fn() => $q->hold([1]), "delete" => fn() => $q->delete([1]),
            "setConfig" => fn() => $q->setConfig("mailMaxPerHour", 1)] as $name => $call) $said[thrown($call)][] = $name;
        foreach ($said as $text => $names) echo implode(" ", $names), ": $text\n";');
    echo $before === files($path) ? '' : "$before became " . files($path) . "\n", $queue->stats()->pending, " pending\n";
    echo 'it sees what comes: ';
    [$command, $environment] = for_others(php_command('-r', '$q = new MailQueue($argv[1]); echo $q->stats()->pending, "\n"; fgets(STDIN); echo $q->stats()->pending, "\n"; fgets(STDIN);', '--', $path), ['PATH' => getenv('PATH')] + sanitizer_environment());
    $process = proc_open(['setpriv', '--reuid=' . READER, '--regid=' . READER, '--clear-groups', ...$command], [['pipe', 'r'], ['pipe', 'w'], STDERR], $pipes, '/', $environment);
    echo trim(fgets($pipes[1])), ' ';
    $queue->enqueue(mail_fields());
    fwrite($pipes[0], "\n");
    echo trim(fgets($pipes[1])), ' ';
    $queue->runWorker('null://null', log: '');
    fclose($pipes[0]);
    proc_close($process);
    echo $queue->stats()->pending, "\n";

    echo "-- $journal, nobody has it open since a mail was stored\n";
    [$path, $queue] = made($journal);
    unset($queue);
    echo as_reader($path, LOOKS), files($path), "\n";
    $queue = new MailQueue($path);
    $queue->enqueue(mail_fields());
    unset($queue);
    echo as_reader($path, LOOKS);

    echo "-- $journal, nobody has it open since all was in the file\n";
    foreach ([0755, 0777] as $mode) {
        [$path, $queue] = made($journal, $mode);
        unset($queue);
        (new PDO("sqlite:$path"))->query('SELECT count(*) FROM mail_queue')->fetchAll();
        echo decoct($mode), ' ', files($path), ': ', as_reader($path, LOOKS), files($path), "\n";
    }

    echo "-- $journal, a process was killed within a transaction\n";
    [$path, $queue] = made($journal);
    unset($queue);
    $other = new Other('$pdo = new PDO("sqlite:$argv[1]"); $pdo->exec("PRAGMA cache_size = 1; CREATE TABLE big (a); BEGIN; INSERT INTO big VALUES (zeroblob(2000000)), (zeroblob(2000000))"); echo "here\n"; fgets(STDIN);', $path);
    $other->line();
    posix_kill($other->pid(), SIGKILL);
    $other->end();
    array_map(fn($file) => chmod($file, 0644), glob("$path*"));
    echo as_reader($path, LOOKS);
    $keeps = new MailQueue($path);
    echo 'and when its owner has looked: ', as_reader($path, LOOKS);
}
echo "-- files that cannot be read\n";
foreach (['', '-wal', '-shm'] as $suffix) {
    [$path, $queue] = made('wal');
    chmod($path . $suffix, 0600);
    echo "$suffix: ", as_reader($path, 'echo thrown(fn() => new MailQueue($_SERVER["argv"][1])), "\n";');
}
echo "-- no tables yet, an older version's, the application's PDO\n";
$path = database();
(new PDO("sqlite:$path"))->exec('CREATE TABLE users (a)');
chmod(dirname($path), 0755);
chmod($path, 0644);
echo as_reader($path, 'echo thrown(fn() => new MailQueue($_SERVER["argv"][1])), "\n";');
[$path, $queue] = made('truncate');
echo as_reader($path, '$q = new MailQueue(new PDO("sqlite:$argv[1]")); echo $q->stats()->pending, " pending, ", thrown(fn() => $q->delete([1])), "\n";');

echo "-- commands\n";
[$path, $queue] = made('wal');
$queue->fail($queue->claim()[0], '550 no', permanent: true);
foreach ([['status'], ['list'], ['show', '1'], ['config'], ['config', 'mailMaxPerHour'], ['doctor'], ['log', '--log', "$path.log"], ['work', '--transport', 'null://null'], ['retry', '1'], ['hold', '2'], ['delete', '1'],
    ['config', 'mailMaxPerHour', '5'], ['migrate']] as $words) {
    touch("$path.log");
    [$code, $output, $errors] = reader(cli_command([...$words, '--database', $path]));
    echo implode(' ', str_replace($path, 'DB', $words)), ": exit $code, ", strlen($output) > 10 ? 'prints' : 'prints little', ' ', str_replace([dirname($path), (string) READER], ['%', 'N'], $errors ?: "\n");
}
echo $queue->stats()->pending, ' pending, ', $queue->stats()->parked, " parked\n";
echo "-- tables of an older version\n";
[$path, $queue] = made('truncate');
(new PDO("sqlite:$path"))->exec("UPDATE config SET value = '3' WHERE key = 'mailSchemaVersion'");
echo preg_replace('/(to) \d+/', '$1 NEW', as_reader($path, LOOKS));
?>
--EXPECT--
-- truncate, the owner has it open
3 pending, 3 jobs, a message, delete, no limit
enqueue claim runWorker recoverStuckSending takeTokens retryFailed hold delete setConfig: MailQueue\DatabaseException [readonly] the database file %/mail.db is not writable for user N: do this as user 0, who owns it, or change its owner or mode
3 pending
it sees what comes: 3 4 0
-- truncate, nobody has it open since a mail was stored
3 pending, 3 jobs, a message, delete, no limit
.db:0 .db-journal:0
4 pending, 4 jobs, a message, delete, no limit
-- truncate, nobody has it open since all was in the file
755 .db:0 .db-journal:0: 3 pending, 3 jobs, a message, delete, no limit
.db:0 .db-journal:0
777 .db:0 .db-journal:0: 3 pending, 3 jobs, a message, delete, no limit
.db:0 .db-journal:0
-- truncate, a process was killed within a transaction
MailQueue\DatabaseException [readonly] a transaction on %/mail.db was broken off and must be undone first, which user N, who may only read it, cannot do: run `mailqueue status` once as user 0, who owns it
and when its owner has looked: 3 pending, 3 jobs, a message, delete, no limit
-- wal, the owner has it open
3 pending, 3 jobs, a message, wal, no limit
enqueue claim runWorker recoverStuckSending takeTokens retryFailed hold delete setConfig: MailQueue\DatabaseException [readonly] the database file %/mail.db is not writable for user N: do this as user 0, who owns it, or change its owner or mode
3 pending
it sees what comes: 3 4 0
-- wal, nobody has it open since a mail was stored
3 pending, 3 jobs, a message, wal, no limit
.db:0 .db-shm:0 .db-wal:0
4 pending, 4 jobs, a message, wal, no limit
-- wal, nobody has it open since all was in the file
755 .db:0: MailQueue\DatabaseException [readonly] user N may only read %/mail.db, which is in WAL mode, and SQLite reads it only with its -wal and -shm files: %/mail.db-wal: No such file or directory: look as user 0, who owns it, or while a process that may write has it open
.db:0
777 .db:0: MailQueue\DatabaseException [readonly] user N may only read %/mail.db, which is in WAL mode, and SQLite reads it only with its -wal and -shm files: %/mail.db-wal: No such file or directory: look as user 0, who owns it, or while a process that may write has it open
.db:0
-- wal, a process was killed within a transaction
3 pending, 3 jobs, a message, wal, no limit
and when its owner has looked: 3 pending, 3 jobs, a message, wal, no limit
-- files that cannot be read
: MailQueue\DatabaseException [cantopen] user N may not read the database file %/mail.db: do this as its owner, or change its owner or mode
-wal: MailQueue\DatabaseException [readonly] user N may only read %/mail.db, which is in WAL mode, and SQLite reads it only with its -wal and -shm files: %/mail.db-wal: Permission denied: look as user 0, who owns it, or while a process that may write has it open
-shm: MailQueue\DatabaseException [readonly] user N may only read %/mail.db, which is in WAL mode, and SQLite reads it only with its -wal and -shm files: %/mail.db-shm: Permission denied: look as user 0, who owns it, or while a process that may write has it open
-- no tables yet, an older version's, the application's PDO
MailQueue\DatabaseException [readonly] the database file %/mail.db is not writable for user N: do this as user 0, who owns it, or change its owner or mode
3 pending, MailQueue\DatabaseException [readonly] SQLSTATE[HY000]: General error: 8 attempt to write a readonly database: give this user write access to the file and its directory
-- commands
status: exit 0, prints 
list: exit 0, prints 
show 1: exit 0, prints 
config: exit 0, prints 
config mailMaxPerHour: exit 0, prints little 
doctor: exit 1, prints 
log --log DB.log: exit 0, prints 
work --transport null://null: exit 77, prints little mailqueue: the database file %/mail.db is not writable for user N: do this as user 0, who owns it, or change its owner or mode
retry 1: exit 77, prints little mailqueue: the database file %/mail.db is not writable for user N: do this as user 0, who owns it, or change its owner or mode
hold 2: exit 77, prints little mailqueue: the database file %/mail.db is not writable for user N: do this as user 0, who owns it, or change its owner or mode
delete 1: exit 77, prints little mailqueue: the database file %/mail.db is not writable for user N: do this as user 0, who owns it, or change its owner or mode
config mailMaxPerHour 5: exit 77, prints little mailqueue: the database file %/mail.db is not writable for user N: do this as user 0, who owns it, or change its owner or mode
migrate: exit 77, prints little mailqueue: the database file %/mail.db is not writable for user N: do this as user 0, who owns it, or change its owner or mode
2 pending, 1 parked
-- tables of an older version
MailQueue\DatabaseException [readonly] the tables have version 3 and must be upgraded to NEW before they can be read: run `mailqueue migrate` as a user who may write (the database file %/mail.db is not writable for user N: do this as user 0, who owns it, or change its owner or mode)
