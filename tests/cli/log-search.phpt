--TEST--
mailqueue log answers "was it sent?": by id, reference and time, also in rotated logs; exit codes, JSON, hostile text
--EXTENSIONS--
mailqueue
zlib
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$dir = temp_directory();
$app = "$dir/app.sqlite";
$environment = ['MAILQUEUE_DATABASE' => $app, 'TZ' => 'America/New_York'];
$log = static function (string ...$words) use (&$environment, $dir): void {
    echo '$ mailqueue log ', implode(' ', array_map(static fn(string $word): string => preg_replace('/[^ -~]/', '?', str_replace($dir, '%', $word)), $words)), "\n";
    [$code, $output, $errors] = cli(['log', ...$words], $environment);
    $text = preg_replace(['/^2\d{3}-\d\d-\d\d \d\d:\d\d:\d\dZ/m', '/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/', '/ \d+ ms/'], ['WHEN', 'TIME', ' N ms'], $output . $errors);
    echo "exit $code\n", str_replace($dir, '%', $text);
};
$log();
$queue = new MailQueue($app);
$log('--id', '1');
$send = static fn(Closure $how): MailQueue\Report => $queue->runWorker(static function ($job) use ($how): void { $how($job->id); }, log: "$dir/mail-queue.log");
foreach (['sent', 'refused', 'later', "[31m'hostile"] as $reference) {
    $queue->enqueue(mail_fields(), reference: $reference, type: 'a');
}
$send(static function (int $id): void {
    $id === 2 && throw new MailQueue\RefusedException("550 5.1.1 \e[2Jno such user, and many words more that a line of a terminal has no room for");
    $id === 3 && throw new Exception('not now');
});
$queue->enqueue(mail_fields(), reference: 'waiting', sendAt: time() + 900);
foreach ([['--id', '1'], ['--reference', 'refused'], ['--reference', 'later'], ['--reference', "[31m'hostile"], ['--id', '99'], ['--reference', 'none'], ['--reference', 'waiting'], ['--id', '1', '--reference', 'later']] as $words) {
    $log(...$words);
}
echo "-- it leaves\n";
$queue->delete([2]);
$log('--id', '2');
$queue->enqueue(mail_fields(), reference: 'expired', expiresAt: time() + 3);
sleep(4);
$send(static fn() => null);
$log('--reference', 'expired');
$queue->enqueue(mail_fields(), reference: 'sent');
$log('--reference', 'sent');
$send(static fn() => null);
$log('--reference', 'sent');
$answer = json_decode(cli(['log', '--id', '1', '--json'], $environment)[1], true);
$answer['mails'][0]['at'] = 'TIME';
echo json_encode(['events' => count($answer['events'])] + $answer), "\n";

echo "-- rotated, compressed, damaged\n";
$lines = file("$dir/mail-queue.log");
$line = static fn(int $id, string $time, string $event = 'sent'): string => json_encode(['time' => $time, 'event' => $event, 'id' => $id]) . "\n";
file_put_contents("$dir/mail-queue.log.10.gz", gzencode($line(70, '2026-01-01T00:00:00Z')));
file_put_contents("$dir/mail-queue.log.2.gz", gzencode($line(71, '2026-01-02T00:00:00Z') . '{"time":"2026-01-02T00:00:01Z","event":"se'));
file_put_contents("$dir/mail-queue.log-20260103", $line(72, '2026-01-03T00:00:00Z') . "no JSON\n{\"time\":\"2026-01-03T00:00:01Z\",\"event\":[1],\"id\":72}\n{\"event\":\"sent\",\"id\":72}\n\n"
    . '{"time":"2026-01-03T00:00:02Z","event":"sent","id":72,"reference":["x"],"relay":{"a":1},"reply":false,"ms":"9"}' . "\n");
