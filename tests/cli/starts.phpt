--TEST--
mailqueue work: surplus starts exit with 0, also while other connections have locked the database
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$dir = temp_directory();
$app = "$dir/app.sqlite";
$environment = ['MAILQUEUE_DATABASE' => $app, 'MAILQUEUE_TRANSPORT' => 'null://null', 'MAIL_QUEUE_LOG' => "$dir/log"];
$queue = new MailQueue($app, journal: 'delete');
$queue->enqueue(mail_fields());
show(cli(['work'], $environment));
$locked = static fn(): int => preg_match_all('/"reply":"end=locked"/', (string) @file_get_contents("$dir/log"));

echo "-- another runs, and the database is locked\n";
$slot = fopen("$app.run/worker-0.lock", 'r+');
must(flock($slot, LOCK_EX | LOCK_NB), 'the first run has ended');
$other = new PDO("sqlite:$app");
$other->exec('BEGIN EXCLUSIVE');
show(cli(['work'], $environment));
show(cli(['work', '--quiet'], $environment));
$report = json_decode(cli(['work', '--json'], $environment)[1]);
echo json_encode([$report->end, $report->sent, $report->redirectTo]), ' in the log: ', $locked(), "\n";
$link = "$dir/link.sqlite";
symlink($app, $link);
show(cli(['work', '--database', $link], $environment));
$other->exec('COMMIT');
echo "-- two may run\n";
show(cli(['work', '--workers', '2'], $environment));
fclose($slot);

echo "-- many at once\n";
$queue->enqueueMany((function () {
    for ($i = 0; $i < 200; $i++) {
        yield ['message' => mail_fields()];
    }
})());
$other->exec('BEGIN EXCLUSIVE');
$started = [];
for ($i = 0; $i < 20; $i++) {
    $started[] = proc_open(cli_command(['work', '--json']), [['file', '/dev/null', 'r'], ['file', "$dir/out$i", 'w'], ['file', "$dir/err$i", 'w']],
        $pipes, $dir, $environment + ['PATH' => getenv('PATH'), 'HOME' => $dir] + sanitizer_environment());
}
sleep(1);
$other->exec('COMMIT');
$exits = array_count_values(array_map(proc_close(...), $started));
$sent = 0;
for ($i = 0; $i < 20; $i++) {
    $report = json_decode((string) file_get_contents("$dir/out$i"));
    $sent += $report->sent ?? 0;
    echo file_get_contents("$dir/err$i");
}
echo json_encode($exits, JSON_FORCE_OBJECT), " sent $sent, left ", $queue->stats()->pending, "\n";
?>
--EXPECT--
exit 0
mailqueue: 1 sent; nothing more is due.
-- another runs, and the database is locked
exit 0
mailqueue: 0 sent; another worker is running.
exit 0
["locked",0,null] in the log: 3
exit 0
mailqueue: 0 sent; another worker is running.
-- two may run
exit 0
mailqueue: 0 sent; nothing more is due.
-- many at once
{"0":20} sent 200, left 0
