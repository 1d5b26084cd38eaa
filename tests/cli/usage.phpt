--TEST--
mailqueue: help for every command, usage errors exit 64, no settings exit 78
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

[$code, $help] = cli(['--help']);
preg_match_all('/^  ([a-z-]+) /m', strstr($help, 'Options of', true), $match);
echo "exit $code: ", implode(' ', $match[1]), "\n";
foreach ($match[1] as $command) {
    [$code, $text, $errors] = cli([$command, '--help']);
    must($code === 0 && $errors === '' && str_starts_with($text, "Usage: mailqueue $command"), "help of $command");
    // Every option that is shown is taken.
    preg_match_all('/^  --([a-z-]+)(=\S+)?/m', $text, $options, PREG_SET_ORDER);
    foreach ($options as $option) {
        [$code, , $errors] = cli([$command, "--$option[1]" . (isset($option[2]) ? '=1' : ''), '--help']);
        must($code === 0, "$command --$option[1]: $errors");
    }
}
show(cli(['--version']));
show(cli(['--version', '--json']));
show(cli([]));
show(cli(['send']));
show(cli(['work', '--fast']));
show(cli(['work', '--time-limit']));
show(cli(['work', '--json=1']));
show(cli(['work', '--time-limit', 'soon', '--database', '/tmp/x.sqlite', '--transport', 'null://null']));
show(cli(['status', 'now', '--database', '/tmp/x.sqlite']));
show(cli(['show', '--database', '/tmp/x.sqlite']));
show(cli(['show', '1', '2', '--database', '/tmp/x.sqlite']));
show(cli(["se\x1b[31mnd"]));
show(cli(['list', '--limit', '10001', '--database', '/tmp/x.sqlite']));
show(cli(['send', '--json']));
show(cli(['status', '--json']));
show(cli(['migrate', '--database', temp_home() . '/a.sqlite', '--table', 'a;b']));
show(cli(['delete', '7x', '--database', '/tmp/x.sqlite']));
show(cli(['status']));
show(cli(['work', '--database', temp_home() . '/a.sqlite']), temp_home());
show(cli(['work'], ['MAILQUEUE_DATABASE' => temp_home() . '/a.sqlite', 'MAILQUEUE_TRANSPORT' => 'null://null', 'DISPATCH_BATCH' => 'many']));
?>
--EXPECT--
exit 0: work status list show retry hold delete config sendmail mailq migrate migrate-store doctor
exit 0
mailqueue 0.1.0
exit 0
{
    "version": "0.1.0"
}
exit 64
mailqueue: No command. mailqueue --help lists them.
exit 64
mailqueue: There is no command "send". mailqueue --help lists them.
exit 64
mailqueue: Unknown option --fast. mailqueue work --help lists those that there are.
exit 64
mailqueue: --time-limit needs a value: --time-limit=SECONDS
exit 64
mailqueue: --json takes no value.
exit 64
mailqueue: --time-limit must be a whole number, 1 to 31622400, not "soon".
exit 64
mailqueue: status takes no arguments, but got "now".
exit 64
mailqueue: show needs at least one id. mailqueue list shows them.
exit 64
mailqueue: show takes ID, but got "2".
exit 64
mailqueue: There is no command "se?[31mnd". mailqueue --help lists them.
exit 64
mailqueue: --limit must be a whole number, 1 to 10000, not "10001".
exit 64
{"error":"There is no command \"send\". mailqueue --help lists them.","exit":64}
exit 78
{"error":"No database is set. Give --database PATH, set MAILQUEUE_DATABASE, or mailqueue.database in php.ini.","exit":78}
exit 78
mailqueue: the table must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
exit 64
mailqueue: "7x" is no id of a mail. mailqueue list shows them.
exit 78
mailqueue: No database is set. Give --database PATH, set MAILQUEUE_DATABASE, or mailqueue.database in php.ini.
exit 73
mailqueue: There is no database %/a.sqlite, or this user cannot reach it. Check the path; mailqueue migrate creates it.
exit 78
mailqueue: DISPATCH_BATCH must be a whole number, 1 to 1000, not "many".
