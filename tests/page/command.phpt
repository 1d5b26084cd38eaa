--TEST--
mailqueue page prints a file that works, makes hashes, and serves a look; no password of a database is in the file
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--FILE--
<?php
require __DIR__ . '/page.inc';

$directory = temp_directory();
$app = "$directory/app.sqlite";
(new MailQueue($app, table: 'post'))->enqueue(mail_fields());
[$code, $stub] = cli(['page', '--database', $app, '--table', 'post', '--orphan-check', 'people.id']);
echo "exit $code\n", str_replace([$directory, getenv('MQ_ROOT') ?: dirname(__DIR__, 2)], '%', $stub);
echo substr_count($stub, "\n"), " lines\n";
must(json_decode(cli(['page', '--json', '--database', $app, '--table', 'post', '--orphan-check', 'people.id'])[1]) == (object) ['page' => $stub], 'as JSON');
(new PDO("sqlite:$app"))->exec('CREATE TABLE people (id); INSERT INTO people VALUES (1), (2), (3)');
$browser = new Browser(serve_page($app, [], $stub));
echo $browser->logIn()->said(), ', ', preg_match('/id="count-pending">1</', $browser->body), ', ', preg_match('/Registrations in total: 3/', $browser->body), "\n";
foreach ([['page'], ['page', '--database', "$directory/none.sqlite"], ['page', '--serve', '0.0.0.0:80', '--database', $app, '--table', 'post'],
    ['page', '--serve', '127.0.0.1:8025', '--database', $app, '--table', 'post']] as $words) {
    show(cli($words), $directory);
}
$secret = cli(['page'], ['MAILQUEUE_DATABASE' => 'pgsql:host=127.0.0.1;port=1;dbname=app;password=s3cret'])[1];
must(!str_contains($secret, 's3cret'), 'no password');

echo "-- a server whose PHP lacks the extension\n";
file_put_contents("$directory/page.php", $stub);
$html = (string) shell_exec(escapeshellarg(PHP_BINARY) . ' -n ' . escapeshellarg("$directory/page.php") . ' 2>&1');
preg_match('~<p class="lead[^>]*>(.*?)</p>~', $html, $said);
echo html_entity_decode($said[1] ?? $html), "\n";

echo "-- a password\n";
foreach (["correct horse\n", "short\n", '', str_repeat('x', 73)] as $typed) {
    $process = proc_open(cli_command(['page', '--password']), [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes);
    fwrite($pipes[0], $typed);
    fclose($pipes[0]);
    $hash = trim(stream_get_contents($pipes[1]));
    echo var_export(password_verify('correct horse', $hash), true), ' ', trim(stream_get_contents($pipes[2])), ' ', proc_close($process), "\n";
}

echo "-- a look\n";
$port = MailQueueTest\free_port();
$environment = ['MAILQUEUE_PAGE_HASH' => password_hash(PASSWORD, PASSWORD_BCRYPT, ['cost' => 4]), 'TMPDIR' => temp_directory(), 'PATH' => getenv('PATH'), 'HOME' => temp_home()] + sanitizer_environment();
$server = proc_open(cli_command(['page', '--serve', "127.0.0.1:$port", '--database', $app, '--table', 'post']), [['file', '/dev/null', 'r'], ['pipe', 'w'], ['file', '/dev/null', 'w']], $pipes, null, $environment);
MailQueueTest\at_end(static fn() => proc_terminate($server) && proc_close($server));
must(wait_until(static fn(): bool => (bool) @stream_socket_client("tcp://127.0.0.1:$port")), 'it serves');
echo str_replace((string) $port, 'PORT', fgets($pipes[1]));
$browser = new Browser("127.0.0.1:$port");
echo $browser->logIn()->said(), ', ', preg_match('/id="count-pending">1</', $browser->body), "\n";
proc_terminate($server);
must(wait_until(static fn(): bool => !@stream_socket_client("tcp://127.0.0.1:$port")), 'it ends');
echo "ended\n";
?>
--EXPECT--
exit 0
<?php

// The page of mailqueue, by `mailqueue page`; its classes come with the extension. It
// is closed until MAILQUEUE_PAGE_HASH is set (mailqueue page --password), or until your
// own login is asked who may see it, by the second argument of of():
// fn () => $isAdmin ? 'admin' : ($isStaff ? 'viewer' : null)
require '%/web/autoload.php';

MailQueue\Web\Page::of(['--database=%/app.sqlite', '--table=post', '--orphan-check=people.id'])->handle();
9 lines
200 Overview, 1, 1
exit 78
mailqueue: No database is set. Give --database PATH, set MAILQUEUE_DATABASE, or mailqueue.database in php.ini.
exit 73
mailqueue: There is no database %/none.sqlite, or this user cannot reach it. Check the path; mailqueue migrate creates it.
exit 64
mailqueue: --serve takes an address of this machine and a port, such as 127.0.0.1:8025. Others need a web server with HTTPS.
exit 78
mailqueue: The page needs a password: mailqueue page --password makes a hash; set MAILQUEUE_PAGE_HASH to it.
-- a server whose PHP lacks the extension
This PHP has not loaded the extension mailqueue. Enable it for this server (on Debian: phpenmod mailqueue), then start the server again.
-- a password
true  0
false mailqueue: The password must have 8 to 72 bytes. 64
false mailqueue: The password must have 8 to 72 bytes. 64
false mailqueue: The password must have 8 to 72 bytes. 64
-- a look
http://127.0.0.1:PORT/ shows the page; Ctrl+C ends it.
200 Overview, 1
ended
