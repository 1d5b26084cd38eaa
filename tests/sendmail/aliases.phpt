--TEST--
mailqueue sendmail: aliases of local recipients, from mailqueue.aliases and the environment; a value that is not an address is refused
--EXTENSIONS--
mailqueue
posix
--FILE--
<?php
require __DIR__ . '/sendmail.inc';

$queue = new MailQueue($database = database());
$dir = temp_directory();
file_put_contents($file = "$dir/aliases", <<<'TEXT'
    # The form of /etc/aliases
    postmaster:	root
    Root: ops@example.net,   # who looks after this host
    	"On Call" <night@example.net>
    root: twice@example.net
    "odd name": odd@example.net
    chain: postmaster, chain2@example.net
    bob: \bob, copy@example.net
    carol: carol
    dave: eve
    eve: mallory, dave
    empty:
    pipe: "|/usr/bin/procmail -a x"
    mbox: /var/mail/mbox
    null: /dev/null
    list: :include:/etc/list
    bad: two words
    worse: a@@example.net
    unknown: nobody-here
    mallory: m@example.net
    TEXT . "\n");
$last = 0;
$show = static function (string $what, array $run) use ($queue, &$last, $dir): void {
    [$code, $output, $errors] = $run;
    $new = envelope_of($queue, $last);
    $last = max([$last, ...array_column($queue->jobs(after: $last), 'id')]);
    echo "$what: ", $code === 0 ? '' : "exit $code ", preg_replace('/.* -> /', '', $new), str_replace([$dir, this_host()], ['%', 'HOST'], trim("$output$errors")), "\n";
};
$to = static fn(array $words, array $environment = [], array $ini = []): array
    => sendmail(['-i', ...$words], "From: me@example.org\nSubject: x\n\nhi\n", $environment + ['MAILQUEUE_DATABASE' => $database], $ini);
$environment = ['MAILQUEUE_ALIASES' => $file];

$show('without', $to(['root']));
$show('php.ini', $to(['root'], [], ["mailqueue.aliases=$file"]));
$show('the environment comes first', $to(['root'], $environment, ['mailqueue.aliases=/none']));
foreach (['ROOT', 'postmaster', 'chain', 'bob', 'unknown', 'other', 'root@example.org', 'Cron <root>, a@example.org', 'root, postmaster', 'carol',
    'dave', 'empty', 'pipe', 'mbox', 'null', 'list', 'bad', 'worse'] as $name) {
    $show($name, $to([$name], $environment));
}
echo "-- of the headers, which stay; no sender has one\n";
$show('-t', sendmail(['-t'], "From: postmaster\nTo: root (The Admin)\nCc: Bob <bob>, a@example.org\nBcc: chain\n\nhi\n", $environment + ['MAILQUEUE_DATABASE' => $database]));
echo preg_match('/^To: root \(The Admin\)\r\nCc: Bob <bob>, a@example.org\r\n/m', $queue->job($last)->message) ? "as they were\n" : $queue->job($last)->message;
echo str_replace(this_host(), 'HOST', $queue->job($last)->envelopeFrom), "\n";
$show('-t, a bad one', sendmail(['-t'], "From: me\nTo: pipe\n\nhi\n", $environment + ['MAILQUEUE_DATABASE' => $database]));
$show('-f', $to(['-f', 'root', 'root'], $environment));
echo str_replace(this_host(), 'HOST', $queue->job($last)->envelopeFrom), "\n";
[$code, $said] = sendmail(['-bs'], "HELO x\r\nMAIL FROM:<root>\r\nRCPT TO:<bob>\r\nRCPT TO:<pipe>\r\nRCPT TO:<a@example.org>\r\nDATA\r\nSubject: x\r\n\r\nhi\r\n.\r\nQUIT\r\n",
    $environment + ['MAILQUEUE_DATABASE' => $database]);
echo str_replace([$dir, this_host(), "\r"], ['%', 'HOST', ''], preg_replace('/queued as \d+/', 'queued', $said));
$show('-bs', [0, '', '']);

