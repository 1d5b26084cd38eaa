--TEST--
The chart of the last hour estimates the minutes of a busy one, and says so: an outage shows, and rows that were moved here do not; on each database
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
--SKIPIF--
<?php
require __DIR__ . '/../lib/backends.inc';
echo backends_missing('pgsql', 'mysql');
?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
require dirname(__DIR__, 2) . '/web/autoload.php';

use MailQueue\Web\{Figures, Page, Request};

const EACH_SECOND = 8;

on_backends(['native', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $pdo = $backend->pdo();
    $queue->setConfig('mailHistoryDays', 30);
    $insert = static function (array $rows) use ($pdo): void {
        foreach (array_chunk($rows, 1000) as $some) {
            $pdo->exec('INSERT INTO mail_log (at, job_id, mail_type, event, attempt, recipients, uncertain) VALUES ' . implode(', ', $some));
        }
    };
    $now = time();
    $rows = $true = [];
    for ($i = 0; $i < 3600 * EACH_SECOND; $i++) {
        $at = $now - 3599 + intdiv($i, EACH_SECOND);
        $minute = $at - $at % 60;
        $isOutage = $minute > $now - 2400 && $minute <= $now - 1800;
        $recipients = 1 + $i % 3;
        $rows[] = "($at, $i, 'news', '" . ($isOutage ? 'try_later' : 'sent') . "', 1, $recipients, 0)";
        $true[$minute] = ($true[$minute] ?? 0) + ($isOutage ? 0 : $recipients);
    }
    $insert($rows);
    $insert(array_map(static fn(int $i): string => '(' . $now - 86400 . ", $i, 'news', 'sent', 1, 1, 0)", range(1, 5000)));
    [$found, $isAbout] = Figures::hour($queue);
    $true = array_intersect_key($true, $found);
    // What was moved here came in the last minute, of which only the sum says something.
    $wrong = array_filter(array_slice($true, 0, -1, true), static fn(int $number, int $minute): bool => abs($found[$minute] - $number) > 0.5 * $number, ARRAY_FILTER_USE_BOTH);
    echo $isAbout ? 'estimated' : 'exact', ', ', json_encode($wrong), ', ', abs(array_sum($found) / array_sum($true) - 1) < 0.06 ? 'the sum is right' : array_sum($found) . ' and not ' . array_sum($true), "\n";
    $page = new Page($queue, access: fn(): string => 'viewer');
    $body = $page->respond(new Request(['view' => 'overview', 'part' => 'charts'], [], [], ['REMOTE_ADDR' => '127.0.0.1', 'HTTP_HOST' => '127.0.0.1', 'REQUEST_METHOD' => 'GET']))->body;
    echo preg_match_all('~<b>about [45]\d,000</b>~', $body), preg_match_all('/aria-label="[^"]*: about [45]\d,000 recipients, at most about [\d,]+ at a time"/', $body), "\n";
});
?>
--EXPECT--
estimated, [], the sum is right
11
