--TEST--
mailqueue: help for every command with examples that work; usage errors exit with 64 and help; missing settings exit with 78
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

/**
 * Runs a line of the help as printed, with the things that it names in place; returns its exit
 * code.
 */
function example(string $line): int
{
    static $dir;
    if ($dir === null) {
        $dir = temp_directory();
        file_put_contents("$dir/message.eml", "From: me@example.org\nTo: a@example.net\n\nHi\n");
        file_put_contents("$dir/password.txt", "correct horse\n");
        file_put_contents("$dir/message.json", json_encode(['from' => 'me@example.org', 'subject' => 'Spring', 'text' => 'Hi {{name}}']));
        file_put_contents("$dir/members.csv", "address,name\nann@example.net,Ann\n");
        (new MailQueue("$dir/app.sqlite"))->enqueue(mail_fields());
        (new MailQueue("$dir/other.sqlite"))->stats();
    }
    $database = 'app.sqlite';
    if (str_starts_with($line, 'mailqueue adopt')) { // the file of another program
        $database = str_contains($line, '--reference-column') ? 'jobs.sqlite' : 'messages.sqlite';
        file_exists("$dir/$database") || (new PDO("sqlite:$dir/$database"))->exec($database === 'jobs.sqlite'
            ? 'CREATE TABLE mail_queue (registration_number, mail_type, status)'
            : 'CREATE TABLE email_queues (id INTEGER PRIMARY KEY, mail_body, status)');
    }
    $line = strtr($line, ['/home/me/data/' => "$dir/", 'pgsql:host=db;dbname=app' => "$dir/other.sqlite", 'smtp://mail.example.org:587' => 'null://null']);
    return typed($line, ['MAILQUEUE_DATABASE' => "$dir/$database", 'MAILQUEUE_TRANSPORT' => 'null://null'], $dir)[0];
}