echo "-- default\n";
file_put_contents("$dir/default", "default: me\nme: me@example.net\nroot: sysadmin\n");
foreach (['root', 'anybody', 'me', 'default', 'x@example.org'] as $name) {
    $show($name, $to([$name], ['MAILQUEUE_ALIASES' => "$dir/default"]));
}
file_put_contents("$dir/round", 'default: nobody');
$show('default, of this host', $to(['x'], ['MAILQUEUE_ALIASES' => "$dir/round"]));

echo "-- a file that is not right\n";
file_put_contents("$dir/broken", "# first\n\nroot ops@example.net\n");
file_put_contents("$dir/large", "root: ops@example.net\n" . str_repeat("# many\n", 150_000));
foreach (['none', 'broken', '.', 'large'] as $name) {
    $show($name, $to(['root'], ['MAILQUEUE_ALIASES' => "$dir/$name"]));
}
$show('addresses need none', $to(['a@example.org'], ['MAILQUEUE_ALIASES' => "$dir/none"]));

echo "-- too many\n";
$many = static fn(string $letter, int $count): string => implode(', ', array_map(static fn(int $i): string => "$letter$i@e.net", range(1, $count)));
$lines = ['all: ' . $many('u', 50_000), 'fits: ' . $many('f', 10_000), 'x14: x@example.net', 'c9000: end@example.net'];
for ($i = 0; $i < 14; $i++) {
    $lines[] = "x$i: x" . ($i + 1) . ', x' . ($i + 1);
}
for ($i = 0; $i < 9000; $i++) {
    $lines[] = "c$i: c" . ($i + 1);
}
file_put_contents("$dir/many", implode("\n", $lines));
$environment['MAILQUEUE_ALIASES'] = "$dir/many";
foreach (['all', 'x1', 'x3', 'c0'] as $name) {
    $show($name, $to([$name], $environment));
}
foreach ([['fits'], ['fits', 'a@example.org'], ['-t']] as $words) {
    [$code, , $errors] = sendmail(['-i', ...$words], "To: fits\nCc: c0\n\nhi\n", $environment + ['MAILQUEUE_DATABASE' => $database]);
    $job = $queue->jobs(after: $last)[0] ?? null;
    $last = $job->id ?? $last;
    echo implode(' ', $words), ": exit $code ", $errors !== '' ? $errors : count($job->recipients) . "\n";
}

echo "-- doctor looks at all of them\n";
foreach (["$dir/none" => 0, $file => 0, "$dir/default" => 0644, "$dir/round" => 0666, "$dir/many" => 0] as $name => $mode) {
    $mode === 0 || chmod($name, $mode);
    $lines = cli(['doctor', '--database', $database], ['MAILQUEUE_ALIASES' => $name])[1];
    echo preg_match_all('/^.*aliases.*\n(?: .*\n)*/m', $lines, $match) ? str_replace($dir, '%', implode($match[0])) : "nothing\n";
}

