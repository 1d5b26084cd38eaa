--TEST--
mail() into a server: one connection per request, which ends with it; a forked child has its own; a lost one is reopened
--EXTENSIONS--
mailqueue
pdo_pgsql
pcntl
--SKIPIF--
<?php require __DIR__ . '/../lib/pgsql.inc'; die(MailQueueTest\PostgreSQL::missing()); ?>
--FILE--
<?php
require __DIR__ . '/dsn.inc';

$server = new PasswordServer();
$root = $server->root('app');
$sessions = fn(): int => (int) $root->query("SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'")->fetchColumn();
$count = fn(): int => (int) $root->query('SELECT count(*) FROM mail_queue')->fetchColumn();
$settings = ['-d', 'mailqueue.capture_mail=1', '-d', "mailqueue.database=\"{$server->dsn()}\"", '-d', 'mailqueue.database_user=app',
    '-d', 'mailqueue.database_password="' . addcslashes(SECRET, '"\\') . '"'];
$environment = ['PATH' => getenv('PATH')] + sanitizer_environment();
$dir = temp_directory();

echo "-- requests\n";
file_put_contents("$dir/index.php", '<?php
    echo var_export(mail("ann@example.net", "one", "one"), true), " ", var_export(mail("ann@example.net", "two", "two"), true), " ",
        file_get_contents("http://127.0.0.1:$_GET[port]/");
');
/* Prints the number of sessions while the request still runs. */
$asked = stream_socket_server('tcp://127.0.0.1:0');
$port = substr(strrchr(stream_socket_get_name($asked, false), ':'), 1);
[$web] = MailQueueTest\web_server(php_command(...$settings, ...['-d', 'allow_url_fopen=1']), ['-t', $dir], $environment);
$get = function () use ($web, $port, $asked, $sessions): void {
    $client = stream_socket_client("tcp://$web");
    fwrite($client, "GET /?port=$port HTTP/1.0\r\n\r\n");
    $question = stream_socket_accept($asked, 30);
    while (trim(fgets($question)) !== '');
    fwrite($question, "HTTP/1.0 200 OK\r\n\r\n" . $sessions());
    fclose($question);
    echo trim(strstr(stream_get_contents($client), "\r\n\r\n")), " sessions\n";
};
for ($i = 0; $i < 2; $i++) {
    $get();
    echo wait_until(fn() => $sessions() === 0) ? "none after the request\n" : "one stays\n";
}
echo $count(), " mails\n";

echo "-- a forked child\n";
$code = 'mail("a@example.net", "parent", "x");
    if (($pid = pcntl_fork()) === 0) {
        exit(mail("a@example.net", "child", "x") ? 0 : 1);
    }
    pcntl_waitpid($pid, $status);
    echo $status, " ", var_export(mail("a@example.net", "parent", "x"), true), "\n";
    if (($pid = pcntl_fork()) === 0) {
        exit(0);
    }
    pcntl_waitpid($pid, $status);
    echo $status, " ", var_export(mail("a@example.net", "parent", "x"), true), "\n";
    echo fgets(STDIN);
    usleep(5000); // a connection that just answered is not asked first
    echo var_export(mail("a@example.net", "parent", "x"), true), "\n";';
$leaky = ['ASAN_OPTIONS' => getenv('ASAN_OPTIONS') . ':detect_leaks=0'];
$process = proc_open(php_command(...$settings, ...['-r', $code]), [['pipe', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes, $dir, $leaky + $environment);
echo fgets($pipes[1]), fgets($pipes[1]);
must(wait_until(fn() => $sessions() === 1), "the children's sessions are gone");
must($root->query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'")->rowCount() === 1, 'one session');
must(wait_until(fn() => $sessions() === 0), 'it is lost');
fwrite($pipes[0], "lost\n");
fclose($pipes[0]);
echo stream_get_contents($pipes[1]);
proc_close($process);
echo $count(), " mails\n";
$server->server->stop();
$process = proc_open(php_command(...$settings, ...['-r', 'echo var_export(mail("a@example.net", "parent", "x"), true), "\n";']), [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes, $dir, $environment);
echo preg_match('/Warning: mail\(\): The mail was not queued: pgsql:\S+ cannot be opened: .*\n?false/s', $text = stream_get_contents($pipes[1])) ? "away: a warning and false\n" : $text;
?>
--EXPECT--
-- requests
true true 1 sessions
none after the request
true true 1 sessions
none after the request
4 mails
-- a forked child
0 true
0 true
lost
true
9 mails
away: a warning and false
