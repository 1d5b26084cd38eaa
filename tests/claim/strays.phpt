--TEST--
Rows with a status from another program or a newer version: named, left alone, no obstacle to other mail
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $pdo = $backend->pdo();
    for ($i = 1; $i <= 6; $i++) {
        $ids[$i] = $queue->enqueue(mail_fields(), "r$i");
    }
    echo json_encode($queue->strays()), "\n";
    $pdo->exec("UPDATE mail_queue SET status = 'sent' WHERE id IN ($ids[1], $ids[2])");
    $pdo->exec("UPDATE mail_queue SET status = 'sending' WHERE id = $ids[4]");
    $pdo->exec("UPDATE mail_queue SET status = 'Zzz' WHERE id = $ids[6]");
    $mine = fn(array $byId): string => json_encode(array_combine(array_map(fn($id) => 'r' . array_search($id, $ids), array_keys($byId)), $byId));
    $list = fn(array $jobs): string => implode(' ', array_map(fn($job) => "$job->reference:{$job->status->value}", $jobs));
    echo $mine($queue->strays()), "\n";
    echo $list($queue->jobs()), ' | ', $list($queue->jobs(limit: 1)), ' | ', $list($queue->jobs(limit: 2)), ' | ', $list($queue->jobs(after: $ids[5])), "\n";
    $stats = $queue->stats();
    echo "pending $stats->pending sending $stats->sending\n";
    echo thrown(fn() => $queue->job($ids[1])), "\n";
    echo $queue->runWorker('null://null', log: '')->sent, " sent\n";
    echo $mine($queue->strays()), "\n";
    echo 'deleted: ', $queue->delete([$ids[1]]), "\n";
    echo $pdo->query('SELECT count(*) FROM mail_queue')->fetchColumn(), ' rows, ', $pdo->query('SELECT count(*) FROM mail_body')->fetchColumn(), " messages\n";
});

require __DIR__ . '/../lib/cli.inc';
echo "-- commands\n";
$path = database();
$queue = new MailQueue($path);
for ($i = 0; $i < 9; $i++) {
    $queue->enqueue(mail_fields());
}
(new PDO("sqlite:$path"))->exec("UPDATE mail_queue SET status = CASE WHEN id = 7 THEN 'sending' ELSE 'queued' END WHERE id < 8");
$at = ['--database', $path];
[$code, $output] = cli(['status', ...$at]);
echo $code, ' ', preg_replace('/\s+/', ' ', strstr(str_replace($path, 'DB', $output), 'These mails')), "\n";
[$code, $output] = cli(['list', ...$at]);
echo "$code ", preg_match_all('/^[89] .*pending/m', $output), " listed\n";
$doctor = fn(): array => array_column(array_filter(json_decode(cli(['doctor', '--json', ...$at])[1], true), fn($one) => !$one['ok']), 'run', 'what');
$run = array_filter($doctor(), fn($what) => str_contains($what, 'never sent'), ARRAY_FILTER_USE_KEY);
echo str_replace($path, 'DB', json_encode($run, JSON_UNESCAPED_SLASHES)), "\n";
echo typed(current($run))[0], ' ', count(array_filter(array_keys($doctor()), fn($what) => str_contains($what, 'never sent'))), " left\n";
$why = array_column(array_map(fn($job) => [$job->id, $job->parkedFor . (count($job->uncertainTo) ?: '')], $queue->jobs(MailQueue\Status::Parked)), 1, 0);
echo json_encode($why), "\n", cli(['retry', '--all', ...$at])[2], cli(['uncertain', ...$at])[1] === '' ? "not listed\n" : '';
echo cli(['retry', '--all', '--yes', ...$at])[1], $queue->runWorker('null://null', log: '')->sent, " sent\n";
foreach (['pgsql', 'mysql'] as $name) { // there a person types the SQL
    $backend = new Backend($name);
    $queue = $backend->queue();
    [$first, $second] = [$queue->enqueue(mail_fields()), $queue->enqueue(mail_fields())];
    $backend->pdo()->exec("UPDATE mail_queue SET status = CASE WHEN id = $first THEN 'sending' ELSE 'queued' END");
    preg_match('/UPDATE mail_queue SET parked_for.*?\)(?=")/', cli(['doctor', '--json', '--database', $backend->dsn])[1], $match);
    $backend->pdo()->exec($match[0]);
    echo implode(' ', array_map(fn($id) => $queue->job($id)->parkedFor, [$first, $second])), "\n";
}
?>
--EXPECT--
[]
{"r1":"sent","r2":"sent","r4":"sending","r6":"Zzz"}
r3:pending r4:sending r5:pending | r3:pending | r3:pending r4:sending | 
pending 2 sending 0
MailQueue\DatabaseException [schema]: job 1 has the unknown status "sent": a newer version wrote it, or another program; upgrade the extension or correct the row
2 sent
{"r1":"sent","r2":"sent","r4":"sending","r6":"Zzz"}
deleted: 1
3 rows, 3 messages
-- commands
0 These mails are never sent, because of their status: 1 (queued), 2 (queued), 3 (queued), 4 (queued), 5 (queued) and 2 more. A newer version of mailqueue wrote it, or another program. mailqueue doctor --database DB says what helps. 
0 2 listed
{"These mails are never sent, because of their status: 1 (queued), 2 (queued), 3 (queued), 4 (queued), 5 (queued) and 2 more. A newer version of mailqueue wrote it, or another program.":"sqlite3 DB 'UPDATE mail_queue SET parked_for = CASE WHEN status = '\\''sending'\\'' THEN '\\''uncertain'\\'' ELSE '\\''hold'\\'' END, uncertain_to = CASE WHEN status = '\\''sending'\\'' THEN COALESCE(recipients, uncertain_to, '\\''[]'\\'') ELSE uncertain_to END, locked_until = NULL, locked_by = NULL, status = '\\''parked'\\'' WHERE id IN (1, 2, 3, 4, 5, 6, 7)'"}
0 0 left
{"1":"hold","2":"hold","3":"hold","4":"hold","5":"hold","6":"hold","7":"uncertain1"}
mailqueue: Bring 7 mails back (1 may arrive twice)? Add --yes.
7 brought back.
9 sent
uncertain hold
uncertain hold
