--TEST--
mailqueue health: exit 0 or 1 and one line; each trouble by its cause, thresholds as options
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$app = temp_directory() . '/app.sqlite';
$environment = ['MAILQUEUE_DATABASE' => $app, 'MAILQUEUE_TRANSPORT' => 'null://null'];
$health = fn(string ...$arguments) => show(preg_replace('/ for \d+ s\b/', ' for a moment', cli(['health', ...$arguments], $environment)));
$queue = new MailQueue($app);
$pdo = new PDO("sqlite:$app");
$health();
echo "-- due, and nobody runs\n";
$queue->enqueue(mail_fields(), 'r1');
$health();
$pdo->exec('UPDATE mail_queue SET next_attempt_at = next_attempt_at - 7200, created_at = created_at - 7200');
$health('--max-silence', '7d');
$queue->setConfig('mailLastRun', time() - 1200);
$health('--max-age', '3h');
echo json_encode(array_diff_key(json_decode(cli(['health', '--json'], $environment)[1], true), ['lastRunAt' => 0, 'overdueSeconds' => 0])), "\n";
$health('--max-age', '3h', '--max-silence', '30m');
echo "-- a worker runs\n";
$worker = proc_open(cli_command(['work', '--daemon', '--database', $app, '--transport', 'null://null']), [], $pipes, null, $environment + getenv());
must(wait_until(fn() => $queue->job(1) === null), 'sent');
$queue->setConfig('mailLastRun', time() - 1200);
$queue->setConfig('mailQueueEnabled', 0);
$queue->enqueue(mail_fields(), 'r2');
$health();
proc_terminate($worker);
proc_close($worker);
echo "-- parked, paused\n";
$queue->hold([2]);
$queue->setConfig('mailQueueEnabled', 1);
$health('--max-parked', '1');
$health('--max-parked', '0');
$queue->setConfig('mailRelayPause', json_encode(['smtp://relay:25' => (time() + 600) . ' 3 login refused']));
$health();
show(cli(['health', '--max-age', 'long'], $environment));
show(cli(['health', '--database', '/nowhere/x.sqlite'], $environment));
?>
--EXPECT--
exit 0
ok; 0 due, 0 parked, last run -
-- due, and nobody runs
exit 0
ok; 1 due for a moment, 0 parked, last run -
exit 1
trouble: mail has been due for 2 h 0 min; 1 due for 2 h 0 min, 0 parked, last run -
exit 1
trouble: no worker has run for 20 min; 1 due for 2 h 0 min, 0 parked, last run TIME
{"ok":false,"troubles":["no worker has run for 20 min","mail has been due for 2 h 0 min"],"due":1,"workers":0,"parked":0,"pausedUntil":null}
exit 0
ok; 1 due for 2 h 0 min, 0 parked, last run TIME
-- a worker runs
exit 1
trouble: sending is switched off; 1 due for a moment, 0 parked, last run TIME
mailqueue: 1 sent; stopped by a signal.
-- parked, paused
exit 0
ok; 0 due, 1 parked, last run TIME
exit 1
trouble: 1 parked; 0 due, 1 parked, last run TIME
exit 1
trouble: The relay smtp://relay:25 is paused until TIME: login refused; 0 due, 1 parked, last run TIME
exit 64
mailqueue: --max-age must be a span such as 90s, 15m, 12h or 7d.
exit 73
mailqueue: There is no database /nowhere/x.sqlite, or this user cannot reach it. Check the path; mailqueue migrate creates it.
