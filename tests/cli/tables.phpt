--TEST--
mailqueue: a mistyped name creates no queue: only migrate and config KEY VALUE create tables; work before the first mail
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$dir = temp_directory();
$app = "$dir/app.sqlite";
$pdo = new PDO("sqlite:$app");
$pdo->exec('CREATE TABLE registrations (id INTEGER)');
$tables = static fn(): string => implode(' ', $pdo->query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")->fetchAll(PDO::FETCH_COLUMN));
$run = static function (string ...$arguments) use ($app, $dir): void {
    show(cli($arguments, ['MAILQUEUE_DATABASE' => $app, 'MAILQUEUE_TRANSPORT' => 'null://null']), $dir);
};
echo "-- no queue yet\n";
foreach ([['status'], ['list'], ['show', '1'], ['retry'], ['hold', '1'], ['delete', '1'], ['config'], ['config', 'mailBurst'], ['config', '--unset', 'mailBurst'],
    ['mailq'], ['sendmail', '-f', 'me@example.org', 'a@example.net'], ['sendmail', '-bs'], ['suppress', 'add', 'a@example.net'],
    ['suppress', 'import', '/dev/null'], ['doctor', '--json']] as $words) {
    [$code, $output, $errors] = cli($words, ['MAILQUEUE_DATABASE' => $app, 'MAILQUEUE_TRANSPORT' => 'null://null']);
    echo implode(' ', $words), ": exit $code", str_contains($output . $errors, 'app.sqlite has no table mail_queue and config. ') ? '' : ", $output$errors", "\n";
}
$run('work');
$run('work', '--quiet');
[$code, $json] = cli(['work', '--json'], ['MAILQUEUE_DATABASE' => $app, 'MAILQUEUE_TRANSPORT' => 'null://null']);
$report = json_decode($json, true);
$real = (new MailQueue("$dir/real.sqlite"))->runWorker('null://null', log: '');
echo "exit $code $report[end] $report[sent] ", array_keys($report) === [...array_keys(get_object_vars($real)), 'redirectTo'] ? 'as a report' : $json, "\n";
$run('work', '--daemon', '--time-limit', '1');
$run('work', '--table', 'mails');
echo $tables(), "\n";
file_put_contents("$dir/zero.sqlite", '');
$run('status', '--database', "$dir/zero.sqlite");
$run('work', '--database', "$dir/zero.sqlite");
clearstatcache();
echo filesize("$dir/zero.sqlite"), " bytes\n";

echo "-- a queue\n";
$run('migrate', '--table', 'mails', '--config-table', 'settings');
echo $tables(), "\n";
$run('status', '--table', 'MAILS', '--config-table', 'settingz');
$run('list', '--table', 'mails', '--config-table', 'settings');
$run('list', '--table', 'mail', '--config-table', 'settings');
$run('work', '--table', 'mails');
$run('work', '--table', 'mails', '--config-table', 'Settings');
$run('status', '--table', 'mails; x');
echo $tables(), "\n";
(new MailQueue($app))->enqueue(mail_fields());
$run('work');
$pdo->exec('DROP TABLE config');
$run('work');
$run('config', 'mailMaxPerHour', '60');
$run('work');

echo "-- no file\n";
$run('migrate', '--database', "$dir/none/");
$run('migrate', '--database', "$dir/none/.");
$run('config', 'mailMaxPerHour', '60', '--database', "$dir/new.sqlite");
$run('config', 'mailMaxPerHour', '--database', "sqlite:$dir/new.sqlite");
echo implode(' ', preg_grep('/^(none|new\.sqlite)$/', scandir($dir))), "\n";
?>
--EXPECT--
-- no queue yet
status: exit 73
list: exit 73
show 1: exit 73
retry: exit 73
hold 1: exit 73
delete 1: exit 73
config: exit 73
config mailBurst: exit 73
config --unset mailBurst: exit 73
mailq: exit 73
sendmail -f me@example.org a@example.net: exit 73
sendmail -bs: exit 73
suppress add a@example.net: exit 73
suppress import /dev/null: exit 73
doctor --json: exit 1
exit 0
mailqueue: 0 sent; there is no queue yet; the first mail creates it.
exit 0
exit 0 empty 0 as a report
exit 73
mailqueue: The database %/app.sqlite has no table mail_queue and config. Check the path, --table and --config-table; mailqueue migrate with the same options creates it.
exit 73
mailqueue: The database %/app.sqlite has no table mails and config. Check the path, --table and --config-table; mailqueue migrate with the same options creates it.
registrations
exit 73
mailqueue: The database %/zero.sqlite has no table mail_queue and config. Check the path, --table and --config-table; mailqueue migrate with the same options creates it.
exit 0
mailqueue: 0 sent; there is no queue yet; the first mail creates it.
0 bytes
-- a queue
exit 0
The tables are at version 6.
mails mails_body mails_bounce mails_campaign mails_count mails_log mails_recipient mails_spent mails_suppression mails_window registrations settings sqlite_sequence
exit 73
mailqueue: The database %/app.sqlite has no table settingz. Check the path, --table and --config-table; mailqueue migrate with the same options creates it.
exit 0
No mail.
exit 73
mailqueue: The database %/app.sqlite has no table mail. Check the path, --table and --config-table; mailqueue migrate with the same options creates it.
exit 73
mailqueue: The database %/app.sqlite has no table config. Check the path, --table and --config-table; mailqueue migrate with the same options creates it.
exit 0
mailqueue: 0 sent; nothing more is due.
exit 78
mailqueue: the table must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
mails mails_body mails_bounce mails_campaign mails_count mails_log mails_recipient mails_spent mails_suppression mails_window registrations settings sqlite_sequence
exit 0
mailqueue: 1 sent; nothing more is due.
exit 73
mailqueue: The database %/app.sqlite has no table config. Check the path, --table and --config-table; mailqueue migrate with the same options creates it.
exit 0
exit 0
mailqueue: 0 sent; nothing more is due.
-- no file
exit 73
mailqueue: cannot open %/none/: by its end it is a directory: give the path of a file
exit 73
mailqueue: cannot open %/none/.: by its end it is a directory: give the path of a file
exit 0
exit 0
60
new.sqlite
