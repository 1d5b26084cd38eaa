--TEST--
mailqueue migrate-store: after kill -9 at any time the same command continues; no mail is missing or sent twice
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--FILE--
<?php
/* MAILQUEUE_KILLS sets the least number of kills (20). */
require __DIR__ . '/../lib/cli.inc';
$kills = (int) (getenv('MAILQUEUE_KILLS') ?: 20);
mt_srand(4711);
$from = database();
$to = dirname($from) . '/to.db';
$queue = new MailQueue($from);
$body = "From: a@example.org\r\nTo: b@example.org\r\n\r\n" . str_repeat("text\r\n", 200);
$queue->enqueueMany((function () use ($body) {
    for ($i = 0; $i < 6000; $i++) {
        yield ['message' => $body, 'reference' => "r$i"];
    }
})());
/* How long a move takes here: one complete run. */
$begun = hrtime(true);
cli(['migrate-store', $from, $to]);
$whole = intdiv(hrtime(true) - $begun, 1000);
array_map(unlink(...), glob("$to*"));
$queue->setConfig('mailQueueMovedTo', null);
$stopped = [];
for ($i = 0; $i < $kills || (count($stopped) <= 3 && $i < 10 * $kills); $i++) {
    $process = proc_open(cli_command(['migrate-store', $from, $to]), [1 => ['pipe', 'w'], 2 => STDERR], $pipes);
    usleep(mt_rand(intdiv($whole, 5), $whole + 50_000));
    proc_terminate($process, SIGKILL);
    proc_close($process);
    $queue->enqueue($body, reference: "during $i");
    $target = is_file($to) ? new MailQueue($to) : null;
    $over = $target && str_contains($target->config('mailQueueMovedFrom') ?? '', ' copied ');
    if (!$over && $target?->claim() || $over && $queue->claim()) {
        echo "claimed in between\n";
    }
    $stopped[$over ? 'over' : ($target ? $target->stats()->pending : 'none')] = true;
    if ($over) { // start again
        unset($target);
        array_map(unlink(...), glob("$to*"));
        $queue->setConfig('mailQueueMovedTo', null);
    }
}
echo count($stopped) > 3 ? "killed at many places\n" : 'killed only at ' . json_encode($stopped) . "\n";
[$code, , $errors] = cli(['migrate-store', $from, $to]);
echo "exit $code$errors\n";
$pdo = new PDO("sqlite:$from");
$pdo->exec("ATTACH '$to' AS other");
$count = fn(string $sql): int => (int) $pdo->query("SELECT count(*) FROM $sql")->fetchColumn();
$total = 6000 + $i;
var_dump($count('main.mail_queue') === $total, $count('other.mail_queue') === $total, $count('other.mail_body') === $total,
    $count('main.mail_queue a JOIN other.mail_queue b ON b.id = a.id AND b.reference = a.reference AND b.message_id = a.message_id') === $total,
    $count('main.mail_body a JOIN other.mail_body b ON b.id = a.id AND b.content = a.content') === $total,
    $pdo->query('PRAGMA other.integrity_check')->fetchColumn());
?>
--EXPECT--
killed at many places
exit 0
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
string(2) "ok"
