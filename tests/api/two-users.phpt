--TEST--
Files that another local user prepared for the worker are refused or have no effect; the worker's own files are 0600
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--SKIPIF--
<?php if (posix_geteuid() !== 0) die('skip root is needed, for a second user'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
umask(022);
const OTHER = 65534;

/** The bytes of an intent record of this host, as a worker leaves it that dies after the reply. */
function record(int $job): string
{
    $host = hash('fnv1a64', gethostname(), true);
    $header = pack('a8VV', 'mqintent', 1, 1) . strrev($host) . pack('a40P', trim(file_get_contents('/proc/sys/kernel/random/boot_id')), 1) . str_repeat("\0", 56);
    $accepted = 1; // MQ_OUTCOME_DELIVERED
    return $header . pack('VVPPV', 4, 250, $job, time(), 1) . str_pad(chr($accepted), 100, "\0");
}
function modes(string $directory): array
{
    $modes = [];
    foreach (array_diff(scandir($directory), ['.', '..']) as $name) {
        $modes[preg_replace('/^[0-9a-f]{32}/', 'TOKEN', $name)] = sprintf('%o %d', fileperms("$directory/$name") & 07777, fileowner("$directory/$name"));
    }
    return $modes;
}
function fresh(): array
{
    $path = database();
    $queue = new MailQueue($path);
    $queue->enqueue(mail_fields());
    return [$path, $queue];
}
$work = fn(MailQueue $queue, ?string $log = ''): string => thrown(fn() => $queue->runWorker('null://null', log: $log));
function left(MailQueue $queue): string
{
    return count($queue->jobs()) . ' left';
}

echo "-- the worker's own files\n";
[$path, $queue] = fresh();
$queue->runWorker('null://null', log: dirname($path) . '/log', onEvent: function () use ($path): void {
    static $once = false;
    $once || print json_encode(modes("$path.run")) . "\n";
    $once = true;
});
printf("%o %o, %s\n", fileperms("$path.run") & 07777, fileperms(dirname($path) . '/log') & 07777, left($queue));

echo "-- a record: whose it is, what else its directory is, what becomes of a mail that was not sent\n";
foreach ([
    'ours' => fn($file) => null,
    "another's" => fn($file) => chown($file, OTHER),
    'writable for others' => fn($file) => chmod($file, 0666),
    'a second name' => fn($file) => link($file, "$file.2"),
    'a link' => fn($file) => rename($file, "$file.2") && symlink("$file.2", $file),
] as $what => $change) {
    foreach (['recoverStuckSending', 'claim', 'runWorker'] as $by) {
        [$path, $queue] = fresh();
        [$job] = $queue->claim();
        mkdir("$path.run", 0700);
        $file = "$path.run/$job->lockedBy.intent";
        file_put_contents($file, record($job->id));
        chmod($file, 0600);
        $change($file);
        (new PDO("sqlite:$path"))->exec('UPDATE mail_queue SET locked_until = 5');
        match ($by) {
            'recoverStuckSending' => $queue->recoverStuckSending(),
            'claim' => $queue->claim(),
            'runWorker' => $queue->runWorker('null://null', log: '', messageLimit: 1),
        };
        $jobs = $queue->jobs();
        echo "$what, $by: ", $jobs ? "{$jobs[0]->status->value}, {$jobs[0]->uncertain} uncertain" : 'gone', "\n";
    }
}

echo "-- the run directory\n";
foreach (['another user\'s' => fn($dir) => mkdir($dir) && chown($dir, OTHER), 'a link' => fn($dir) => mkdir("$dir.2") && symlink("$dir.2", $dir),
    'writable' => fn($dir) => mkdir($dir) && chmod($dir, 01777)] as $what => $make) {
    [$path, $queue] = fresh();
    $make("$path.run");
    echo "$what: ", str_replace([$path, (string) OTHER], ['%', 'N'], $work($queue)), ', ', left($queue), "\n";
}

echo "-- locks and logs\n";
$kinds = [
    "another's" => fn($file) => touch($file) && chown($file, OTHER),
    'a link' => fn($file) => touch("$file.2") && symlink("$file.2", $file),
    'a second name' => fn($file) => touch("$file.2") && link("$file.2", $file),
    'a pipe' => fn($file) => posix_mkfifo($file, 0600),
];
foreach ($kinds as $what => $make) {
    [$path, $queue] = fresh();
    mkdir("$path.run", 0700);
    $make("$path.run/worker-0.lock");
    echo "lock, $what: ", str_replace([$path, (string) OTHER], ['%', 'N'], $work($queue)), ', ', left($queue), "\n";
    [$path, $queue] = fresh();
    $make("$path.log");
    echo "log, $what: ", str_replace([$path, (string) OTHER], ['%', 'N'], $work($queue, "$path.log")), ', ', left($queue), ', ', (int) @filesize("$path.log"), " octets\n";
}

echo "-- an unprivileged worker, whose places root has prepared\n";
$shared = temp_directory();
chmod($shared, 01777);
$dir = temp_directory();
chown($dir, OTHER);
$code = 'umask(022); $q = new MailQueue($argv[1]); $q->enqueue(["from" => "a@example.org", "to" => "b@example.net", "subject" => "s", "text" => "t"]);
    try { echo $q->runWorker("null://null", log: $argv[2])->sent, " sent\n"; } catch (MailQueue\Exception $e) { echo get_class($e), ": ", $e->getMessage(), "\n"; }';
$run = function (string $log = '', bool $root = false) use ($dir, $shared, $code): string {
    $command = php_command('-d', "mailqueue.run_dir=$shared", '-r', $code, '--', "$dir/mail.db", $log);
    $environment = getenv();
    if (!$root) {
        [$command, $environment] = for_others($command, $environment);
        $command = ['setpriv', '--reuid=' . OTHER, '--regid=' . OTHER, '--clear-groups', ...$command];
    }
    $process = proc_open($command, [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes, '/', $environment);
    $text = stream_get_contents($pipes[1]);
    proc_close($process);
    return preg_replace('/-[0-9a-f]{16}/', '-%', str_replace([$shared, $dir, (string) OTHER], ['%', '%', 'N'], $text));
};
$name = "$shared/mail.db-" . hash('fnv1a64', "$dir/mail.db");
mkdir($name);
echo $run();
rmdir($name);
echo $run(), sprintf('%o', fileperms($name) & 07777), ' ', fileowner($name) === OTHER ? 'its own' : 'not its own', "\n";
touch("$shared/log");
chmod("$shared/log", 0666);
echo $run("$shared/log"), filesize("$shared/log"), " octets\n";
echo "root, where that user has been: ", $run(root: true);
?>
--EXPECT--
-- the worker's own files
{"TOKEN.intent":"600 0","worker-0.lock":"600 0"}
700 600, 0 left
-- a record: whose it is, what else its directory is, what becomes of a mail that was not sent
ours, recoverStuckSending: gone
ours, claim: gone
ours, runWorker: gone
another's, recoverStuckSending: failed, 1 uncertain
another's, claim: failed, 1 uncertain
another's, runWorker: failed, 1 uncertain
writable for others, recoverStuckSending: failed, 1 uncertain
writable for others, claim: failed, 1 uncertain
writable for others, runWorker: failed, 1 uncertain
a second name, recoverStuckSending: failed, 1 uncertain
a second name, claim: failed, 1 uncertain
a second name, runWorker: failed, 1 uncertain
a link, recoverStuckSending: failed, 1 uncertain
a link, claim: failed, 1 uncertain
a link, runWorker: failed, 1 uncertain
-- the run directory
another user's: MailQueue\Exception: the run directory %.run belongs to user N: start the worker as that user, or name another place (ini setting mailqueue.run_dir), 1 left
a link: MailQueue\Exception: the run directory %.run is a symbolic link; give the directory itself, 1 left
writable: MailQueue\Exception: the run directory %.run may be written by others; chmod it to 0700, 1 left
-- locks and logs
lock, another's: MailQueue\Exception: the worker's lock file %.run/worker-0.lock belongs to user N, not to user 0: remove it when no worker runs, 1 left
log, another's: MailQueue\DatabaseException [cantopen]: the log file %.log belongs to user N, not to user 0; give a file of the worker's own user (MAIL_QUEUE_LOG or the option log), 1 left, 0 octets
lock, a link: MailQueue\DatabaseException [cantopen]: cannot open the worker's lock file %.run/worker-0.lock: Too many levels of symbolic links; the worker's user must be able to write it, 1 left
log, a link: MailQueue\DatabaseException [cantopen]: the log file %.log is a symbolic link; give the file itself, 1 left, 0 octets
lock, a second name: MailQueue\Exception: the worker's lock file %.run/worker-0.lock has another name too (a hard link): remove it when no worker runs, 1 left
log, a second name: MailQueue\DatabaseException [cantopen]: the log file %.log has another name too (a hard link); give a file of the worker's own user (MAIL_QUEUE_LOG or the option log), 1 left, 0 octets
lock, a pipe: MailQueue\Exception: the worker's lock file %.run/worker-0.lock is not a regular file: remove it when no worker runs, 1 left
log, a pipe: MailQueue\DatabaseException [cantopen]: cannot open the log file %.log: No such device or address; give a file whose directory exists and is writable (MAIL_QUEUE_LOG or the option log), 1 left, 0 octets
-- an unprivileged worker, whose places root has prepared
MailQueue\Exception: the run directory %/mail.db-% belongs to user 0: start the worker as that user, or name another place (ini setting mailqueue.run_dir)
2 sent
700 its own
MailQueue\DatabaseException: the log file %/log belongs to user 0, not to user N; give a file of the worker's own user (MAIL_QUEUE_LOG or the option log)
0 octets
root, where that user has been: MailQueue\Exception: the run directory %/mail.db-% belongs to user N: start the worker as that user, or name another place (ini setting mailqueue.run_dir)
