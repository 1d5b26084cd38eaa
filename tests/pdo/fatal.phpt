--TEST--
new MailQueue($pdo): a fatal error within our transaction leaves no lock on a persistent connection
--EXTENSIONS--
mailqueue
pdo_sqlite
--SKIPIF--
<?php if (!function_exists('proc_open')) die('skip needs proc_open'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
require __DIR__ . '/../lib/servers.inc';
$path = database();
(new MailQueue($path))->stats();
$root = dirname($path);
/* The subclass ends PHP when the second statement is prepared: our transaction is open then. */
file_put_contents("$root/index.php", <<<'PHP'
<?php
ini_set('display_errors', '0');
final class Stops extends PDO
{
    public function prepare(string $query, array $options = []): PDOStatement|false
    {
        if (isset($_GET['stop']) && str_contains($query, 'mail_body')) {
            $_GET['stop'] === 'exit' ? exit('exit') : trigger_error('stop', E_USER_ERROR);
        }
        return parent::prepare($query, $options);
    }
}
$pdo = new Stops('sqlite:' . __DIR__ . '/mail.db', null, null, [PDO::ATTR_PERSISTENT => true, PDO::ATTR_TIMEOUT => 1]);
$queue = new MailQueue($pdo);
if (isset($_GET['full'])) {
    ini_set('memory_limit', (string) (memory_get_usage(true) + (3 << 20)));
    $queue->enqueue(str_pad("From: a@example.org\r\nTo: b@example.org\r\n\r\n", 60 << 14, "body\r\n"));
    for ($size = 1; $size < 8; $size++) { // wherever the memory limit is reached
        $queue->enqueue(str_pad("From: a@example.org\r\nTo: b@example.org\r\n\r\n", $size << 20, "body\r\n"));
    }
}
$id = $queue->enqueue(['from' => 'a@example.org', 'to' => 'b@example.org', 'subject' => 's', 'text' => 't']);
echo "id $id ", getmypid();
PHP);
[$address] = MailQueueTest\web_server(php_command(), ['-t', $root]);
$get = fn(string $query): string => file_get_contents("http://$address/?$query", false,
    stream_context_create(['http' => ['ignore_errors' => true]]));
/* After each of them, no connection holds the write lock, though the process lives on. */
$other = new PDO("sqlite:$path", null, null, [PDO::ATTR_TIMEOUT => 0]);
$pid = null;
foreach (['x=1', 'stop=fatal', 'x=1', 'stop=exit', 'x=1', 'full=1', 'x=1'] as $query) {
    $text = $get($query);
    if (preg_match('/^(id \d+) (\d+)$/', $text, $m)) {
        $pid ??= $m[2];
        $text = $m[1] . ($m[2] === $pid ? '' : ' in another process');
    }
    $other->exec('BEGIN IMMEDIATE');
    $other->exec('COMMIT');
    $jobs = $other->query('SELECT count(*) FROM mail_queue')->fetchColumn();
    $bodies = $other->query('SELECT count(*) FROM mail_body')->fetchColumn();
    echo $jobs < 4 ? "$query: $text, $jobs mails $bodies bodies\n" : "$query: " . ($jobs === $bodies ? "each with its body\n" : "$jobs, $bodies\n");
}
?>
--EXPECT--
x=1: id 1, 1 mails 1 bodies
stop=fatal: , 1 mails 1 bodies
x=1: id 2, 2 mails 2 bodies
stop=exit: exit, 2 mails 2 bodies
x=1: id 3, 3 mails 3 bodies
full=1: each with its body
x=1: each with its body
