--TEST--
mailqueue work: reports, JSON, a second start exits with 0, the log, the progress bar only on a terminal
--EXTENSIONS--
mailqueue
posix
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$dir = temp_directory();
$app = "$dir/app.sqlite";
$environment = ['MAILQUEUE_DATABASE' => $app, 'MAILQUEUE_TRANSPORT' => 'null://null'];
$queue = new MailQueue($app);
foreach (range(1, 8) as $i) {
    $queue->enqueue(mail_fields(), reference: "r$i");
}
show(cli(['work', '--message-limit', '3'], $environment));
$queue->setConfig('mailMaxPerHour', 1);
$queue->setConfig('mailBurst', 1);
show(cli(['work', '--time-limit', '20'], $environment));
$queue->setConfig('mailMaxPerHour', null);
$queue->setConfig('mailQueueEnabled', 0);
show(cli(['work'], $environment));
$queue->setConfig('mailQueueEnabled', null);

[$code, $json, $errors] = cli(['work', '--json', '--message-limit', '1'], $environment);
$report = json_decode($json, true);
echo "exit $code: $report[end], sent $report[sent], claimed $report[claimed], errors \"$errors\"\n";
show(cli(['work', '--quiet'], $environment));

echo "-- a second start\n";
$held = new Other('$queue = new MailQueue($argv[1]); $queue->runWorker("null://null", daemon: true, log: "",
    onEvent: static function (): void {}, timeLimit: 120);', $app);
wait_until(static fn(): bool => json_decode(cli(['doctor', '--json'], $environment)[1]) !== null
    && (new MailQueue($app))->diagnostics()['workers'] === 1);
show(cli(['work'], $environment));
posix_kill($held->pid(), SIGTERM);
$held->end();

echo "-- the log\n";
$log = file("$dir/mail-queue.log");
echo decoct(fileperms("$dir/mail-queue.log") & 0777), ' ', count($log), " lines\n";
$events = array_count_values(array_column(array_map(static fn(string $line) => json_decode($line, true, 4, JSON_THROW_ON_ERROR), $log), 'event'));
ksort($events);
echo json_encode($events), "\n";
preg_match('/"event":"run".*"reply":"end=locked/', implode($log)) or print("the second start is not in the log\n");
mkdir(temp_home() . '/logs');
cli(['work', '--quiet'], $environment);
var_dump(file_exists(temp_home() . '/logs/mail-queue.log'));
cli(['work', '--quiet'], $environment + ['MAIL_QUEUE_LOG' => "$dir/own.log"]);
var_dump(file_exists("$dir/own.log"));

echo "-- a terminal\n";
$queue->enqueue(mail_fields());
$text = cli_on_terminal(['work'], $environment);
echo preg_match('/\[#{30}\] 1 of 1\r\n.*exit 0$/s', $text) ? 'a bar' : "no bar: $text", "\n";
?>
--EXPECT--
exit 0
mailqueue: 3 sent; the message limit is reached.
exit 0
mailqueue: 1 sent; the hourly limit is reached until TIME.
exit 0
mailqueue: 0 sent; mailQueueEnabled is 0; mailqueue config mailQueueEnabled 1 switches it on.
exit 0: messages, sent 1, claimed 1, errors ""
exit 0
-- a second start
exit 0
mailqueue: 0 sent; another worker is running.
-- the log
600 22 lines
{"claimed":8,"run":6,"sent":8}
bool(true)
bool(true)
-- a terminal
a bar
