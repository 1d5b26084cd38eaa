--TEST--
MailQueue::default() opens the database in mailqueue.database
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';

function with_setting(string $database, string $code): string
{
    $process = proc_open(php_command('-d', "mailqueue.database=\"$database\"", '-r', $code), [1 => ['pipe', 'w']], $pipes);
    $text = stream_get_contents($pipes[1]);
    proc_close($process);
    return $text;
}
on_backends(['native', 'pgsql', 'mysql'], function (Backend $backend): void {
    echo thrown(fn() => MailQueue::default()), "\n";
    $path = str_replace('sqlite:', '', $backend->dsn);
    $code = '$q = MailQueue::default(); echo $q->enqueue(), $q === MailQueue::default() ? "same" : "new", "\n";';
    echo with_setting($path, $code);
    echo with_setting($backend->dsn, $code);
    echo with_setting('mysql:hots=x', 'try { MailQueue::default(); } catch (MailQueue\Exception $e) { echo $e->getMessage(), "\n"; }');
    echo $backend->queue()->stats()->pending, "\n";
    echo 'not at run time: ', var_export(ini_set('mailqueue.database', $path), true), "\n";
});
?>
--EXPECT--
MailQueue\Exception: The ini setting mailqueue.database is empty: set it to the path of the SQLite file, or to a server's DSN, in php.ini, or use new MailQueue($path)
1new
2new
$database: the DSN has a name that PDO does not know for MySQL: there are host, port, dbname, unix_socket, charset, user and password, with semicolons between (two within a value are one)
2
not at run time: false
