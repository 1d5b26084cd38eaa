--TEST--
mailqueue called as sendmail, mailq or newaliases has their options, none of its own; mailq's list; a queue run by -q
--EXTENSIONS--
mailqueue
posix
--FILE--
<?php
require __DIR__ . '/sendmail.inc';

$dir = temp_directory();
$queue = new MailQueue("$dir/app.sqlite");
$queue->stats();
foreach (['sendmail', 'mailq', 'newaliases'] as $name) {
    symlink(dirname(__DIR__, 2) . '/bin/mailqueue', "$dir/$name");
}
$run = static fn(string $name, array $arguments, string $input = '', array $environment = []): array
    => run_with_input(php_command("$dir/$name", ...$arguments), $input, $environment + ['MAILQUEUE_DATABASE' => "$dir/app.sqlite", 'TZ' => 'UTC']);
$mailq = static fn(array $run): string => "exit $run[0]\n" . str_replace('@' . this_host(), '@HOST',
    preg_replace(['/\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d/', '/ +\d+  T/'], ['TIME', ' SIZE  T'], $run[1] . $run[2]));

echo $mailq($run('mailq', []));
echo 'sendmail: ', implode(' ', $run('sendmail', ['-i', '-f', 's@example.org', 'a@example.net', 'b@example.net'], "From: me@example.org\nSubject: x\n\n.\n.\n")), "\n";
echo 'newaliases: ', implode(' ', $run('newaliases', [])), "\n";
foreach ([['--database=/tmp/evil.sqlite', '-t'], ['--bootstrap=/tmp/evil.php', '-t'], ['--json'], ['work'], ['--', 'work']] as $arguments) {
    echo implode(' ', $arguments), ': ', trim(implode(' ', $run('sendmail', $arguments, "From: me@example.org\n\n"))), "\n";
}

echo "-- the list\n";
$queue->hold([$queue->enqueue(mail_fields(to: 'parked@example.net'))]);
$failed = $queue->enqueue(mail_fields(to: 'failed@example.net'), priority: 9);
$queue->fail($queue->claim()[0], "450 4.2.0 try \e[31mlater");
$queue->enqueue(mail_fields(to: 'sending@example.net'), priority: 9);
$queue->claim();
$queue->enqueue("Subject: bounce\n\n", envelopeFrom: '', recipients: ['c@example.net']);
$queue->enqueue(reference: 'r1');
echo $mailq($run('mailq', []));
echo $run('sendmail', ['-bp'])[1] === $run('mailq', [])[1] ? "same as -bp\n" : "-bp differs\n";
echo cli(['mailq'], ['MAILQUEUE_DATABASE' => "$dir/app.sqlite"])[1] === $run('mailq', [])[1] ? "same as mailqueue mailq\n" : "mailqueue mailq differs\n";
echo implode(' ', array_column(json_decode(cli(['mailq', '--json'], ['MAILQUEUE_DATABASE' => "$dir/app.sqlite"])[1], true), 'id')), "\n";

echo "-- the queue is run\n";
$queue->delete(array_column($queue->jobs(), 'id'));
echo count($queue->jobs()), " left\n"; // one is being sent
$queue->enqueue(mail_fields());
echo '-q15m: ', implode(' ', $run('sendmail', ['-q15m'], '', ['MAILQUEUE_TRANSPORT' => 'null://null'])), count($queue->jobs()), " left\n";
echo '-q: ', implode(' ', $run('sendmail', ['-q'], '', ['MAILQUEUE_TRANSPORT' => 'null://null'])), count($queue->jobs()), " left\n";
?>
--EXPECT--
exit 0
Mail queue is empty
sendmail: 0  
newaliases: 0  
--database=/tmp/evil.sqlite -t: 64  mailqueue: sendmail: unknown option --database=/tmp/evil.sqlite. mailqueue sendmail --help lists the options.
--bootstrap=/tmp/evil.php -t: 64  mailqueue: sendmail: unknown option --bootstrap=/tmp/evil.php. mailqueue sendmail --help lists the options.
--json: 64  {"error":"sendmail: unknown option --json. mailqueue sendmail --help lists the options.","exit":64}
work: 0
-- work: 0
-- the list
exit 0
-Queue ID-  --Size-- ----Arrival Time---- -Sender/Recipient-------
1 SIZE  TIME  s@example.org
                                         a@example.net
                                         b@example.net

2 SIZE  TIME  me@example.org
                                         work@HOST

3 SIZE  TIME  me@example.org
                                         work@HOST

4         ! SIZE  TIME  club@example.org
                                         parked@example.net

5 SIZE  TIME  club@example.org
                                                      (450 4.2.0 try ?[31mlater)
                                         failed@example.net

6         * SIZE  TIME  club@example.org
                                         sending@example.net

7 SIZE  TIME  MAILER-DAEMON
                                         c@example.net

8 SIZE  TIME  -
                                         (composed when it is sent)

-- 2 Kbytes in 8 Requests.
same as -bp
same as mailqueue mailq
1 2 3 4 5 6 7 8
-- the queue is run
1 left
-q15m: 0  2 left
-q: 0  1 left
