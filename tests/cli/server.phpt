--TEST--
mailqueue with a database server: each command, exit codes when the server is down or refuses, doctor's findings
--EXTENSIONS--
mailqueue
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../lib/pgsql.inc';
die(MailQueueTest\PostgreSQL::missing() ?: (MailQueueTest\PostgreSQL::faketime() === '' ? 'skip libfaketime is missing; tools/setup installs it' : ''));
?>
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
require __DIR__ . '/../lib/pgsql.inc';

use MailQueueTest\PostgreSQL;

$server = new PostgreSQL(['autovacuum' => 'off'], '+90s');
$dsn = $server->schema();
preg_match('/host=([^;]*)/', $dsn, $match);
$directory = $match[1];
$run = static function (array $words, array $environment = [], string $input = '') use ($dsn): array {
    $environment += ['MAILQUEUE_DATABASE' => $dsn, 'MAILQUEUE_TRANSPORT' => 'null://null', 'PATH' => getenv('PATH'), 'HOME' => temp_home()];
    $process = proc_open(cli_command($words), [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes, temp_home(), $environment + sanitizer_environment());
    @fwrite($pipes[0], $input); // the command may end without reading it
    fclose($pipes[0]);
    $said = [stream_get_contents($pipes[1]), stream_get_contents($pipes[2])];
    return [proc_close($process), ...$said];
};
$message = "From: club@example.org\nTo: ann@example.net\nSubject: Hello\n\nHello\n";

echo "-- no queue yet\n";
show($run(['status']));
show($run(['work', '--quiet']));
show($run(['migrate']));
echo "-- a queue\n";
show($run(['sendmail', '-t'], [], $message));
foreach ([['list'], ['show', '1'], ['hold', '1'], ['retry', '1'], ['config', 'mailMaxPerHour', '60'], ['config', 'mailMaxPerHour'], ['mailq'], ['delete', '1'], ['status']] as $words) {
    [$code, $output, $errors] = $run($words);
    echo implode(' ', $words), ": exit $code $errors", strtok(trim($output), "\n"), "\n";
}
show($run(['list', '--table', 'mails']));

echo "-- doctor\n";
$doctor = static function (array $environment = []) use ($run, $directory): void {
    [$code, $output, $errors] = $run(['doctor'], $environment);
    $output = str_replace(dirname(realpath(dirname(__DIR__, 2) . '/bin/mailqueue')), 'BIN', $output);
    $output = preg_replace(['~/\S*(queue-)[0-9a-f]{16}~', '/\d+\.\d+\.\d+\S*/', '/PostgreSQL .*(?=,)/', '/\b[89]\d\.\d(?= s )/', '/socket ".*"/'], ['$1ID', 'N.N.N', 'PostgreSQL N', '90.0', 'socket'], $output);
    echo "exit $code $errors", str_replace($directory, 'DIR', $output), "\n";
};
$doctor();
$pdo = new PDO($dsn);
$pdo->exec('ALTER ROLE test SET default_transaction_read_only = on');
$doctor();
$pdo->exec('ALTER ROLE test RESET default_transaction_read_only');
$pdo = null;

echo "-- refused\n";
$hidden = [$directory, dirname(__DIR__, 2)];
show($run(['status'], ['MAILQUEUE_DATABASE' => "pgsql:host=$directory;dbname=none;user=test"]), ...$hidden);
show($run(['status'], ['MAILQUEUE_DATABASE' => "pgsql:host=$directory;dbname=postgres;user=none"]), ...$hidden);
show($run(['status'], ['MAILQUEUE_DATABASE' => 'postgres://db/app']), ...$hidden);
show($run(['sendmail', '-t'], ['MAILQUEUE_DATABASE' => "pgsql:host=$directory;dbname=none;user=test"], $message), ...$hidden);
$php = cli_command(['status']);
$at = array_search('extension=pdo_pgsql', $php, true);
array_splice($php, $at - 1, 2);
$process = proc_open($php, [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes, temp_home(), ['MAILQUEUE_DATABASE' => $dsn, 'PATH' => getenv('PATH')] + sanitizer_environment());
$text = stream_get_contents($pipes[1]);
show([proc_close($process), $text, '']);

echo "-- a bootstrap file's connection is lost\n";
$boot = temp_directory() . '/boot.php';
$new = 'new PDO(' . var_export($dsn, true) . ')';
file_put_contents($boot, "<?php\n\$pdo = $new;\n\$queue = new MailQueue(\$pdo);\n\$id = \$pdo->query('SELECT pg_backend_pid()')->fetchColumn();\n"
    . "($new)->exec(\"SELECT pg_terminate_backend(\$id)\");\nreturn ['queue' => \$queue];\n");
[$code, $output, $errors] = $run(['doctor', '--bootstrap', $boot]);
echo "exit $code $errors", implode("\n", preg_grep('/^(ok    mail|look|      )/', explode("\n", $output))), "\n";

echo "-- a bootstrap file's queue was moved\n";
file_put_contents($boot, "<?php return ['queue' => new MailQueue($new)];");
$run(['migrate-store', $dsn, temp_directory() . '/new.sqlite']);
[, $output] = $run(['doctor', '--bootstrap', $boot]);
echo preg_replace('~/\S+/~', '%/', implode("\n", preg_grep('/was moved|migrate-store .*sqlite/', explode("\n", $output)))), "\n";
$run(['config', '--unset', 'mailQueueMovedTo']);

echo "-- away\n";
$server->stop();
foreach ([['status'], ['list'], ['show', '1'], ['retry'], ['hold', '1'], ['delete', '1'], ['config'], ['migrate'], ['mailq'], ['work'], ['sendmail', '-t'], ['sendmail', '-bs']] as $words) {
    [$code, $output, $errors] = $run($words, [], $message);
    echo implode(' ', $words), ": exit $code ", preg_replace('/^421 4.3.0 \S+/', '421 4.3.0 HOST', $output), preg_match('/^mailqueue: pgsql:.* cannot be opened: .*No such file.*is the server up/', $errors) ? '' : $errors, "\n";
}
show($run(['status', '--json']), ...$hidden);
$doctor();
$server->start();
show($run(['sendmail', '-t'], [], $message));
?>
--EXPECT--
-- no queue yet
exit 73
mailqueue: The database on the server has no table mail_queue and config. Check the DSN, --table and --config-table; mailqueue migrate with the same options creates it.
exit 0
exit 0
The tables are at version 6.
-- a queue
exit 0
list: exit 0 id  status   tries  next     recipients       type  reference  subject
show 1: exit 0 id              1
hold 1: exit 0 1 parked.
retry 1: exit 0 1 brought back.
config mailMaxPerHour 60: exit 0 
config mailMaxPerHour: exit 0 60
mailq: exit 0 -Queue ID-  --Size-- ----Arrival Time---- -Sender/Recipient-------
delete 1: exit 0 1 deleted.
status: exit 0 pending   0
exit 73
mailqueue: The database on the server has no table mails. Check the DSN, --table and --config-table; mailqueue migrate with the same options creates it.
-- doctor
exit 1 ok    PHP N.N.N mailqueue N.N.N
ok    mail goes to null://null
ok    libcurl N.N.N
ok    PostgreSQL N, without TLS
ok    the server can be written
look  the server's clock is 90.0 s ahead of this host's
      The queue goes by the server's clock, and sendAt by that of the host that enqueues: check both (timedatectl).
look  autovacuum is off
      A queue changes all the time and becomes slow without it: autovacuum = on.
ok    no transaction is open for long
ok    run directory queue-ID does not exist yet
ok    log queue-ID/mail-queue.log does not exist yet
ok    log is not under a document root
look  no worker has run yet
      Add to the crontab of the user that owns the database (crontab -e), below MAILQUEUE_TRANSPORT=…:
        * * * * * BIN/mailqueue work --quiet --database 'pgsql:host=DIR;dbname=postgres;user=test;options='\''-csearch_path=test1'\'''
ok    sending is switched on
ok    0 mails are parked
ok    the relay is not paused

exit 1 ok    PHP N.N.N mailqueue N.N.N
ok    mail goes to null://null
ok    libcurl N.N.N
ok    PostgreSQL N, without TLS
look  the server is read-only
      Look at default_transaction_read_only of the server, database and role.
look  the server's clock is 90.0 s ahead of this host's
      The queue goes by the server's clock, and sendAt by that of the host that enqueues: check both (timedatectl).
look  autovacuum is off
      A queue changes all the time and becomes slow without it: autovacuum = on.
ok    no transaction is open for long
ok    run directory queue-ID does not exist yet
ok    log queue-ID/mail-queue.log does not exist yet
ok    log is not under a document root
look  no worker has run yet
      Add to the crontab of the user that owns the database (crontab -e), below MAILQUEUE_TRANSPORT=…:
        * * * * * BIN/mailqueue work --quiet --database 'pgsql:host=DIR;dbname=postgres;user=test;options='\''-csearch_path=test1'\'''
ok    sending is switched on
ok    0 mails are parked
ok    the relay is not paused

-- refused
exit 78
mailqueue: pgsql:host=%;dbname=none cannot be opened: SQLSTATE[08006] [7] connection to server on socket "%/.s.PGSQL.5432" failed: FATAL:  database "none" does not exist: correct the DSN, or user and password (MAILQUEUE_DATABASE_USER, MAILQUEUE_DATABASE_PASSWORD_FILE)
exit 78
mailqueue: pgsql:host=%;dbname=postgres cannot be opened: SQLSTATE[08006] [7] connection to server on socket "%/.s.PGSQL.5432" failed: FATAL:  role "none" does not exist: correct the DSN, or user and password (MAILQUEUE_DATABASE_USER, MAILQUEUE_DATABASE_PASSWORD_FILE)
exit 78
mailqueue: $database: there is no such kind of database: give the path of an SQLite file, "sqlite:" and the path, "pgsql:host=db;dbname=app" (PostgreSQL) or "mysql:host=db;dbname=app" (MySQL, MariaDB)
exit 78
mailqueue: pgsql:host=%;dbname=none cannot be opened: SQLSTATE[08006] [7] connection to server on socket "%/.s.PGSQL.5432" failed: FATAL:  database "none" does not exist: correct the DSN, or user and password (MAILQUEUE_DATABASE_USER, MAILQUEUE_DATABASE_PASSWORD_FILE)
exit 78
mailqueue: $database: PHP's extension pdo_pgsql is not loaded: install it (Debian: apt-get install php-pgsql) and look at php --ini for the place where this PHP loads extensions
-- a bootstrap file's connection is lost
exit 1 ok    mail goes to null://null
look  SQLSTATE[HY000]: General error: 7 no connection to the server: the connection is lost: open a new PDO and a MailQueue with it; what was being committed may be stored or not
      Start the server, or check its log and the way to it (host, firewall).
-- a bootstrap file's queue was moved
look  This queue was moved to %/new.sqlite: nothing is sent from here (config key mailQueueMovedTo).
-- away
status: exit 75 
list: exit 75 
show 1: exit 75 
retry: exit 75 
hold 1: exit 75 
delete 1: exit 75 
config: exit 75 
migrate: exit 75 
mailq: exit 75 
work: exit 75 
sendmail -t: exit 75 
sendmail -bs: exit 75 421 4.3.0 HOST cannot take mail now

exit 75
{"error":"pgsql:host=%;dbname=postgres cannot be opened: SQLSTATE[08006] [7] connection to server on socket \"%/.s.PGSQL.5432\" failed: No such file or directory: is the server up, and are host and port right?","exit":75}
exit 1 ok    PHP N.N.N mailqueue N.N.N
ok    mail goes to null://null
look  pgsql:host=DIR;dbname=postgres cannot be opened: SQLSTATE[08006] [7] connection to server on socket failed: No such file or directory: is the server up, and are host and port right?
      Start the server, or check its log and the way to it (host, firewall).

exit 0
