--TEST--
mailqueue sendmail: every option, attached, separate and grouped; options that Postfix ignores; usage errors exit with 64
--EXTENSIONS--
mailqueue
posix
--FILE--
<?php
require __DIR__ . '/sendmail.inc';

$queue = new MailQueue($database = database());
$last = 0;
$try = static function (string|array $arguments, string $input = "From: me@example.org\nTo: a@example.net\n\nhi\n") use ($queue, $database, &$last): void {
    $words = is_array($arguments) ? $arguments : preg_split('/ +/', $arguments, -1, PREG_SPLIT_NO_EMPTY);
    [$code, $output, $errors] = sendmail($words, $input, ['MAILQUEUE_DATABASE' => $database]);
    $shown = implode(' ', array_map(static fn(string $word): string => $word === '' || str_contains($word, ' ') ? "'$word'" : $word, $words));
    $new = envelope_of($queue, $last);
    $last = max([$last, ...array_column($queue->jobs(after: $last), 'id')]);
    echo "$shown: ", $code === 0 ? '' : "exit $code ", trim("$new $output") ?: trim($errors), "\n";
};

echo "-- recipients\n";
$try('b@example.net');
$try('b@example.net c@example.net');
$try(['b@example.net,c@example.net, root']);
$try(['Ann <b@example.net>', '"C, D" <c@example.net>', 'root']);
$try('-t');
$try('-t b@example.net a@example.net');
$try('');
$try('-t', "From: me@example.org\nSubject: nobody\n\nhi\n");
$try('-i');
$try('-- -b@example.net');
$try('-- b@example.net');
$try('b@example.net -t');
$try('b@@example.net');
$try(['"b"@example.net']);
$try(["b@example.net\nBcc: c@example.net"]);
$try(['']);
$try(['-']);

echo "-- sender\n";
$try('-f s@example.org -t');
$try('-fs@example.org -t');
$try('-tfs@example.org');
$try('-tf s@example.org');
$try('-r s@example.org -t');
$try('-rs@example.org -t');
$try(['-f', '', '-t']);
$try('-f <> -t');
$try('-f <s@example.org> -t');
$try(['-f', 'Shop <s@example.org>', '-t']);
$try('-f www-data -t');
$try('-f a@example.org,b@example.org -t');
$try('-f a@@example.org -t');
$try(['-f', "s@example.org\nX: y", '-t']);
$try('-t -f');
$try('-t', "From: me@example.org\nSender: she@example.org\nTo: a@example.net\n\n");
$try('-t', "From: root (Cron Daemon)\nTo: root\n\n");
$try('-t', "From: not an address\nTo: a@example.net\n\n");
$try('-t', "To: a@example.net\n\n");

echo "-- groups and what is ignored\n";
$try('-ti');
$try('-it');
$try('-oi -t');
$try('-o i -t');
$try('-t -oem -odi -odb -om -o7 -o8 -oee -o x');
$try('-t -Am -Ac -B8BITMIME -B 7BIT -C /etc/x -G -h 5 -L label -m -n -O Foo=bar -p smtp -U -v -v -vv -X /tmp/log -c -x -em -e q');
$try('-FCronDaemon -i -B8BITMIME -oem root', "From: root (Cron Daemon)\nTo: root\nSubject: Cron\n\nhi\n");
$try('-FCronDaemon -odi -oem -oi -t', "From: root (Cron Daemon)\nTo: root\nSubject: Cron\n\nhi\n");
$try('-oem -oi -f me@example.org -- b@example.net c@example.net');
$try('-bm -t');
$try('-N never -t');
$try('-Nsuccess,delay -R hdrs -Vqueue17 -t');
$try('-N sometimes -t');
$try('-R most -t');
$try(['-V', "a\nb", '-t']);
$try('-bh');
$try('-bH');
$try('-bi');
$try('-I');
$try('-q15m');

echo "-- usage\n";
$try('-bd');
$try('-bv a@example.net');
$try('-b');
$try('-z -t');
$try('-tz');
$try('-tb');
$try('-t --database=/tmp/evil.sqlite');
$try('-t --bootstrap=/tmp/evil.php');
$try('a@example.net --bootstrap=/tmp/evil.php');
$try('-t -bs');
$try('-qRexample.org');
$try('-qI17');
echo count($queue->jobs(limit: 1000)), " queued\n";