echo "-- VERP\n";
$show('-XV', $to(['-XV', 'a@example.org']));
$show('-XV+=', $to(['-XV+=', '-f', 'list@example.org', 'a@example.org']));
?>
--EXPECT--
without: USER@HOST
php.ini: ops@example.net night@example.net
the environment comes first: ops@example.net night@example.net
ROOT: ops@example.net night@example.net
postmaster: ops@example.net night@example.net
chain: ops@example.net night@example.net chain2@example.net
bob: bob@HOST copy@example.net
unknown: nobody-here@HOST
other: other@HOST
root@example.org: root@example.org
Cron <root>, a@example.org: ops@example.net night@example.net a@example.org
root, postmaster: ops@example.net night@example.net
carol: exit 78 mailqueue: The aliases file %/aliases, line 9: this goes round in circles: carol → carol; a backslash ends it (\carol is carol of this host).
dave: exit 78 mailqueue: The aliases file %/aliases, line 10: this goes round in circles: dave → eve → dave; a backslash ends it (\dave is dave of this host).
empty: exit 78 mailqueue: The aliases file %/aliases, line 12: "empty" has no address.
pipe: exit 78 mailqueue: The aliases file %/aliases, line 13: mail that goes to a program is not supported ("|/usr/bin/procmail -a x"): give an address, or let a program with its own aliases deliver it.
mbox: exit 78 mailqueue: The aliases file %/aliases, line 14: mail that goes into a file is not supported (/var/mail/mbox): give an address, or let a program with its own aliases deliver it.
null: exit 78 mailqueue: The aliases file %/aliases, line 15: mail that goes into a file is not supported (/dev/null): give an address, or let a program with its own aliases deliver it.
list: exit 78 mailqueue: The aliases file %/aliases, line 16: mail that goes to a list in another file is not supported (:include:/etc/list): give an address, or let a program with its own aliases deliver it.
bad: exit 78 mailqueue: The aliases file %/aliases, line 17: "two words" is neither an address nor a user.
worse: exit 78 mailqueue: The aliases file %/aliases, line 18: the address "a@@example.net" has a character that is not allowed in a domain; use letters, digits, "-" and "." only.
-- of the headers, which stay; no sender has one
-t: ops@example.net night@example.net bob@HOST copy@example.net a@example.org chain2@example.net
as they were
postmaster@HOST
-t, a bad one: exit 78 mailqueue: The aliases file %/aliases, line 13: mail that goes to a program is not supported ("|/usr/bin/procmail -a x"): give an address, or let a program with its own aliases deliver it.
-f: ops@example.net night@example.net
root@HOST
220 HOST ESMTP mailqueue
250 HOST
250 2.1.0 sender taken
250 2.1.5 recipient taken
451 4.3.5 The aliases file %/aliases, line 13: mail that goes to a program is not supported ("|/usr/bin/procmail -a x"): give an address, or let a program with its own aliases deliver it.
250 2.1.5 recipient taken
354 go on; a line with a lone dot ends it
250 2.0.0 queued
221 2.0.0 HOST goodbye
-bs: bob@HOST copy@example.net a@example.org
-- default
root: me@example.net
anybody: me@example.net
me: me@example.net
default: me@example.net
x@example.org: x@example.org
default, of this host: nobody@HOST
-- a file that is not right
none: exit 78 mailqueue: The aliases file %/none does not exist or cannot be read. MAILQUEUE_ALIASES (ini mailqueue.aliases) names it.
broken: exit 78 mailqueue: The aliases file %/broken, line 3: this is not NAME: ADDRESS.
.: exit 78 mailqueue: The aliases file %/. does not exist or cannot be read. MAILQUEUE_ALIASES (ini mailqueue.aliases) names it.
large: exit 78 mailqueue: The aliases file %/large is larger than 1 MiB: leave out what is not an alias of this host.
addresses need none: a@example.org
-- too many
all: exit 78 mailqueue: The aliases file %/many, line 1: the aliases that lead here have more than 10000 names and addresses, which are too many recipients for a mail; give the address of a mailing list.
x1: exit 78 mailqueue: The aliases file %/many, line 18: the aliases that lead here have more than 10000 names and addresses, which are too many recipients for a mail; give the address of a mailing list.
x3: x@example.net
c0: end@example.net
fits: exit 0 10000
fits a@example.org: exit 67 mailqueue: recipients: 10001 addresses; give at most 10000
-t: exit 67 mailqueue: with the aliases of this host the mail has more than 10000 recipients; send several
-- doctor looks at all of them
look  The aliases file %/none does not exist or cannot be read. MAILQUEUE_ALIASES (ini mailqueue.aliases) names it.
      Until that is fixed, mailqueue sendmail refuses mail to users of this host.
look  The aliases file %/aliases, line 9: this goes round in circles: carol → carol; a backslash ends it (\carol is carol of this host).
      Until that is fixed, mailqueue sendmail refuses mail to users of this host.
ok    aliases %/default: each leads to an address
ok    aliases %/round: each leads to an address
look  aliases %/round can be written by others than its owner, so others can read root's mail
      To stop that:
        chmod go-w %/round
look  The aliases file %/many, line 1: the aliases that lead here have more than 10000 names and addresses, which are too many recipients for a mail; give the address of a mailing list.
      Until that is fixed, mailqueue sendmail refuses mail to users of this host.
-- VERP
-XV: exit 64 mailqueue: sendmail: -XV (a sender of its own for each recipient, VERP) is not supported; call sendmail once for each recipient, with its -f.
-XV+=: exit 64 mailqueue: sendmail: -XV (a sender of its own for each recipient, VERP) is not supported; call sendmail once for each recipient, with its -f.
