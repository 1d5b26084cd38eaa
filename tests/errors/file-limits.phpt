--TEST--
A new database belongs to its user only, a file size limit is an exception, a DSN after a blank is not a file name
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
umask(022);
$path = database();
(new MailQueue($path))->enqueue(mail_fields());
printf("%04o\n", fileperms($path) & 0777);

foreach ([' pgsql:host=db;password=secret', "\tmysql:host=db", 'sqlite: x'] as $wrong) {
    try {
        new MailQueue($wrong);
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
    }
    must(!file_exists(ltrim($wrong)) && !file_exists($wrong), 'no such file');
}
var_dump(MailQueue\Internal::describe(' pgsql:host=db;password=secret')['shown']);

$code = 'try { (new MailQueue($argv[1]))->enqueue(["from" => "a@example.com", "to" => "b@example.com", "subject" => "x",
    "text" => str_repeat("0123456789\n", 90000)]); } catch (MailQueue\DatabaseException $e) { echo $e->reason, ": ", $e->getMessage(); }';
$command = escapeshellarg(getenv('TEST_PHP_EXECUTABLE')) . ' ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -r ' . escapeshellarg($code) . ' ' . escapeshellarg($path);
echo str_replace($path, '%', (string) shell_exec("ulimit -f 200; $command 2>&1")), "\n";
?>
--EXPECTF--
0600
MailQueue::__construct(): Argument #1 ($database) must not begin with white space: remove it, or put ./ before the name of a file that begins so
MailQueue::__construct(): Argument #1 ($database) must not begin with white space: remove it, or put ./ before the name of a file that begins so
MailQueue::__construct(): Argument #1 ($database) must not begin with white space: remove it, or put ./ before the name of a file that begins so
string(13) "pgsql:host=db"
full: % cannot grow: file size limit (ulimit -f) reached: raise the limit; nothing was stored