echo "-- no code of a stranger's, whose address may be any word\n";
$evil = temp_directory() . '/evil.php';
file_put_contents($evil, "<?php touch('$evil.ran'); return [];");
foreach ([["--bootstrap=$evil"], ['--bootstrap', $evil, '-t'], ['--orphan-check=a.b', '-t']] as $words) {
    [$code, , $errors] = sendmail($words, "To: a@example.net\n\n", ['MAILQUEUE_DATABASE' => $database]);
    echo "exit $code, $errors";
}
[$code] = run_with_input(php_command(dirname(__DIR__, 2) . '/bin/mailqueue', "--bootstrap=$evil", 'sendmail', '-t'), '', ['MAILQUEUE_DATABASE' => $database]);
echo "exit $code, ", file_exists("$evil.ran") ? 'it ran' : 'nothing ran', ', ', count($queue->jobs(limit: 1000)), " queued\n";

echo "-- ours come first\n";
[$code] = sendmail(["--database=$database", '-t', '-i'], "From: me@example.org\nTo: a@example.net\n\n");
[$code2] = run_with_input(php_command(dirname(__DIR__, 2) . '/bin/mailqueue', '--database', $database, 'sendmail', '-ti'),
    "From: me@example.org\nTo: b@example.net\n\n", []);