file_put_contents("$dir/mail-queue.log.5.xz", 'x');
file_put_contents("$dir/mail-queue.log.old", $line(73, '2026-01-04T00:00:00Z'));
foreach (['10.gz' => '2026-01-01', '2.gz' => '2026-01-02 00:00:02', '5.xz' => '2026-01-02 12:00'] as $name => $at) {
    touch("$dir/mail-queue.log.$name", strtotime("$at UTC"));
}
touch("$dir/mail-queue.log-20260103", strtotime('2026-01-03 00:00:03 UTC'));
file_put_contents("$dir/mail-queue.log", $line(74, '2026-01-04T00:00:00Z'));
$log();
$log('--id', '70');
$log('--id', '73');
$log('--since', '2026-01-02T00:00:01Z', '--limit', '2');
$log('--since', '2026-01-04');
foreach ([['--since', 'soon'], ['--since', '2 hours'], ['--since', ''], ['--id', '-1'], ['--id', 'x'], ['--limit', '0'], ['--log', "$dir/none"], ['--log', '/dev/stdout'], ['--log', '/dev/null'], ['--log', $dir]] as $words) {
    $log(...$words);
}
echo "-- many mails in little memory\n";
file_put_contents("$dir/many.log", implode('', array_map(static fn(int $id): string => $line($id, '2026-01-04T00:00:00Z'), range(1, 60_000))));
$command = cli_command(['log', '--log', "$dir/many.log", '--limit', '1']);
array_splice($command, 1, 0, ['-d', 'memory_limit=16M']);
passthru(implode(' ', array_map(escapeshellarg(...), $command)) . ' 2>&1');
unlink("$dir/many.log");

echo "-- without a database\n";
$environment = [];
$log();
$log('--log', "$dir/mail-queue.log");
$log('--log', "$dir/mail-queue.log", '--id', '74');
?>
--EXPECT--
$ mailqueue log 
exit 73
mailqueue: There is no database %/app.sqlite, or this user cannot reach it. Check the path; mailqueue migrate creates it.
$ mailqueue log --id 1
exit 73
mailqueue: There is no log %/mail-queue.log, or this user cannot reach it. No worker has run, or the cron job names another log (MAIL_QUEUE_LOG or --log): give it with --log.
$ mailqueue log --id 1
exit 0
WHEN  claimed        1  sent
    closure, 1 recipient, attempt 1
WHEN  sent           1  sent
    closure, 1 recipient, attempt 1, N ms
Mail 1 (sent) was sent, TIME.
$ mailqueue log --reference refused
exit 1
WHEN  claimed        2  refused
    closure, 1 recipient, attempt 1