[$code, $help] = cli(['--help']);
preg_match_all('/^  ([a-z-]+) /m', strstr($help, 'Options of', true), $match);
echo "exit $code: ", implode(' ', $match[1]), "\n";
foreach ($match[1] as $command) {
    [$code, $text, $errors] = cli([$command, '--help']);
    must($code === 0 && $errors === '' && str_starts_with($text, "Usage: mailqueue $command"), "help of $command");
    must(str_contains($help, "\n  $command"), "$command is in the list");
    must(!str_contains($text, '--config-table=NAME'), "$command: what all commands take is shown once");
    foreach (explode("\n", "$help$text") as $line) {
        must(preg_match('/\A.{0,80}\z/u', $line) === 1, "80 columns: $line");
    }
    preg_match('/\nExamples:\n((?:  .+\n)+)/', $text, $examples) || must(false, "$command has examples");
    foreach (explode("\n", trim($examples[1])) as $line) {
        // No provider and no mailbox is asked from here: a name that is refused, or a password that is missing, shows
        // that the rest is accepted.
        $run = example(str_replace('--account main', '--account ../main', trim($line)));
        must($run === 0 || $run === 1 || $run === 64 && in_array($command, ['login', 'bounces'], true)
            || $run === 78 && $command === 'bounces', "exit $run: $line");
    }
    // Every option in the help is accepted.
    preg_match_all('/^  --([a-z-]+)(=\S+)?/m', $help . $text, $options, PREG_SET_ORDER);
    foreach ($options as $option) {
        [$code, , $errors] = cli([$command, "--$option[1]" . (isset($option[2]) ? '=1' : ''), '--help']);
        must($code === 0, "$command --$option[1]: $errors");
    }
}
show(cli(['--version']));
show(cli(['--version', '--json']));
show(cli([]));
show(cli(['transmit']));
show(cli(['work', '--fast']));
show(cli(['work', '--time-limit']));
show(cli(['work', '--json=1']));
show(cli(['work', '--time-limit', 'soon', '--database', '/tmp/x.sqlite', '--transport', 'null://null']));
show(cli(['work', '--max-bytes', '64X', '--database', '/tmp/x.sqlite', '--transport', 'null://null']));
show(cli(['status', 'now', '--database', '/tmp/x.sqlite']));
show(cli(['show', '--database', '/tmp/x.sqlite']));
show(cli(['show', '1', '2', '--database', '/tmp/x.sqlite']));
show(cli(["se\x1b[31mnd"]));
show(cli(['list', '--limit', '10001', '--database', '/tmp/x.sqlite']));
echo "-- did you mean\n";
foreach ([['statsu'], ['lsit'], ['dokter'], ['x'], ['work', '--queit'], ['config', '--set', 'x', '1'], ['list', '--stauts=parked'], ['list', '-json'], ['status', '--databse=/tmp/x'], ['--tabel', 'x', 'list'],
    ['show', '-1', '--database', '/tmp/x.sqlite'], ['-1']] as $words) {
    show(cli($words));
}
$database = temp_home() . '/settings.sqlite';
foreach ([['mailMaxPerHour=60'], ['mailMaxPerHour', '-1'], ['mailMaxPerHour', '-60.5'], ['maxPerHour'], ['mailqueueenabled', '0'], ['mailMaxPerHours=60'], ['zzz=1']] as $words) {
    show(cli(['config', '--database', $database, ...$words]));
}
show(cli(['list', '--limit', '-5', '--database', '/tmp/x.sqlite']));
echo "-- as JSON\n";
show(cli(['transmit', '--json']));
show(cli(['status', '--json']));
show(cli(['migrate', '--database', temp_home() . '/a.sqlite', '--table', 'a;b']));
show(cli(['delete', '7x', '--database', '/tmp/x.sqlite']));
show(cli(['status']));
show(cli(['work', '--database', temp_home() . '/a.sqlite']), temp_home());
show(cli(['work'], ['MAILQUEUE_DATABASE' => temp_home() . '/a.sqlite', 'MAILQUEUE_TRANSPORT' => 'null://null', 'DISPATCH_BATCH' => 'many']));
?>
--EXPECT--
exit 0: work status health stats metrics list show log retry resend uncertain hold delete forget suppress campaign bounce bounces config page send sendmail mailq login logout accounts migrate adopt migrate-store verdict doctor
exit 0
mailqueue 0.1.0
exit 0
{
    "version": "0.1.0"
}
exit 64
mailqueue: No command. mailqueue --help lists them.
exit 64
mailqueue: There is no command "transmit". mailqueue --help lists them.
exit 64
mailqueue: Unknown option --fast. mailqueue work --help lists the options.
exit 64
mailqueue: --time-limit needs a value: --time-limit=SECONDS
exit 64
mailqueue: --json takes no value.
exit 64
mailqueue: --time-limit must be a whole number, 1 to 31622400, not "soon".
exit 64
mailqueue: --max-bytes must be a number of bytes, such as 64M, not "64X".
exit 64
mailqueue: status takes no arguments, but got "now".
exit 64
mailqueue: show needs at least one id. mailqueue list shows the ids.
exit 64
mailqueue: show takes ID, but got "2".
exit 64
mailqueue: There is no command "se?[31mnd". mailqueue --help lists them.
exit 64
mailqueue: --limit must be a whole number, 1 to 10000, not "10001".
-- did you mean
exit 64
mailqueue: There is no command "statsu". Did you mean stats? mailqueue --help lists them.
exit 64
mailqueue: There is no command "lsit". Did you mean list? mailqueue --help lists them.
exit 64
mailqueue: There is no command "dokter". Did you mean doctor? mailqueue --help lists them.
exit 64
mailqueue: There is no command "x". mailqueue --help lists them.
exit 64
mailqueue: Unknown option --queit. Did you mean --quiet? mailqueue work --help lists the options.
exit 64
mailqueue: Unknown option --set. mailqueue config --help lists the options.
exit 64
mailqueue: Unknown option --stauts=parked. Did you mean --status? mailqueue list --help lists the options.
exit 64
mailqueue: Unknown option -json. Did you mean --json? mailqueue list --help lists the options.
exit 64
mailqueue: Unknown option --databse=/tmp/x. Did you mean --database? mailqueue status --help lists the options.
exit 64
mailqueue: Unknown option --tabel. Did you mean --table? mailqueue --help lists the options (options of a command come after it).
exit 64
mailqueue: "-1" is not the id of a mail. mailqueue list shows them.
exit 64
mailqueue: There is no command "-1". mailqueue --help lists them.
exit 64
mailqueue: "mailMaxPerHour=60" is one word; the value follows after a space: mailqueue config mailMaxPerHour 60
exit 78
mailqueue: mailMaxPerHour cannot be "-1"; allowed values: 0 … 1000000000
exit 78
mailqueue: mailMaxPerHour cannot be "-60.5"; allowed values: 0 … 1000000000
exit 64
mailqueue: mailqueue has no setting "maxPerHour". Did you mean mailMaxPerHour? mailqueue config lists them.
exit 64
mailqueue: mailqueue has no setting "mailqueueenabled". Did you mean mailQueueEnabled? mailqueue config lists them.
exit 64
mailqueue: mailqueue has no setting "mailMaxPerHours=60". Did you mean mailMaxPerHour? mailqueue config lists them.
exit 64
mailqueue: mailqueue has no setting "zzz=1". mailqueue config lists them.
exit 64
mailqueue: --limit must be a whole number, 1 to 10000, not "-5".
-- as JSON
exit 64
{"error":"There is no command \"transmit\". mailqueue --help lists them.","exit":64}
exit 78
{"error":"No database is set. Give --database PATH, set MAILQUEUE_DATABASE, or mailqueue.database in php.ini.","exit":78}
exit 78
mailqueue: the table must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
exit 64
mailqueue: "7x" is not the id of a mail. mailqueue list shows them.
exit 78
mailqueue: No database is set. Give --database PATH, set MAILQUEUE_DATABASE, or mailqueue.database in php.ini.
exit 73
mailqueue: There is no database %/a.sqlite, or this user cannot reach it. Check the path; mailqueue migrate creates it.
exit 78
mailqueue: DISPATCH_BATCH must be a whole number, 1 to 1000, not "many".
