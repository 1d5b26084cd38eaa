--TEST--
mailqueue work: a start that waits for other writers beyond the busy timeout does not exit with 75
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$app = temp_directory() . '/app.sqlite';
$queue = new MailQueue($app);
$queue->enqueue(mail_fields());
unset($queue);
$pdo = new PDO("sqlite:$app");
$pdo->exec('PRAGMA journal_mode = DELETE');
$pdo->exec('BEGIN EXCLUSIVE');
$process = proc_open(cli_command(['work']), [['file', '/dev/null', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes, dirname($app),
    ['PATH' => getenv('PATH'), 'MAILQUEUE_DATABASE' => $app, 'MAILQUEUE_TRANSPORT' => 'null://null'] + sanitizer_environment());
sleep(7); // the busy timeout is 5
$pdo->exec('COMMIT');
echo stream_get_contents($pipes[1]), 'exit ', proc_close($process), "\n";
?>
--EXPECT--
mailqueue: 1 sent; nothing more is due.
exit 0
