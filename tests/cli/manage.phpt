--TEST--
mailqueue list, show, retry, hold, delete, config, status, migrate: for people and as JSON
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$dir = temp_directory();
$app = "$dir/app.sqlite";
$environment = ['MAILQUEUE_DATABASE' => $app];
$run = static fn(string ...$arguments): array => cli($arguments, $environment);
show($run('list'));
show($run('migrate'));
$queue = new MailQueue($app);
$queue->enqueue(mail_fields(to: 'ann@example.net'), reference: 'r1', type: 'confirmation');
$queue->enqueue(mail_fields(), reference: "r~2");
$queue->enqueue(reference: 'r3', type: 'later', sendAt: 4102444800, priority: -5);
show($run('list'));
show($run('list', '--status', 'parked'));
show($run('list', '--limit', '1', '--after', '1'));
show($run('hold', '1', '2'));
show($run('status'));
echo json_encode(array_column(json_decode($run('list', '--json', '--status', 'parked')[1], true), 'parkedFor', 'id')), "\n";
echo "-- show\n";
[$code, $text] = $run('show', '1');
echo "exit $code\n", preg_replace(['/<[0-9a-f]+@/', '/(\w+At +)\d.*/'], ['<ID@', '$1TIME'], $text);
[, $text] = $run('show', '1', '--message');
echo strstr($text, 'Subject:'), "\n";
show($run('show', '99'));
echo "-- retry, delete\n";
show($run('retry'));
show($run('retry', '--once', '1'));
echo $queue->job(1)->attempts, "\n";
show($run('retry', '--json', '2'));
show($run('retry', '--all', '2'));
// One waits for its next attempt, one was refused, two are on hold.
$queue->hold([1, 2]);
foreach (['waits' => false, 'refused' => true] as $reference => $permanent) {
    $queue->enqueue(mail_fields(), reference: $reference, priority: 10);
    [$job] = $queue->claim();
    $queue->fail($job, 'no', $permanent);
}
show($run('retry', '--all', '--yes'));
echo json_encode(array_count_values(array_map(fn($job) => $job->status->value, $queue->jobs()))), "\n";
foreach ($queue->jobs() as $job) {
    $job->priority === 10 && $queue->delete([$job->id]);
}
show($run('delete', '2', '99'));
echo "-- none of them\n";
show($run('delete', '98', '99'));
show($run('delete', '99', '--json'));
show($run('hold', '99'));
show($run('retry', '1'));
show($run('retry', '99'));
show($run('config', '--unset', 'mailBurst', '--database', "$dir/typo.sqlite"), $dir);
echo file_exists("$dir/typo.sqlite") ? "created!\n" : '';
echo "-- config\n";
show($run('config', 'mailMaxPerHour', '60'));
show($run('config', 'mailMaxPerHour'));
show($run('config', 'mailMaxPerHour', 'lots'));
show($run('config', 'mailMaxperhour', '1'));
show($run('config', '--unset', 'mailMaxPerHour'));
show($run('config', '--unset', 'mailBurst', '--json'));
echo json_encode(json_decode($run('config', '--json')[1], true)['mailMaxPerHour']), "\n";
show($run('migrate'));
?>
--EXPECTF--
exit 73
mailqueue: There is no database %sapp.sqlite, or this user cannot reach it. Check the path; mailqueue migrate creates it.
exit 0
The tables are at version 6.
exit 0
id  status   tries  next           recipients       type          reference  subject
1   pending  0      now            ann@example.net  confirmation  r1         Hello
2   pending  0      now            ann@example.net  mail          r~2        Hello
3   pending  0      in %d days  -                later         r3         -
exit 0
No mail.
exit 0
id  status   tries  next  recipients       type  reference  subject
2   pending  0      now   ann@example.net  mail  r~2        Hello
exit 0
2 parked.
exit 0
pending   1
sending   0
failed    0
parked    2  (mailqueue list --status parked)
held      0
due now   0
oldest    TIME (%d s ago)
limit     none (mailqueue config mailMaxPerHour 60 sets one)
next due  TIME
last run  -
{"1":"hold","2":"hold"}
-- show
exit 0
id              1
reference       r1
type            confirmation
status          parked
priority        0
attempts        0
maxAttempts     -
uncertain       0
uncertainTo     []
nextAttemptAt   TIME
expiresAt       -
lockedUntil     -
lockedBy        -
lastAttemptAt   -
lastError       %S
parkedFor       hold
createdAt       TIME
resentOf        -
expectedAt      -
waitsFor        -
messageId       <ID@example.org>
subject         Hello
envelopeFrom    club@example.org
recipients      ["ann@example.net"]
refused         []
relay           -
messageBytes    %d (--message shows them)
Subject: Hello
Message-ID: <%x@example.org>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 7bit

Hello Ann


exit 1
mailqueue: There is no mail with the id 99. Mail that was sent leaves the queue: mailqueue log --id 99 says what became of it.
-- retry, delete
exit 0
0 brought back.
exit 0
1 brought back.
9
exit 0
{
    "changed": 1
}
exit 64
mailqueue: retry takes ids or --all, not both.
exit 0
4 brought back.
{"pending":5}
exit 0
1 of 2 deleted; the others do not exist or are being sent at the moment.
-- none of them
exit 1
0 of 2 deleted; they do not exist or are being sent at the moment.
exit 1
{
    "changed": 0
}
exit 1
0 of 1 parked; they do not exist or are not waiting.
exit 1
0 of 1 brought back; they do not exist or are neither parked nor failed.
exit 1
0 of 1 brought back; they do not exist or are neither parked nor failed.
exit 73
mailqueue: There is no database %stypo.sqlite, or this user cannot reach it. Check the path; mailqueue migrate creates it.
-- config
exit 0
exit 0
60
exit 78
mailqueue: mailMaxPerHour cannot be "lots"; allowed values: 0 … 1000000000
exit 64
mailqueue: mailqueue has no setting "mailMaxperhour". Did you mean mailMaxPerHour? mailqueue config lists them.
exit 0
exit 0
{
    "mailBurst": null
}
null
exit 0
The tables are at version 6.
