--TEST--
mailqueue migrate-store: its output, its refusals, and a worker of the source that was still running
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
$from = database();
$directory = realpath(dirname($from));
$to = "$directory/to.db";
$move = function (string ...$words) use ($directory): void {
    [$code, $output, $errors] = cli(['migrate-store', ...$words]);
    $text = preg_replace(['/[0-9a-f]{64}/', '/"[0-9a-f]{32} /'], ['HASH', '"ID '], $output . $errors);
    echo "exit $code\n", str_replace($directory, '%', $text);
};
$queue = new MailQueue($from);
foreach (['a', 'b', 'c'] as $reference) {
    $queue->enqueue(mail_fields(), reference: $reference);
}
$queue->hold([3]);
$queue->setConfig('mailMaxPerHour', 600);
(new PDO("sqlite:$from"))->exec('ALTER TABLE mail_queue ADD COLUMN colour TEXT');

echo "-- usage\n";
$move($from);
$move($from, $to, '--abort', '--delete');
$move($from, $to, '--timeout=soon');
$move("$directory/none.db", $to);
echo is_file($to) ? 'made' : 'not made', "\n";

echo "-- while one is being sent\n";
[$job] = $queue->claim(1);
$move($from, $to, '--timeout=0');
echo json_decode(cli(['status', '--database', $from, '--json'])[1])->enabled ? 'not ' : '', "paused\n";
cli(['work', '--database', $to, '--transport=null://null']);
var_dump($queue->complete($job), $queue->claim(1));

echo "-- a dry run, the move, what came late\n";
$move($from, $to, '--dry-run');
$move($from, $to);
show(cli(['work', '--database', $from, '--transport=null://null']), $directory);
echo preg_replace('/.*(This queue.*)/s', '$1', str_replace($directory, '%', cli(['status', '--database', $from])[1]));
echo preg_match('/look  This queue was moved.*?migrate-store/s', cli(['doctor', '--database', $from])[1]), "\n";
$queue->enqueue(mail_fields(), reference: 'late');
$move($from, $to, '--json', '--delete');
show(cli(['work', '--database', $to, '--transport=null://null']), $directory);
var_dump((new MailQueue($to))->stats()->pending);

echo "-- given up; other names\n";
$queue = new MailQueue("$directory/2.db", table: 'post', configTable: 'settings', referenceColumn: 'number');
$queue->enqueue(mail_fields());
$queue->claim(1);
$names = ['--table=post', '--config-table=settings', '--reference-column=number'];
$move("$directory/2.db", "$directory/3.db", '--timeout=0', ...$names);
$move("$directory/2.db", "$directory/3.db", '--abort', ...$names);
$move("$directory/2.db", "$directory/3.db", '--abort', ...$names);
var_dump($queue->stats()->enabled);
$queue->recoverStuckSending(time() + 1000);
$move("sqlite:$directory/2.db", "sqlite:$directory/3.db", ...$names);
$move("$directory/3.db", "$directory/2.db", ...$names);

echo "-- deleted, after the target has sent\n";
$queue = new MailQueue("$directory/4.db");
$queue->enqueue(mail_fields());
$move("$directory/4.db", "$directory/5.db");
cli(['work', '--database', "$directory/5.db", '--transport=null://null']);
$move("$directory/4.db", "$directory/5.db", '--delete');
?>
--EXPECT--
-- usage
exit 64
mailqueue: Usage: mailqueue migrate-store [options] FROM TO
exit 64
mailqueue: --abort cannot be combined with --delete or --dry-run.
exit 64
mailqueue: --timeout must be a whole number, 0 to 86400, not "soon".
exit 73
mailqueue: There is no database %/none.db, or this user cannot reach it. Check the path; mailqueue migrate creates it.
not made
-- while one is being sent
exit 75
mailqueue: mails are still being sent after 0 s. The source stays paused: repeat the command to go on, or cancel the move with --abort
paused
bool(true)
array(0) {
}
-- a dry run, the move, what came late
exit 0
2 mails would be copied to %/to.db.
Columns that are not the queue's were not copied: colour.
exit 0
Moved 2 mails to %/to.db: 1 pending, 1 parked.
All were compared: SHA-256 HASH.
Columns that are not the queue's were not copied: colour.
exit 0
mailqueue: 0 sent; this queue was moved to %/to.db: nothing is sent from here (config key mailQueueMovedTo).
This queue was moved to %/to.db: nothing is sent from here (config key mailQueueMovedTo).
1
exit 0
{
    "late": true,
    "copied": 1,
    "deleted": 3,
    "kept": 0,
    "mails": 1,
    "counts": {
        "pending": 0,
        "sending": 0,
        "failed": 0,
        "parked": 0,
        "held": 0
    },
    "checksum": "HASH",
    "ignoredColumns": [
        "colour"
    ],
    "changedKeys": [],
    "keptKeys": []
}
exit 0
mailqueue: 2 sent; nothing more is due.
int(0)
-- given up; other names
exit 75
mailqueue: mails are still being sent after 0 s. The source stays paused: repeat the command to go on, or cancel the move with --abort
exit 0
Given up: the source sends again.
exit 78
mailqueue: there is no unfinished move to cancel
bool(true)
exit 0
Moved 1 mails to %/3.db: 1 failed.
All were compared: SHA-256 HASH.
exit 78
mailqueue: the target has mail of its own already (1 mails in post of %/2.db): move into an empty queue
-- deleted, after the target has sent
exit 0
Moved 1 mails to %/5.db: 1 pending.
All were compared: SHA-256 HASH.
exit 0
Brought 0 more mails to %/5.db.
Kept 1 mails in the source that the target lacks: it has sent or deleted them, or they were never moved (mailqueue list).
