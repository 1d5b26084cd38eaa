--TEST--
mailqueue campaign: its message from JSON, recipients from CSV and JSON lines, with lines that cannot be taken; its way, failures, usage
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
require __DIR__ . '/../lib/cli.inc';
on_backends(['native', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $queue->stats();
    $directory = temp_directory();
    $environment = ['MAILQUEUE_DATABASE' => $backend->dsn, 'MAIL_QUEUE_LOG' => '/dev/null', 'XDG_STATE_HOME' => (string) getenv('XDG_STATE_HOME')];
    // How fast it went is not this test's subject.
    $shown = fn(string $text): string => preg_replace(['/^(rate|ends) .*\n/m', '/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/', '/ +$/m'], ['', 'TIME', ''], str_replace("$directory/", '', $text));
    $run = function (string ...$words) use ($environment, $directory, $shown): void {
        [$code, $out, $errors] = cli(['campaign', ...$words], $environment);
        echo implode(' ', array_map(fn(string $word): string => basename($word), $words)), ": exit $code\n", $shown($out . $errors);
    };
    $file = function (string $name, string $content) use ($directory): string {
        file_put_contents("$directory/$name", $content);
        return "$directory/$name";
    };

    echo "-- the message\n";
    $run('status');
    $run('create', 'spring', $file('broken.json', '{"from": '));
    $run('create', 'spring', $file('wrong.json', '{"from": "news@example.org", "subject": "x", "text": "{{#if a}}"}'));
    $run('create', 'spring', $file('lost.json', '{"from": "news@example.org", "subject": "x", "text": "y", "attachments": ["nothing.txt"]}'));
    mkdir("$directory/files");
    $file('files/terms.txt', 'the terms');
    $message = $file('message.json', json_encode(['from' => 'News <news@example.org>', 'subject' => 'Hello {{name}}', 'text' => 'You live in {{city}}.{{#if points}} {{points}} points.{{/if}}',
        'attachments' => ['files/terms.txt', ['path' => 'files/terms.txt', 'name' => 'again.txt']]]));
    $run('create', 'spring', $message);
    $run('create', 'spring', $message, '--type', 'news', '--priority', '-20', '--max-attempts', '1');
    $run('create', 'spring', $message, '--priority', 'high');
    $run('create', 'spring', $message, '--priority', '-101');
    $run('create', 'spring', $message, '--max-attempts', '0');
    $run('start', 'spring');

    echo "-- recipients\n";
    $run('add', 'spring', $file('bad.csv', "email,name,city\nann@example.net,Ann,Ulm\n"));
    $run('add', 'spring', $file('half.csv', "\xEF\xBB\xBFName;Address;city;points;note\r\nAnn;ann@example.net;Ulm;120;\"two\r\nlines\"\r\nBea;bea@example.net;;7;\r\nCy;no address;Ulm;;\r\n\r\n'=Di;di@example.net;Köln;;x\r\n"));
    $run('add', 'spring', $file('whole.csv', "address,name,city,points\nann@example.net,Ann,Ulm,120\nBEA@example.net,Bea,Bonn,7\ndi@example.net,Di,Köln,\ned@example.net,Ed,Ulm,0\n"));
    $run('add', 'spring', $file('lines.jsonl', "{\"address\": \"fay@example.net\", \"name\": \"Fay\", \"fields\": {\"city\": \"Rom\", \"points\": 3}}\n\n{\"address\": \"gus@example.net\", \"town\": \"x\"}\nnothing\n[1]\n"
        . '{"address": "hal@example.net", "name": "Hal", "fields": {"city": "Rom"}}'));
    $run('add', 'spring', $file('few.csv', "address,name,city\nhal@example.net,Hal,Rom\n"), '--json');
    $run('add', 'spring', "$directory/missing.csv");
    $piped = typed('printf "address,name,city\nida@example.net,Ida,Rom\n" | mailqueue campaign add spring -', $environment);
    echo "piped: $piped[1]$piped[2]";
    [$code, $out] = cli(['campaign', 'preview', 'spring', 'di@example.net'], $environment);
    echo preg_replace('/^(?!Subject:|To:|You live|.*name=).*\R/m', '', $out);
    [, $out] = cli(['campaign', 'preview', 'spring', 'ann@example.net'], $environment);
    echo substr_count($out, base64_encode('the terms')), ' ', preg_match('/You live in Ulm. 120 points./', $out), "\n";
    preg_match('/^You live.*/m', cli(['campaign', 'preview', 'spring', 'ed@example.net'], $environment)[1], $line);
    echo 'no points: ', trim($line[0]), "\n";
    $run('preview', 'spring', 'nobody@example.net');
    $run('test', 'spring', 'me@example.org', '--as', 'ed@example.net');
    $run('test', 'spring', 'me@', 'you@example.org');
    $queue->delete([1]);

    echo "-- its way\n";
    foreach (['yesterday', 'soon', ''] as $at) {
        $run('start', 'spring', '--at', $at);
    }
    $run('create', 'spring', $message, '--expires', 'yesterday');
    $run('create', 'spring', $message, '--expires', '2100-01-01 08:00');
    $run('start', 'spring', '--at', '2100-01-01 08:00');
    $run('create', 'spring', $message, '--type', 'news', '--priority', '-20', '--max-attempts', '1', '--expires', '2100-01-02');
    $run('start', 'spring', '--at', '2100-01-01 08:00');
    $run('pause', 'spring');
    $run('resume', 'spring');
    $run('create', 'spring', $message);
    $run('create', 'summer', $message);
    $run('add', 'summer', "$directory/whole.csv");
    $run('start', 'summer');
    $run('start', 'summer');
    $queue->runWorker(function ($job, $message, $from, $recipients): void {
        if (in_array($recipients[0], ['ann@example.net', 'ed@example.net'], true)) {
            throw new MailQueue\RefusedException('no such user', 550);
        }
    }, log: '');
    $run('status', 'summer');
    $run('failures', 'summer');
    $json = fn(string ...$words): mixed => json_decode(cli(['campaign', ...$words, '--json'], $environment)[1], true);
    echo json_encode(array_column($json('failures', 'summer', '--limit', '1', '--after', (string) $queue->campaign('summer')->failures()[0]->id), 'refused')), "\n";
    echo cli(['list', '--campaign', 'summer', '--json'], $environment)[1] === cli(['list', '--status', 'parked', '--json'], $environment)[1] ? "the same\n" : "not the same\n",
        cli(['list', '--campaign', 'spring'], $environment)[1];
    $run('retry', 'summer');
    $run('cancel', 'spring');
    $run('cancel', 'spring', '--yes');
    $run('cancel', 'spring');
    $run('resume', 'spring');
    $run('retry', 'spring');
    $lasting = fn(array $all): array => array_map(fn(array $of): array => array_diff_key($of, ['perHour' => 0, 'endsAt' => 0]), $all);
    must($lasting($json('status')) === $lasting($queue->campaigns()) && $json('status', 'spring') === $queue->campaign('spring')->progress(), 'JSON is what the methods return');
    $table = cli(['campaign', 'status'], $environment)[1];
    echo $shown(preg_replace('/^(.{' . strpos($table, '  an hour') . '}).*/m', '$1', $table));
    echo preg_replace('/\r|\e\[\d*m/', '', $shown(cli_on_terminal(['campaign', 'status', 'summer'], $environment, 60))), "\n";
    preg_match('/.*(\[.*)\r\n.*added.*/', cli_on_terminal(['campaign', 'add', 'summer', "$directory/whole.csv"], $environment, 60), $bar);
    echo $bar[1] ?? 'no bar', "\n";

    echo "-- usage\n";
    foreach ([[], ['strat', 'spring'], ['start'], ['start', 'spring', 'summer'], ['pause', 'sumer'], ['status', 'x', '--json'], ['preview', 'spring'], ['status', '--watch', '--json'], ['failures', 'summer', '--limit', '0']] as $words) {
        $run(...$words);
    }
    $many = $file('many.csv', "address,name\n" . implode('', array_map(fn(int $i): string => "n$i@example.net,$i\n", range(1, 1500))));
    [$code, , $errors] = cli(['campaign', 'add', 'summer', $many], $environment);
    echo "exit $code ", implode("\n", array_slice(explode("\n", $errors), 19));
});
?>
--EXPECT--
-- the message
status: exit 0
No campaigns.
create spring broken.json: exit 65
mailqueue: broken.json is not a JSON object with the fields of a message: Syntax error.
create spring wrong.json: exit 65
mailqueue: wrong.json: text: line 1, column 1: {{#if}} has no {{/if}}; add it
create spring lost.json: exit 65
mailqueue: lost.json: attachments[0]: nothing.txt: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
create spring message.json: exit 0
The message is set. Next: mailqueue campaign add spring FILE
create spring message.json --type news --priority -20 --max-attempts 1: exit 0
The message is set. Next: mailqueue campaign add spring FILE
create spring message.json --priority high: exit 64
mailqueue: --priority must be a whole number, not "high".
create spring message.json --priority -101: exit 64
mailqueue: --priority must be -100 … 100, not -101.
create spring message.json --max-attempts 0: exit 64
mailqueue: --max-attempts must be 1 … 1000; leave it out for what the backoff policy says.
start spring: exit 78
mailqueue: The campaign has no recipients yet: mailqueue campaign add spring FILE
-- recipients
add spring bad.csv: exit 65
mailqueue: The first line names the columns, and one of them must be "address"; it is: email,name,city
add spring half.csv: exit 1
2 added.
Line 4: text: line 1, column 13: the field "city" is missing; give it, or write {{city|default("…")}}.
Line 5: address: the address "no address" has no "@"; write it as name@example.org.
add spring whole.csv: exit 0
2 added; 2 were there already.
add spring lines.jsonl: exit 1
2 added.
Line 3: town: unknown key; known are address, name and fields.
Line 4: this is not a JSON object.
Line 5: 0: unknown key; known are address, name and fields.
add spring few.csv --json: exit 0
{
    "added": 0,
    "read": 1,
    "faulty": 0
}
add spring missing.csv: exit 66
mailqueue: missing.csv cannot be read: fopen(missing.csv): Failed to open stream: No such file or directory
piped: 1 added.
To: =Di <di@example.net>
Subject: Hello =Di
You live in K=C3=B6ln.
Content-Type: text/plain; charset=utf-8; name="terms.txt"
Content-Disposition: attachment; filename="terms.txt"
Content-Type: text/plain; charset=utf-8; name="again.txt"
Content-Disposition: attachment; filename="again.txt"
2 1
no points: You live in Ulm.
preview spring nobody@example.net: exit 78
mailqueue: nobody@example.net is not a recipient of the campaign: add it first
test spring me@example.org --as ed@example.net: exit 0
It is mail 1 of the queue.
test spring me@ you@example.org: exit 64
mailqueue: Addresses: the address "me@" has nothing after the "@"; write it as name@example.org.
-- its way
start spring --at yesterday: exit 64
mailqueue: --at yesterday is in the past.
start spring --at soon: exit 64
mailqueue: --at takes a time, such as 2026-12-01T08:00 or "tomorrow 08:00" (UTC), not "soon".
start spring --at : exit 64
mailqueue: --at takes a time, such as 2026-12-01T08:00 or "tomorrow 08:00" (UTC), not "".
create spring message.json --expires yesterday: exit 64
mailqueue: --expires yesterday is in the past.
create spring message.json --expires 2100-01-01 08:00: exit 0
The message is set. Next: mailqueue campaign add spring FILE
start spring --at 2100-01-01 08:00: exit 78
mailqueue: expiresAt: the campaign's mails expire before they could be sent; set its message with a later time, or make another campaign
create spring message.json --type news --priority -20 --max-attempts 1 --expires 2100-01-02: exit 0
The message is set. Next: mailqueue campaign add spring FILE
start spring --at 2100-01-01 08:00: exit 0
spring starts at TIME: 0 of 7 recipients are done.
pause spring: exit 0
spring is paused: 0 of 7 recipients are done.
resume spring: exit 0
spring starts at TIME: 0 of 7 recipients are done.
create spring message.json: exit 78
mailqueue: the campaign is running: its message can be set before it starts
create summer message.json: exit 0
The message is set. Next: mailqueue campaign add summer FILE
add summer whole.csv: exit 0
4 added.
start summer: exit 0
summer is running: 0 of 4 recipients are done.
start summer: exit 0
summer is running: 0 of 4 recipients are done.
status summer: exit 0
name        summer
state       finished
recipients  4
sent        2
refused     2
started     TIME
finished    TIME
failures summer: exit 0
id  recipient        why      tries  last
2   ann@example.net  refused  1      TIME
      550 no such user
5   ed@example.net   refused  1      TIME
      550 no such user
[{"ed@example.net":"550 no such user"}]
the same
No mail.
retry summer: exit 0
2 brought back.
cancel spring: exit 64
mailqueue: Cancel spring, so that 7 recipients never get it? Add --yes.
cancel spring --yes: exit 0
spring is cancelled: 0 of 7 recipients are done.
cancel spring: exit 0
spring is cancelled: 0 of 7 recipients are done.
resume spring: exit 78
mailqueue: a campaign that is cancelled cannot be resumed
retry spring: exit 78
mailqueue: the campaign is cancelled: only one that runs or has finished can try its failed mails again
name    state      recipients  sent  left  failed
summer  running    4           2     2     0
spring  cancelled  7           0     0     0
[####################....................] 50 %
name        summer
state       running
recipients  4
pending     2
sent        2
started     TIME
exit 0
[##############################] 4 lines
-- usage
: exit 64
mailqueue: campaign takes create, add, start, pause, resume, cancel, status, failures, retry, preview, test.
strat spring: exit 64
mailqueue: campaign takes create, add, start, pause, resume, cancel, status, failures, retry, preview, test, not "strat". Did you mean start?
start: exit 64
mailqueue: campaign start takes NAME.
start spring summer: exit 64
mailqueue: campaign start takes NAME, but got "summer".
pause sumer: exit 1
mailqueue: There is no campaign "sumer". Did you mean summer?
status x --json: exit 1
{"error":"There is no campaign \"x\".","exit":1}
preview spring: exit 64
mailqueue: campaign preview takes NAME ADDRESS.
status --watch --json: exit 64
{"error":"--watch is for people: leave out one of --watch and --json.","exit":64}
failures summer --limit 0: exit 64
mailqueue: --limit must be a whole number, 1 to 10000, not "0".
exit 65 Line 21: text: line 1, column 13: the field "city" is missing; give it, or write {{city|default("…")}}.
980 more lines cannot be taken.
mailqueue: None of the first 1000 lines can be taken: stopped here.
