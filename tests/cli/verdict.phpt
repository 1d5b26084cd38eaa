--TEST--
verdict says what a reply means and which rule decides; a bad file is refused before anything is claimed; docs/transports.md has the table
--EXTENSIONS--
mailqueue
posix
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
require __DIR__ . '/../lib/delivery.inc';
use MailQueueTest\{Sink, TestQueue};

$directory = MailQueueTest\temporary_directory('verdicts');
$file = "$directory/rules";
$put = static fn(string $rules): int|false => file_put_contents($file, $rules);
$show = static function (array $words, array $environment = []) use ($directory): void {
    [$code, $out, $errors] = cli($words, $environment);
    echo "$code ", str_replace($directory, 'DIR', $out . $errors);
};

$show(['verdict', '450 4.7.1 try again in 30 seconds', '--at', 'mail']);
$show(['verdict', '450 4.7.1 try again in 30 seconds']);
$show(['verdict', "550-5.1.1 no such\n550 5.1.1 user"]);
$put("# ours\n127.0.0.1 mail 451 \"later\" relay pause=2h\n* any 4xx \"later\" deferred pause=10m\n");
$show(['verdict', '451 4.3.0 later', '--at', 'mail', '--verdicts', $file, '--relay', '127.0.0.1']);
$show(['verdict', '451 4.3.0 later', '--at', 'mail', '--json'], ['MAILQUEUE_VERDICTS' => $file, 'MAILQUEUE_TRANSPORT' => 'smtp://relay.example']);
foreach ([['hello'], ['450 x', '--at', 'noon'], [], ['450 x', '--verdicts', "$directory/none"], ['450 x', '--verdicts', $directory]] as $words) {
    $show(['verdict', ...$words]);
}

// In a run: the first rule pauses the relay, and the mail is as before.
$sink = new Sink('at mail reply="451 4.3.0 later"');
$queue = new TestQueue();
$queue->add('t1', ['a@example.org']);
$worker = ['--database', $queue->path, '--transport', "smtp://127.0.0.1:$sink->port", '--verdicts', $file];
[$code, , $errors] = cli(['work', ...$worker]);
echo "$code ", preg_replace('/until.*|again.*/', '…', $errors);
$stats = $queue->queue->stats();
$job = iterator_to_array($queue->queue->jobs())[0];
echo $job->status->value, ", $job->attempts attempts, paused for about ", round(($stats->pausedUntil - time()) / 3600), " hours\n";

// A bad file: refused before anything is claimed.
$put("\n* mail 451 sometimes\n");
$queue->timePasses();
$connects = substr_count($sink->transcript(), '* connect');
[$code, $out, $errors] = cli(['work', ...$worker]);
echo "$code ", str_replace($directory, 'DIR', $errors);
must(substr_count($sink->transcript(), '* connect') === $connects, 'nothing is sent');
must(iterator_to_array($queue->queue->jobs())[0]->lockedBy === null, 'nothing is claimed');
[, $out] = cli(['doctor', ...$worker]);
echo str_replace($directory, 'DIR', implode("\n", preg_grep('/verdict/', explode("\n", $out)))), "\n";
$put('* mail 451 deferred');
[, $out] = cli(['doctor', '--database', $queue->path, '--verdicts', $file], ['MAILQUEUE_TRANSPORT' => 'mailgun+https://key:example.org@default']);
echo str_replace($directory, 'DIR', implode("\n", preg_grep('/verdicts|Rules are/', explode("\n", $out)))), "\n";
chmod($file, 0666);
[, $out] = cli(['doctor', ...$worker]);
echo str_replace($directory, 'DIR', implode("\n", preg_grep('/verdicts|chmod.*rules/', explode("\n", $out)))), "\n";

// The page has the rows of the table, and names each verdict.
$page = file_get_contents(__DIR__ . '/../../docs/transports.md');
preg_match('/^\| at \| codes .*\n.*\n((?:\|.*\n)+)/m', $page, $table);
$rows = array_map(static fn(string $row): string => "| $row |", MailQueue\Internal::verdictRows());
echo $table[1] === implode("\n", $rows) . "\n" ? "the same table\n" : "docs/transports.md should have:\n" . implode("\n", $rows) . "\n";
foreach (array_unique(array_map(static fn(string $row): string => substr(strrchr($row, '|'), 2), MailQueue\Internal::verdictRows())) as $verdict) {
    str_contains($page, "\n| $verdict | ") || print("docs/transports.md does not say what $verdict means\n");
}
?>
--EXPECT--
0 relay: no attempt counts; the relay is paused
waits: 30 s
rule: built in: mail | 400–499 | any | a time, no greylisting | relay
0 deferred: an attempt counts, and another follows
waits: 30 s
three such mails in a row for different domains pause the relay
rule: built in: rcpt, data, dot | 400–499 | any | a time, no greylisting | deferred
0 refused: the recipient is given up; a mail without others is parked
rule: built in: mail, rcpt, data, dot | 500–599 | x.1.* but not x.1.7, x.1.8, x.1.90 | any | refused
0 relay: no attempt counts; the relay is paused
waits: 2 h 0 min
rule: DIR/rules, line 2
0 {
    "verdict": "deferred",
    "wait": 600,
    "throttled": false,
    "line": 3,
    "row": null,
    "at": "mail",
    "meaning": "an attempt counts, and another follows",
    "rule": "DIR/rules, line 3"
}
64 mailqueue: The reply must be one SMTP reply, such as "450 4.7.1 try later".
64 mailqueue: --at must be connect, mail, rcpt, data or dot.
64 mailqueue: Usage: mailqueue verdict 'REPLY'
78 mailqueue: verdicts: DIR/none: No such file or directory; name a text file that this user can read (--verdicts, MAILQUEUE_VERDICTS or ini setting mailqueue.verdicts)
78 mailqueue: verdicts: DIR: this is not a regular file; name a text file that this user can read (--verdicts, MAILQUEUE_VERDICTS or ini setting mailqueue.verdicts)
69 mailqueue: 0 sent, 1 released; the relay cannot be used …
pending, 0 attempts, paused for about 2 hours
78 mailqueue: verdicts: DIR/rules, line 2: this is neither a reply nor a verdict, or a second one: "sometimes"; the verdicts are next, refused, deferred, denied, unexplained, connect, session, sessions, relay and protocol; put texts in quotes
look  verdicts: DIR/rules, line 2: this is neither a reply nor a verdict, or a second one: "sometimes"; the verdicts are next, refused, deferred, denied, unexplained, connect, session, sessions, relay and protocol; put texts in quotes
      Until that is fixed, the worker sends nothing. To try a rule: mailqueue verdict
look  verdicts DIR/rules: 1 rule, but no relay speaks SMTP or LMTP
      Rules are about replies of SMTP and LMTP; what the answers of others mean is fixed. Leave them out.
ok    verdicts DIR/rules: 1 rule
look  verdicts DIR/rules can be written by others than its owner, so others can have mail parked
        chmod go-w DIR/rules
the same table
