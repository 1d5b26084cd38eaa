--TEST--
mailqueue list, retry, hold and delete with filters, and retry of all: how many mails, asked on a terminal, --yes for scripts
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$environment = ['MAILQUEUE_DATABASE' => $app = temp_directory() . '/app.sqlite', 'TERM' => 'dumb'];
$run = static fn(string ...$arguments): array => cli($arguments, $environment);
$queue = new MailQueue($app);
foreach (['news', 'news', 'invoice'] as $i => $type) {
    $queue->enqueue(['to' => "p$i@example.net", 'subject' => "Mail $i"] + mail_fields(), "r$i", $type);
}
(new PDO("sqlite:$app"))->exec('UPDATE mail_queue SET created_at = created_at - 864000 WHERE id = 1');
$ids = static fn(string ...$filter): string => implode(' ', array_column(json_decode($run('list', '--json', ...$filter)[1]), 'id'));
echo '-- list: ', $ids('--type', 'news'), ', ', $ids('--recipient', 'P2@'), ', ', $ids('--subject', 'mail 1'), ', ',
    $ids('--older', '7d'), ', ', $ids('--older', '2000-01-01'), ', ', $ids('--older', '2100-01-01', '--reference', 'r1'), "\n";
$queue->fail($queue->claim()[0], '452 4.2.2 mailbox full', retryAfter: 60);
echo 'error: ', $ids('--error', 'Mailbox full'), ', ', $ids('--error', 'nothing'), "\n";
show($run('list', '--older', 'soon'));
echo "-- \"30 days\", which PHP reads as a time ahead, must not mean all mail\n";
foreach (['30 days', '12hours', '+1 week', 'tomorrow'] as $older) {
    show($run('delete', '--older', $older, '--yes'));
}
show($run('delete', '--older', '0001', '--yes')); // to PHP a time of today
echo $ids('--older', '7 days ago'), ', ', $ids('--older', '2100-01-01 12:00'), "\n";
show($run('list', '--status', 'sent'));
echo "-- an empty value, as of a shell's variable that is not set, must not mean all mail\n";
foreach (['recipient', 'error', 'subject', 'type', 'reference', 'older'] as $name) {
    show($run('delete', "--$name", '', '--yes'));
}
show($run('list', '--recipient='));
echo "-- changes\n";
show($run('hold', '--type', 'news'));
show($run('hold', '--type', 'news', '--json'));
show($run('hold', '1', '--type', 'news'));
show($run('hold'));
show($run('hold', '--type', 'news', '--yes'));
show($run('hold', '--type', 'nobody', '--yes'));
show($run('retry', '--all', '--type', 'news'));
show($run('retry', '--status', 'parked', '--older', '7d', '--yes'));
show($run('delete', '--status', 'parked', '--yes', '--json'));
echo "left: ", $ids(), "\n";
echo "-- on a terminal\n";
$type = static function (string $answer, string ...$arguments) use ($environment): void {
    $text = str_replace("\r\n", "\n", cli_on_terminal($arguments, $environment, 80, $answer));
    echo preg_replace('/\A' . $answer . '\n/', '', $text), "\n";
};
$type('n', 'delete', '--older', '2100-01-01');
$type('y', 'hold', '--type', 'invoice');
$statuses = fn(): string => implode(' ', array_map(fn($job) => $job->status->value, $queue->jobs())) . "\n";
echo $statuses(), "-- retry of all\n";
show($run('retry'));
$queue->fail($queue->claim()[0], '550 no', permanent: true);
$queue->enqueue(mail_fields());
$queue->hold([4]);
(new PDO("sqlite:$app"))->exec("UPDATE mail_queue SET parked_for = 'uncertain', uncertain_to = recipients WHERE id = 3");
show($run('retry'));
show($run('retry', '--all', '--json'));
show($run('retry', '--status', 'parked'));
show($run('retry', '--status', 'parked', '--older', '2000-01-01'));
show($run('hold', '--status', 'parked'));
$type('n', 'retry');
$type('n', 'retry', '--all', '--once');
echo $statuses();
$type('y', 'retry');
echo $statuses();
show($run('retry', '--all', '--yes'));
echo $statuses();
echo "-- held and sending mail is not brought back, so it cannot arrive twice\n";
foreach (['held', 'sending', 'pending'] as $status) {
    (new PDO("sqlite:$app"))->exec("UPDATE mail_queue SET status = '$status', uncertain_to = recipients WHERE id = 3");
    show($run('retry', '--older', '2100-01-01'));
}
?>
--EXPECT--
-- list: 1 2, 3, 2, 1, , 2
error: 1, 
exit 64
mailqueue: --older must be an age such as 90m, 12h or 7d, or a time such as 2026-11-21.
-- "30 days", which PHP reads as a time ahead, must not mean all mail
exit 64
mailqueue: --older lies ahead, so all mail would match: write an age such as 90m, 12h or 30d, or a time such as 2026-11-21.
exit 64
mailqueue: --older lies ahead, so all mail would match: write an age such as 90m, 12h or 30d, or a time such as 2026-11-21.
exit 64
mailqueue: --older lies ahead, so all mail would match: write an age such as 90m, 12h or 30d, or a time such as 2026-11-21.
exit 64
mailqueue: --older lies ahead, so all mail would match: write an age such as 90m, 12h or 30d, or a time such as 2026-11-21.
exit 64
mailqueue: --older must be an age such as 90m, 12h or 7d, or a time such as 2026-11-21.
1, 1 2 3
exit 64
mailqueue: --status must be pending, sending, failed, parked or held.
-- an empty value, as of a shell's variable that is not set, must not mean all mail
exit 64
mailqueue: --recipient is empty: give it a value, or leave the option out.
exit 64
mailqueue: --error is empty: give it a value, or leave the option out.
exit 64
mailqueue: --subject is empty: give it a value, or leave the option out.
exit 64
mailqueue: --type is empty: give it a value, or leave the option out.
exit 64
mailqueue: --reference is empty: give it a value, or leave the option out.
exit 64
mailqueue: --older is empty: give it a value, or leave the option out.
exit 64
mailqueue: --recipient is empty: give it a value, or leave the option out.
-- changes
exit 64
mailqueue: Park 2 mails? Add --yes.
exit 64
{"error":"Park 2 mails? Add --yes.","exit":64}
exit 64
mailqueue: hold takes ids or a filter, not both.
exit 64
mailqueue: hold needs at least one id, or a filter such as --status. mailqueue list shows the ids.
exit 0
2 parked.
exit 0
0 parked.
exit 64
mailqueue: retry takes --all or a filter, not both.
exit 0
1 brought back.
exit 0
{
    "changed": 1
}
left: 1 3
-- on a terminal
Delete 2 mails? [y/N] mailqueue: Nothing was changed.
exit 1
Park 1 mail? [y/N] 1 parked.
exit 0
pending parked
-- retry of all
exit 0
0 brought back.
exit 64
mailqueue: Bring 1 mail back? Add --yes.
exit 64
{"error":"Bring 3 mails back (1 may arrive twice)? Add --yes.","exit":64}
exit 64
mailqueue: Bring 3 mails back (1 may arrive twice)? Add --yes.
exit 0
0 brought back.
exit 64
mailqueue: Park 3 mails? Add --yes.
Bring 1 mail back? [y/N] mailqueue: Nothing was changed.
exit 1
Bring 3 mails back (1 may arrive twice)? [y/N] mailqueue: Nothing was changed.
exit 1
parked parked parked
Bring 1 mail back? [y/N] 1 brought back.
exit 0
pending parked parked
exit 0
2 brought back.
pending pending pending
-- held and sending mail is not brought back, so it cannot arrive twice
exit 64
mailqueue: Bring 3 mails back? Add --yes.
exit 64
mailqueue: Bring 3 mails back? Add --yes.
exit 64
mailqueue: Bring 3 mails back (1 may arrive twice)? Add --yes.
