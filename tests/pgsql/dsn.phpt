--TEST--
new MailQueue('pgsql:…'): a connection of its own, reopened when it is lost; user and password from each source
--EXTENSIONS--
mailqueue
pdo_pgsql
--SKIPIF--
<?php require __DIR__ . '/../lib/pgsql.inc'; die(MailQueueTest\PostgreSQL::missing()); ?>
--FILE--
<?php
require __DIR__ . '/dsn.inc';

$server = new PasswordServer();
$dir = temp_directory();
$opens = static fn(string $dsn): string => thrown(fn() => new MailQueue($dsn)) === 'nothing' ? 'opens' : 'refused';
$quoted = "'" . addcslashes(SECRET, "'\\") . "'";

echo "-- user and password\n";
$ways = [
    'none' => [],
    'environment' => ['MAILQUEUE_DATABASE_USER' => 'app', 'MAILQUEUE_DATABASE_PASSWORD' => SECRET],
    'wrong' => ['MAILQUEUE_DATABASE_USER' => 'app', 'MAILQUEUE_DATABASE_PASSWORD' => SECRET . 'x'],
    'file' => ['MAILQUEUE_DATABASE_USER' => 'app', 'MAILQUEUE_DATABASE_PASSWORD_FILE' => "$dir/password"],
    'both, the variable first' => ['MAILQUEUE_DATABASE_USER' => 'app', 'MAILQUEUE_DATABASE_PASSWORD' => SECRET,
        'MAILQUEUE_DATABASE_PASSWORD_FILE' => "$dir/none"],
    "libpq's" => ['PGUSER' => 'app', 'PGPASSWORD' => SECRET],
    '.pgpass' => ['PGUSER' => 'app', 'PGPASSFILE' => "$dir/pgpass"],
];
file_put_contents("$dir/password", SECRET . "\n");
file_put_contents("$dir/pgpass", "*:*:app:app:" . addcslashes(SECRET, '\\:') . "\n");
chmod("$dir/password", 0600);
chmod("$dir/pgpass", 0600);
foreach ($ways as $name => $environment) {
    echo "$name: ", with_environment($environment, fn() => $opens($server->dsn())), "\n";
}
echo 'in the DSN: ', $opens("{$server->dsn()};user=app;password=$quoted"), ', ', $opens("{$server->dsn()} user = app password = $quoted"), "\n";
echo 'in both, the DSN first: ', with_environment($ways['wrong'], fn() => $opens("{$server->dsn()};password=$quoted")), "\n";
$ini = 'mailqueue.database_password="' . addcslashes(SECRET, '"\\') . '"';
foreach ([['-d', $ini], []] as $settings) {
    $php = php_command('-d', "mailqueue.database=\"{$server->dsn()}\"", '-d', 'mailqueue.database_user=app', ...$settings,
        ...['-r', 'try { echo MailQueue::default()->stats()->pending; } catch (Exception $e) { echo "refused"; }']);
    $process = proc_open($php, [1 => ['pipe', 'w']], $pipes);
    echo 'php.ini: ', stream_get_contents($pipes[1]), "\n";
}
echo "-- the file\n";
$named = ['MAILQUEUE_DATABASE_USER' => 'app', 'MAILQUEUE_DATABASE_PASSWORD_FILE' => "$dir/password"];
$text = fn(): string => with_environment($named, fn() => thrown(fn() => new MailQueue($server->dsn()), $dir));
chmod("$dir/password", 0640);
echo $text(), "\n";
unlink("$dir/password");
echo $text(), "\n";
touch("$dir/password");
chmod("$dir/password", 0600);
echo $text(), "\n";
unlink("$dir/password");
mkdir("$dir/password", 0700);
echo $text(), "\n";
rmdir("$dir/password");