[$code3] = sendmail(['-ti'], "From: me@example.org\nTo: c@example.net\n\n", [], ["mailqueue.database=$database"]);
echo "$code $code2 $code3\n", envelope_of($queue, $last), "\n";
echo sendmail(['-t'])[2], sendmail(['-t', '--help'])[2];
echo strtok(sendmail(['--help'])[1], "\n"), "\n";
?>
--EXPECT--
-- recipients
b@example.net: me@example.org -> b@example.net
b@example.net c@example.net: me@example.org -> b@example.net c@example.net
'b@example.net,c@example.net, root': me@example.org -> b@example.net c@example.net USER@HOST
'Ann <b@example.net>' '"C, D" <c@example.net>' root: me@example.org -> b@example.net c@example.net USER@HOST
-t: me@example.org -> a@example.net
-t b@example.net a@example.net: me@example.org -> b@example.net a@example.net
: exit 64 mailqueue: sendmail: no recipients. Give them as arguments, or -t for those in the message.
-t: exit 64 mailqueue: sendmail: the message names no recipient in To, Cc or Bcc; add one, or give recipients as arguments.
-i: exit 64 mailqueue: sendmail: no recipients. Give them as arguments, or -t for those in the message.
-- -b@example.net: exit 67 mailqueue: recipient: the address "-b@example.net" begins with "-": is it an option in the wrong place?
-- b@example.net: me@example.org -> b@example.net
b@example.net -t: exit 67 mailqueue: recipient: the address "-t" begins with "-": is it an option in the wrong place?
b@@example.net: exit 67 mailqueue: recipient: the address "b@@example.net" has a character that is not allowed in a domain; use letters, digits, "-" and "." only
"b"@example.net: exit 67 mailqueue: recipient: the address ""b"@example.net" has a quoted local part, which is not supported; use another address
'b@example.net
Bcc: c@example.net': exit 67 mailqueue: recipient: the address "b@example.net?Bcc: c@example.net" has a control character; remove it
'': exit 67 mailqueue: recipient: "" has no address in it.
-: exit 67 mailqueue: recipient: the address "-" begins with "-": is it an option in the wrong place?
-- sender
-f s@example.org -t: s@example.org -> a@example.net
-fs@example.org -t: s@example.org -> a@example.net
-tfs@example.org: s@example.org -> a@example.net
-tf s@example.org: s@example.org -> a@example.net
-r s@example.org -t: s@example.org -> a@example.net
-rs@example.org -t: s@example.org -> a@example.net
-f '' -t: <> -> a@example.net
-f <> -t: <> -> a@example.net
-f <s@example.org> -t: s@example.org -> a@example.net
-f 'Shop <s@example.org>' -t: s@example.org -> a@example.net
-f www-data -t: www-data@HOST -> a@example.net
-f a@example.org,b@example.org -t: exit 64 mailqueue: sendmail -f: "a@example.org,b@example.org" is not one address.
-f a@@example.org -t: exit 64 mailqueue: sendmail -f: the address "a@@example.org" has a character that is not allowed in a domain; use letters, digits, "-" and "." only
-f 's@example.org
X: y' -t: exit 64 mailqueue: sendmail -f: the address "s@example.org?X: y" has a control character; remove it
-t -f: exit 64 mailqueue: sendmail: -f needs a value.
-t: she@example.org -> a@example.net
-t: USER@HOST -> USER@HOST
-t: USER@HOST -> a@example.net
-t: USER@HOST -> a@example.net
-- groups and what is ignored
-ti: me@example.org -> a@example.net
-it: me@example.org -> a@example.net
-oi -t: me@example.org -> a@example.net
-o i -t: me@example.org -> a@example.net
-t -oem -odi -odb -om -o7 -o8 -oee -o x: me@example.org -> a@example.net
-t -Am -Ac -B8BITMIME -B 7BIT -C /etc/x -G -h 5 -L label -m -n -O Foo=bar -p smtp -U -v -v -vv -X /tmp/log -c -x -em -e q: me@example.org -> a@example.net
-FCronDaemon -i -B8BITMIME -oem root: USER@HOST -> USER@HOST
-FCronDaemon -odi -oem -oi -t: USER@HOST -> USER@HOST
-oem -oi -f me@example.org -- b@example.net c@example.net: me@example.org -> b@example.net c@example.net
-bm -t: me@example.org -> a@example.net
-N never -t: me@example.org -> a@example.net
-Nsuccess,delay -R hdrs -Vqueue17 -t: me@example.org -> a@example.net
-N sometimes -t: exit 64 mailqueue: sendmail: -N takes never, or success, failure and delay with commas between, not "sometimes".
-R most -t: exit 64 mailqueue: sendmail: -R takes hdrs or full, not "most".
-V a
b -t: exit 64 mailqueue: sendmail: -V takes 1 to 100 printable characters, not "a?b".
-bh: 
-bH: 
-bi: 
-I: 
-q15m: 
-- usage
-bd: exit 64 mailqueue: sendmail: of -b there are -bm, -bs and -bp only. (mailqueue work --daemon is a daemon.)
-bv a@example.net: exit 64 mailqueue: sendmail: of -b there are -bm, -bs and -bp only. (mailqueue work --daemon is a daemon.)
-b: exit 64 mailqueue: sendmail: -b needs a value.
-z -t: exit 64 mailqueue: sendmail: unknown option -z. mailqueue sendmail --help lists the options.
-tz: exit 64 mailqueue: sendmail: unknown option -tz. mailqueue sendmail --help lists the options.
-tb: exit 64 mailqueue: sendmail: -b needs a value.
-t --database=/tmp/evil.sqlite: exit 64 mailqueue: sendmail: unknown option --database=/tmp/evil.sqlite. mailqueue sendmail --help lists the options.
-t --bootstrap=/tmp/evil.php: exit 64 mailqueue: sendmail: unknown option --bootstrap=/tmp/evil.php. mailqueue sendmail --help lists the options.
a@example.net --bootstrap=/tmp/evil.php: exit 67 mailqueue: recipient: the address "--bootstrap=/tmp/evil.php" begins with "-": is it an option in the wrong place?
-t -bs: exit 64 mailqueue: sendmail: -t goes with a message only, not with -b or -q.
-qRexample.org: exit 64 mailqueue: sendmail: -q takes no value: it runs the queue. (mailqueue retry ID brings back one mail.)
-qI17: exit 64 mailqueue: sendmail: -q takes no value: it runs the queue. (mailqueue retry ID brings back one mail.)
34 queued
-- no code of a stranger's, whose address may be any word
exit 64, mailqueue: sendmail takes no --bootstrap: programs give it words of strangers. Name the queue with --database, --table, --config-table and --reference-column.
exit 64, mailqueue: sendmail takes no --bootstrap: programs give it words of strangers. Name the queue with --database, --table, --config-table and --reference-column.
exit 64, mailqueue: sendmail takes no --orphan-check: programs give it words of strangers. Name the queue with --database, --table, --config-table and --reference-column.
exit 64, nothing ran, 34 queued
-- ours come first
0 0 0
me@example.org -> a@example.net
me@example.org -> b@example.net
me@example.org -> c@example.net
mailqueue: No database is set. Give --database PATH, set MAILQUEUE_DATABASE, or mailqueue.database in php.ini.
mailqueue: sendmail: unknown option --help. mailqueue sendmail --help lists the options.
Usage: mailqueue sendmail [options] [RECIPIENT…]
