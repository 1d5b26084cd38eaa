--TEST--
mailqueue status, list, show: which mail waits for its sending hours
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$dir = temp_directory();
$app = "$dir/app.sqlite";
$queue = new MailQueue($app);
$environment = ['MAILQUEUE_DATABASE' => $app, 'MAILQUEUE_TRANSPORT' => 'null://null'];
$run = static fn(string ...$words): string => preg_replace(['/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/', '/in \d+ (h|min)/'], ['TIME', 'in N $1'], cli($words, $environment)[1]);
$lines = static fn(string $pattern, string $text): string => implode('', preg_grep($pattern, preg_split('/(?<=\n)/', $text)));
$begin = intdiv(time(), 60) * 60 + 5 * 3600;
$hours = sprintf('news, digest: %s-%s UTC', gmdate('H:i', $begin), gmdate('H:i', $begin + 60));
echo $run('config', 'mailHours', $hours);
$queue->enqueue(mail_fields(), type: 'news');
$queue->enqueue(mail_fields(), type: 'login');
$status = static function () use ($run, $lines): void {
    echo $lines('/^(due|next|Outside)/', $run('status'));
};
$status();
echo $run('work');
$status();
echo $lines('/^1 /', $run('list')), $lines('/At |waits/', $run('show', '1'));
$json = json_decode(cli(['status', '--json'], $environment)[1], true);
echo json_encode(array_keys($json['closed'])), $json['closed']['news, digest'] === $begin ? " at the begin\n" : " at another time\n";
echo "-- every hour\n";
$run('config', 'mailHours', 'every type but login: Mo-So 00:00-24:00 UTC');
$status();
echo $lines('/^1 /', $run('list')), $run('work');
$status();
echo "-- wrong\n";
show(cli(['config', 'mailHours', 'news: Mo-Fr 08:00-18:00 Berlin'], $environment));
show(cli(['config', 'mailHours', 'news: Mo-Fr 08:00-18:00'], $environment));
?>
--EXPECT--
due now   2
next due  TIME
Outside the sending hours (mailHours): mail of news, digest waits until TIME.
mailqueue: 1 sent; nothing more is due.
due now   0
next due  TIME
Outside the sending hours (mailHours): mail of news, digest waits until TIME.
1   pending  0      in N h (hours)  ann@example.net  news  -          Hello
nextAttemptAt   TIME
expiresAt       -
lastAttemptAt   -
createdAt       TIME
expectedAt      TIME
waitsFor        its sending hours (mailHours)
["news, digest"] at the begin
-- every hour
due now   0
next due  TIME
1   pending  0      now   ann@example.net  news  -          Hello
mailqueue: 1 sent; nothing more is due.
due now   0
-- wrong
exit 78
mailqueue: mailHours: there is no time zone "Berlin"; allowed are the names that PHP knows (DateTimeZone::listIdentifiers())
exit 78
mailqueue: mailHours cannot be "news: Mo-Fr 08:00-18:00"; "08:00-18:00" is not followed by a time zone: end the rule with one, such as Europe/Berlin or UTC; allowed values: [types:] days times zone; …