putenv('PGUSER=app');
putenv('PGPASSWORD=' . SECRET);
echo "-- the connection\n";
$root = $server->root('app');
$sessions = fn(): int => (int) $root->query("SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'")->fetchColumn();
$queue = new MailQueue($server->dsn());
must(wait_until(fn() => $sessions() === 1), 'one session');
$about = fn(string $what): string => $root->query("SELECT $what FROM pg_stat_activity WHERE usename = 'app'")->fetchColumn();
echo $about('application_name'), "\n";
echo $queue->enqueue(mail_fields(text: "Grüße\n")), ' ', $queue->diagnostics()['server']['kind'], "\n";
$root->query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'");
must(wait_until(fn() => $sessions() === 0), 'no session');
usleep(5000); // if the server answered within the last 2 ms, it is not checked first
echo 'enqueued over a connection reopened: ', $queue->enqueue(mail_fields()), "\n";
$root->query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'");
must(wait_until(fn() => $sessions() === 0), 'no session');
echo 'read over one: ', $queue->stats()->pending, "\n";
echo 'claimed: ', $queue->claim()[0]->id, "\n";
echo 'waits for locks: ';
$queue = new MailQueue($server->dsn(), busyTimeout: 100);
$root->exec('BEGIN; LOCK TABLE mail_queue');
$begin = microtime(true);
echo thrown(fn() => $queue->enqueue(mail_fields())), "\n";
must(microtime(true) - $begin < 40, 'not for long');
$root->exec('ROLLBACK');
$queue = null;
must(wait_until(fn() => $sessions() === 0), 'the session ends with the queue');
$queue = new MailQueue($server->dsn());
$server->server->stop();
$hide = fn(string $text): string => str_replace([$server->host, $server->directory], ['HOST', 'DIR'], $text);
echo $hide(thrown(fn() => $queue->enqueue(mail_fields()))), "\n";
echo $hide(thrown(fn() => new MailQueue("pgsql:host=$server->directory;dbname=app"))), "\n";
$server->server->start();
echo 'back: ', $queue->enqueue(mail_fields()), "\n";

echo "-- what it is not\n";
foreach (["pgsql:host=$server->directory;dbname=none", "pgsql:host=$server->directory;dbname=app;user=nobody"] as $dsn) {
    echo $hide(thrown(fn() => new MailQueue($dsn))), "\n";
}
echo thrown(fn() => new MailQueue("pgsql:host=x\0y")), "\n";
echo thrown(fn() => new MailQueue('pgsql:host=x', journal: 'wal')), "\n";
foreach (['uri:file:///etc/dsn', 'postgresql://app@db/app', 'mariadb:host=db', 'odbc:x'] as $dsn) {
    echo strstr(thrown(fn() => new MailQueue($dsn)), ': give', true), "\n";
}
?>
--EXPECT--
-- user and password
none: refused
environment: opens
wrong: refused
file: opens
both, the variable first: opens
libpq's: opens
.pgpass: opens
in the DSN: opens, opens
in both, the DSN first: opens
php.ini: 0
php.ini: refused
-- the file
MailQueue\Exception: MAILQUEUE_DATABASE_PASSWORD_FILE: the file %/password can be read by others than its owner: chmod 600
MailQueue\Exception: MAILQUEUE_DATABASE_PASSWORD_FILE: the file %/password cannot be read: No such file or directory; correct the path, or chown it to the user that this runs as
MailQueue\Exception: MAILQUEUE_DATABASE_PASSWORD_FILE: the file %/password is empty
MailQueue\Exception: MAILQUEUE_DATABASE_PASSWORD_FILE: the file %/password is not a regular file: give the path of one that has the password only
-- the connection
mailqueue
1 pgsql
enqueued over a connection reopened: 2
read over one: 2
claimed: 1
waits for locks: MailQueue\DatabaseException [busy]: SQLSTATE[55P03]: Lock not available: 7 ERROR:  canceling statement due to lock timeout: keep other connections' transactions short, or raise lock_timeout
MailQueue\DatabaseException [io]: pgsql:host=HOST;dbname=app cannot be opened: SQLSTATE[08006] [7] connection to server at "HOST", port 5432 failed: Connection refused: is the server up, and are host and port right?
MailQueue\DatabaseException [io]: pgsql:host=DIR;dbname=app cannot be opened: SQLSTATE[08006] [7] connection to server on socket "DIR/.s.PGSQL.5432" failed: No such file or directory: is the server up, and are host and port right?
back: 3
-- what it is not
MailQueue\Exception: pgsql:host=DIR;dbname=none cannot be opened: SQLSTATE[08006] [7] connection to server on socket "DIR/.s.PGSQL.5432" failed: FATAL:  database "none" does not exist: correct the DSN, or user and password (MAILQUEUE_DATABASE_USER, MAILQUEUE_DATABASE_PASSWORD_FILE)
MailQueue\Exception: pgsql:host=DIR;dbname=app cannot be opened: SQLSTATE[08006] [7] connection to server on socket "DIR/.s.PGSQL.5432" failed: FATAL:  password authentication failed for user "nobody": correct the DSN, or user and password (MAILQUEUE_DATABASE_USER, MAILQUEUE_DATABASE_PASSWORD_FILE)
ValueError: MailQueue::__construct(): Argument #1 ($database) must not contain any null bytes
ValueError: MailQueue::__construct(): Argument #7 ($journal) must be null for a server: it is a file's
MailQueue\Exception: $database: there is no such kind of database
MailQueue\Exception: $database: there is no such kind of database
MailQueue\Exception: $database: there is no such kind of database
MailQueue\Exception: $database: there is no such kind of database
