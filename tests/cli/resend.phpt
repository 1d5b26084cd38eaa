--TEST--
mailqueue resend: an address corrected, the mail sent again as a new one; show names the other one
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
$queue->enqueue(mail_fields(to: 'an@example.net, bo@example.net'), 'r1');
$queue->fail($queue->claim()[0], '550 no such user', true);
show($run('resend'));
show($run('resend', '1', '--instead', 'an@example.net'));
show($run('resend', '1', '--to', 'ann@example.net'));
show($run('resend', '1', '--to', 'ann'));
show($run('resend', '1', '--to', 'ann@example.net', '--instead', 'cy@example.net'));
show($run('resend', '1', '--to', 'ann@example.net', '--instead', 'an@example.net'));
show($run('resend', '1', '--to', 'ann@example.net'));
show($run('retry', '--all'));
show($run('resend', '2', '--json'));
echo "-- show names the other one\n";
echo implode(preg_grep('/^resentOf/', explode("\n", $run('show', '3')[1]))), "\n";
show($run('show', '2'));
show($run('show', '2', '--json'));
$queue->delete([3]);
show($run('show', '2'));
echo "-- the history has it\n";
$queue->setConfig('mailHistoryDays', 1);
$queue->enqueue(mail_fields());
show($run('resend', '4', '--to', 'ann@example.net'));
$queue->delete([5]);
show($run('show', '4'));
?>
--EXPECTF--
exit 64
mailqueue: resend needs at least one id. mailqueue list shows the ids.
exit 64
mailqueue: --instead needs --to, the address that replaces it.
exit 1
mailqueue: Mail 1 has several recipients that could be meant: name the one that the address replaces (--instead).
exit 1
mailqueue: To: the address "ann" has no "@"; write it as name@example.org.
exit 1
mailqueue: Mail 1 is not for this recipient, or not any more.
exit 0
Mail 2 takes the place of mail 1, for ann@example.net, bo@example.net.
exit 1
mailqueue: Mail 1 does not exist, or has left the queue.
exit 0
0 brought back.
exit 0
{
    "id": 3,
    "resentOf": 2,
    "recipients": [
        "ann@example.net",
        "bo@example.net"
    ]
}
-- show names the other one
resentOf        2
exit 0
Mail 2 was sent again as mail 3.
exit 0
{
    "id": 2,
    "resentAs": 3,
    "history": []
}
exit 1
mailqueue: There is no mail with the id 2. Mail that was sent leaves the queue: mailqueue log --id 2 says what became of it.
-- the history has it
exit 0
Mail 5 takes the place of mail 4, for ann@example.net.
exit 0
Mail 4 has left the queue.

at                    attempt  event   phase  recipients  took  waited
TIME  0        resent  -      1           -     -
      as mail 5
