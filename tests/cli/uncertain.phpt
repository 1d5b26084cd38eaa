--TEST--
mailqueue uncertain: what may have arrived, sent again or counted as sent
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$environment = ['MAILQUEUE_DATABASE' => $app = temp_directory() . '/app.sqlite', 'TERM' => 'dumb'];
$run = static fn(string ...$arguments): array => cli($arguments, $environment);
$queue = new MailQueue($app);
$pdo = new PDO("sqlite:$app");
show($run('uncertain'));
show($run('uncertain', '--sent'));
show($run('uncertain', '1'));
foreach (['news', 'news', 'invoice', 'invoice'] as $i => $type) {
    $queue->enqueue(mail_fields(to: "p$i@example.net"), type: $type);
}
$pdo->exec("UPDATE mail_queue SET status = 'parked', parked_for = 'uncertain', uncertain = 1, uncertain_to = recipients, "
    . "last_error = 'cut off' WHERE id < 4");
$pdo->exec("UPDATE mail_queue SET status = 'failed', uncertain = 1, next_attempt_at = 4102444800, "
    . "recipients = '[\"a@example.net\",\"b@example.net\",\"c@example.net\"]', uncertain_to = '[\"b@example.net\",\"c@example.net\"]' "
    . 'WHERE id = 4');
show($run('uncertain'));
echo json_encode(array_column(json_decode($run('uncertain', '--json', '--type', 'news')[1], true), 'uncertainTo', 'id')), "\n";
show($run('uncertain', '--sent', '--send-again'));
show($run('uncertain', '--sent', '4', '--type', 'news'));
show($run('uncertain', '--sent', '--type', 'news'));
show($run('uncertain', '--send-again', '--type', 'invoice'));
show($run('uncertain', '--sent', '1', '99'));
show($run('uncertain', '--sent', '1'));
show($run('uncertain', '--send-again', '--type', 'news', '--yes'));
show($run('uncertain', '--sent', '--yes', '--json'));
show($run('uncertain'));
echo json_encode(array_map(fn($job) => [$job->status->value, $job->recipients], array_column($queue->jobs(), null, 'id'))), "\n";
$stats = array_sum(array_column($pdo->query("SELECT mails FROM mail_count WHERE event = 'sent'")->fetchAll(), 0));
echo "$stats sent\n";

echo "-- a campaign is paused to look at its mail\n";
$queue->delete(array_column($queue->jobs(), 'id'));
$campaign = $queue->campaign('spring');
$campaign->setMessage(['from' => 'shop@example.com', 'subject' => 'News', 'text' => 'News.']);
$campaign->add(['ann@example.net', 'bea@example.net']);
$campaign->start();
must(count($queue->claim(10)) === 2, 'both are under way');
$pdo->exec('UPDATE mail_queue SET locked_until = 1'); // their worker has died
$queue->claim();
$campaign->pause();
show($run('uncertain'));
[$ann, $bea] = array_map(fn($job) => (string) $job->id, $queue->jobs());
show($run('uncertain', '--send-again', $ann));
show($run('uncertain', '--sent', $ann));
show($run('uncertain', '--sent', '--status', 'held', '--yes'));
$campaign->resume();
echo $campaign->progress()['sent'], ' sent, ', count($queue->jobs()), ' left, ', count($queue->claim()), " to send\n";
?>
--EXPECTF--
exit 0
No mail is uncertain.
exit 0
0 counted as sent.
exit 1
None of these mails is uncertain.
exit 0
id  status  next           may have it       not yet  type     reference  subject
1   parked  -              p0@example.net    -        news     -          Hello
      cut off
2   parked  -              p1@example.net    -        news     -          Hello
      cut off
3   parked  -              p2@example.net    -        invoice  -          Hello
      cut off
4   failed  in %d days  b@example.net +1  1        invoice  -          Hello

These may have arrived. Ask a recipient, or look in the relay's log for their Message-ID (mailqueue show ID). Then send them again, or count them as sent:
  mailqueue uncertain --send-again ID
  mailqueue uncertain --sent ID
{"1":["p0@example.net"],"2":["p1@example.net"]}
exit 64
mailqueue: uncertain takes --send-again or --sent, not both.
exit 64
mailqueue: uncertain takes ids or a filter, not both.
exit 64
mailqueue: Count 2 mails as sent? Add --yes.
exit 64
mailqueue: Send 2 mails again? Add --yes.
exit 0
1 of 2 counted as sent; the others do not exist or are not uncertain.
exit 1
0 of 1 counted as sent; they do not exist or are not uncertain.
exit 0
1 brought back.
exit 0
{
    "changed": 2
}
exit 0
No mail is uncertain.
{"2":["pending",["p1@example.net"]],"4":["failed",["a@example.net"]]}
3 sent
-- a campaign is paused to look at its mail
exit 0
id  status  next  may have it      not yet  type      reference  subject
5   held    -     ann@example.net  -        campaign  -          -
      the worker died while the message was being sent: it may have arrived
6   held    -     bea@example.net  -        campaign  -          -
      the worker died while the message was being sent: it may have arrived

These may have arrived. Ask a recipient, or look in the relay's log for their Message-ID (mailqueue show ID). Then send them again, or count them as sent:
  mailqueue uncertain --send-again ID
  mailqueue uncertain --sent ID
exit 1
0 of 1 brought back; they do not exist, are held or are not uncertain.
Mail that is held must wait for its campaign: resume sends it again.
exit 0
1 counted as sent.
exit 0
1 counted as sent.
2 sent, 0 left, 0 to send