WHEN  refused        2  refused
    closure, 1 recipient, attempt 1, N ms: 550 5.1.1 ?[2Jno such user, and many words more that a line of a terminal has no room for
WHEN  parked         2  refused
    closure, attempt 1, N ms: 550 5.1.1 ?[2Jno such user, and many words more that a line of a terminal has no room for
Mail 2 (refused) is in the queue (parked). The last outcome is parked, TIME. mailqueue show 2 says more.
$ mailqueue log --reference later
exit 1
WHEN  claimed        3  later
    closure, 1 recipient, attempt 1
WHEN  try_later      3  later
    closure, 1 recipient, attempt 1, N ms, again TIME: Exception: not now
Mail 3 (later) is in the queue (failed). The last outcome is try_later, TIME. mailqueue show 3 says more.
$ mailqueue log --reference [31m'hostile
exit 0
WHEN  claimed        4  [31m'hostile
    closure, 1 recipient, attempt 1
WHEN  sent           4  [31m'hostile
    closure, 1 recipient, attempt 1, N ms
Mail 4 ([31m'hostile) was sent, TIME.
$ mailqueue log --id 99
exit 1
Mail 99: the log does not say that it was sent.
$ mailqueue log --reference none
exit 1
The log says nothing about that.
$ mailqueue log --reference waiting
exit 1
Mail 5 (waiting) is in the queue (pending). mailqueue show 5 says more.
$ mailqueue log --id 1 --reference later
exit 1
The log says nothing about that.
-- it leaves
$ mailqueue log --id 2
exit 1
WHEN  claimed        2  refused
    closure, 1 recipient, attempt 1
WHEN  refused        2  refused
    closure, 1 recipient, attempt 1, N ms: 550 5.1.1 ?[2Jno such user, and many words more that a line of a terminal has no room for
WHEN  parked         2  refused
    closure, attempt 1, N ms: 550 5.1.1 ?[2Jno such user, and many words more that a line of a terminal has no room for
Mail 2 (refused): the log does not say that it was sent. The last outcome is parked, TIME.
$ mailqueue log --reference expired
exit 1
WHEN  expired        6  expired
Mail 6 (expired) was not sent: expired, TIME.
$ mailqueue log --reference sent
exit 1
WHEN  claimed        1  sent
    closure, 1 recipient, attempt 1
WHEN  sent           1  sent
    closure, 1 recipient, attempt 1, N ms
Mail 1 (sent) was sent, TIME.
Mail 7 (sent) is in the queue (pending). mailqueue show 7 says more.
$ mailqueue log --reference sent
exit 0
WHEN  claimed        1  sent
    closure, 1 recipient, attempt 1
WHEN  sent           1  sent
    closure, 1 recipient, attempt 1, N ms
WHEN  claimed        7  sent
    closure, 1 recipient, attempt 1
WHEN  sent           7  sent
    closure, 1 recipient, attempt 1, N ms
Mail 1 (sent) was sent, TIME.
Mail 7 (sent) was sent, TIME.
{"events":2,"mails":[{"id":1,"reference":"sent","sent":true,"outcome":"sent","at":"TIME","status":null}],"left":0}
-- rotated, compressed, damaged
$ mailqueue log 
exit 0
WHEN  sent           70
WHEN  sent           71
WHEN  sent           72
WHEN  sent           72
    N ms
WHEN  sent           74
mailqueue: %/mail-queue.log.5.xz cannot be read here.
mailqueue: 4 lines of the log cannot be read.
$ mailqueue log --id 70
exit 0
WHEN  sent           70
Mail 70 was sent, TIME.
mailqueue: %/mail-queue.log.5.xz cannot be read here.
mailqueue: 4 lines of the log cannot be read.
$ mailqueue log --id 73
exit 1
Mail 73: the log does not say that it was sent.
mailqueue: %/mail-queue.log.5.xz cannot be read here.
mailqueue: 4 lines of the log cannot be read.
$ mailqueue log --since 2026-01-02T00:00:01Z --limit 2
exit 0
(1 earlier lines; --limit shows more)
WHEN  sent           72
    N ms
WHEN  sent           74
mailqueue: %/mail-queue.log.5.xz cannot be read here.
mailqueue: 4 lines of the log cannot be read.
$ mailqueue log --since 2026-01-04
exit 0
WHEN  sent           74
$ mailqueue log --since soon
exit 64
mailqueue: --since takes a time, such as 2026-11-21, "2026-11-21 09:35" (UTC), yesterday or "2 hours ago", not "soon".
$ mailqueue log --since 2 hours
exit 64
mailqueue: --since 2 hours is in the future. ("2 hours ago" has its "ago".)
$ mailqueue log --since 
exit 64
mailqueue: --since takes a time, such as 2026-11-21, "2026-11-21 09:35" (UTC), yesterday or "2 hours ago", not "(nothing)".
$ mailqueue log --id -1
exit 64
mailqueue: --id must be a whole number, 1 or more, not "-1".
$ mailqueue log --id x
exit 64
mailqueue: --id must be a whole number, 1 or more, not "x".
$ mailqueue log --limit 0
exit 64
mailqueue: --limit must be a whole number, 1 to 1000000, not "0".
$ mailqueue log --log %/none
exit 73
mailqueue: There is no log %/none, or this user cannot reach it. No worker has run, or the cron job names another log (MAIL_QUEUE_LOG or --log): give it with --log.
$ mailqueue log --log /dev/stdout
exit 78
mailqueue: The log goes to /dev/stdout, where it cannot be read again: look where its output is kept (journalctl, docker logs), or name a file with --log.
$ mailqueue log --log /dev/null
exit 73
mailqueue: There is no log /dev/null, or this user cannot reach it. No worker has run, or the cron job names another log (MAIL_QUEUE_LOG or --log): give it with --log.
$ mailqueue log --log %
exit 73
mailqueue: There is no log %, or this user cannot reach it. No worker has run, or the cron job names another log (MAIL_QUEUE_LOG or --log): give it with --log.
-- many mails in little memory
(59999 earlier lines; --limit shows more)
2026-01-04 00:00:00Z  sent           60000
-- without a database
$ mailqueue log 
exit 78
mailqueue: No database is set. Give --database PATH, set MAILQUEUE_DATABASE, or mailqueue.database in php.ini.
$ mailqueue log --log %/mail-queue.log
exit 0
WHEN  sent           70
WHEN  sent           71
WHEN  sent           72
WHEN  sent           72
    N ms
WHEN  sent           74
mailqueue: %/mail-queue.log.5.xz cannot be read here.
mailqueue: 4 lines of the log cannot be read.
$ mailqueue log --log %/mail-queue.log --id 74
exit 0
WHEN  sent           74
Mail 74 was sent, TIME.
mailqueue: %/mail-queue.log.5.xz cannot be read here.
mailqueue: 4 lines of the log cannot be read.
