--TEST--
A database that this process has open is not read as an attachment, key, log or password file: closing it would drop its locks
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$path = database();
$queue = new MailQueue($path, journal: 'wal');
$queue->enqueue(mail_fields());
link($path, "$path.hard");
symlink($path, "$path.soft");
$attach = fn(string $file): ?int => $queue->enqueue(['attachments' => [['path' => $file]]] + mail_fields());
foreach (['', '.hard', '.soft', '-wal', '-shm'] as $suffix) {
    try {
        $attach($path . $suffix);
        echo "attached $suffix\n";
    } catch (MailQueue\MessageException $e) {
        must(str_contains($e->getMessage(), 'a database that this process has open'), $e->getMessage());
    }
}
foreach (['log' => ['log' => $path], 'dkim' => ['log' => '', 'dkim' => "example.org:s1:$path"]] as $what => $options) {
    try {
        $queue->runWorker(...$options + ['transport' => 'null://null', 'timeLimit' => 1]);
        echo "$what: ran\n";
    } catch (MailQueue\Exception | ValueError $e) {
        echo "$what: ", str_contains($e->getMessage(), 'a database that this process has open') ? 'refused' : $e->getMessage(), "\n";
    }
}

// Another process that opens and closes the file is not the last one: the WAL stays.
$code = '$pdo = new PDO("sqlite:$argv[1]"); $pdo->query("SELECT count(*) FROM mail_queue")->fetchAll();';
shell_exec(escapeshellarg(getenv('TEST_PHP_EXECUTABLE')) . ' ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -r ' . escapeshellarg($code) . ' ' . escapeshellarg($path));
clearstatcache();
var_dump(file_exists("$path-wal"));
var_dump(is_int($queue->enqueue(mail_fields())));

// Other files that are open may be attached, and a database that is not.
$temporary = tmpfile();
fwrite($temporary, 'hello');
var_dump(is_int($attach(stream_get_meta_data($temporary)['uri'])));
unset($queue, $attach);
$other = new MailQueue(database());
unlink("$path.hard");
var_dump(is_int($other->enqueue(['attachments' => [['path' => $path]]] + mail_fields())));
unlink("$path.soft");
?>
--EXPECT--
log: refused
dkim: refused
bool(true)
bool(true)
bool(true)
bool(true)
