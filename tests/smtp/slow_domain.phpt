--TEST--
A domain that defers its recipients is slowed down, other mail goes on, and status, show and doctor say so
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';
require dirname(__DIR__) . '/lib/queue.inc';
require dirname(__DIR__) . '/lib/cli.inc';

$script = fn(string $rule): string => "at rcpt match=*@slow.example $rule\n";
$sink = new Sink($script('reply="450 4.7.1 too much mail, try later"'));
$queue = new TestQueue();
for ($i = 0; $i < 1200; $i++) {
    $queue->add("t$i", [$i % 2 ? "a$i@slow.example" : "a$i@d" . $i % 10 . '.example']);
}
$report = $queue->work("smtp://127.0.0.1:$sink->port", connections: 4, batch: 50);
$pdo = new \PDO("sqlite:$queue->path");
$tried = (int) $pdo->query('SELECT count(*) FROM mail_queue WHERE attempts > 0')->fetchColumn();
must($tried >= 20 && $tried < 600, "$tried of 600 were tried before the others waited");
echo "$report->end, ", count($sink->counts()), ' accepted, the rest waits for ', implode(' and ', $pdo->query(
    "SELECT DISTINCT waits_for FROM mail_queue WHERE attempts = 0 AND status = 'pending'")->fetchAll(\PDO::FETCH_COLUMN)), "\n";
$id = (int) $pdo->query('SELECT max(id) FROM mail_queue WHERE attempts = 0')->fetchColumn();

$cli = static fn(string ...$words): string => cli($words, ['MAILQUEUE_DATABASE' => $queue->path, 'COLUMNS' => '2000'])[1];
echo "-- status\n";
preg_match('/^Mail to .*/m', $cli('status'), $match);
echo preg_replace('/ \d+ %/', ' N %', $match[0] ?? '-'), "\n";
echo implode(preg_grep('/^waitsFor/', explode("\n", $cli('show', (string) $id)))), "\n";
echo preg_match('/^look +Mail to @slow.example.*/m', $cli('doctor')), "\n";
preg_match_all('/^mailqueue_slow.*/m', $cli('metrics'), $match);
echo implode("\n", $match[0]), "\n";

echo "-- it works again\n";
$sink->rules('');
$runs = 0;
do {
    // As if the pause were over.
    $kept = json_decode((string) $queue->queue->config('mailSlowDomains'), true) ?? [];
    $queue->queue->setConfig('mailSlowDomains', $kept ? json_encode(array_map(fn(string $text): string
        => preg_replace_callback('/^(\d+) (\d+)/', fn(array $m): string => "$m[1] " . $m[2] - $m[1], $text), $kept)) : null);
    $pdo->exec("DELETE FROM mail_window");
    $queue->waitsAreOver();
    $report = $queue->work("smtp://127.0.0.1:$sink->port");
} while ($queue->queue->config('mailSlowDomains') !== null && ++$runs < 100);
must($runs >= 5 && $runs < 60, "$runs runs");
$queue->waitsAreOver();
$queue->work("smtp://127.0.0.1:$sink->port");
echo count($sink->counts()), ' accepted, ', $queue->queue->stats()->pending + $queue->queue->stats()->failed, " left\n";
print_r($sink->violations());
?>
--EXPECT--
empty, 600 accepted, the rest waits for mailSlowdown: 1 mail in 10s to @slow.example
-- status
Mail to @slow.example is slowed down to one in 10 s (mailSlowdown): of its recent recipients N % were deferred or refused, the last one with: 450 4.7.1 too much mail, try later
waitsFor        mailSlowdown: 1 mail in 10s to @slow.example
1
mailqueue_slow_domains 1
mailqueue_slow_domain_pause_seconds{domain="@slow.example"} 10
-- it works again
1200 accepted, 0 left
Array
(
)
