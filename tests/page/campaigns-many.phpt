--TEST--
The page's view of campaigns looks at the newest 10,000 parked mails, and says if a campaign may have more; on each database
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/backends.inc';
echo backends_missing('pgsql', 'mysql');
?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
require dirname(__DIR__, 2) . '/web/autoload.php';

use MailQueue\Web\{Page, Request};

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $pdo = $backend->pdo();
    $pdo->exec('DELETE FROM mail_queue');
    $id = 0;
    $add = function (int $campaign, int $count, string $status, ?string $why = null) use ($pdo, &$id): void {
        $why = $why === null ? 'NULL' : "'$why'";
        foreach (array_chunk(range(1, $count), 1000) as $some) {
            $pdo->exec('INSERT INTO mail_queue (id, mail_type, status, parked_for, campaign_id, priority, next_attempt_at, created_at, message_id, recipients) VALUES '
                . implode(',', array_map(function () use ($campaign, $status, $why, &$id): string {
                    return '(' . ++$id . ", 'news', '$status', $why, $campaign, 0, 4000000000, 1, '<x>', '[]')";
                }, $some)));
        }
    };
    // Recipients that had a mail, sent ones, parked ones; the others are under way or gone.
    foreach ([['winter', 'finished', 8000, 3000, 5000], ['spring', 'running', 7030, 500, 6500], ['summer', 'finished', 600, 0, 500], ['autumn', 'cancelled', 900, 10, 0], ['empty', 'draft', 0, 0, 0]] as $i => [$name, $state, $fed, $sent, $parked]) {
        $queue->campaign($name);
        $pdo->exec("UPDATE mail_campaign SET state = '$state', recipients = $fed, fed = $fed, sent = $sent WHERE name = '$name'");
        $parked && $add($i + 1, $parked - 100, 'parked', 'refused');
        $parked && $add($i + 1, 100, 'parked', 'exhausted');
    }
    $add(2, 10, 'pending');
    $add(2, 20, 'failed');
    $page = new Page($queue, access: fn(): string => 'viewer');
    $server = ['REMOTE_ADDR' => '127.0.0.1', 'HTTP_HOST' => '127.0.0.1', 'REQUEST_METHOD' => 'GET'];
    $show = function (string $language) use ($page, $server): void {
        $html = $page->respond(new Request(['view' => 'campaigns', 'part' => 'list'], [], [], $server + ['HTTP_ACCEPT_LANGUAGE' => $language]))->body;
        preg_match_all('~<td class="(campaign|progress|failed)"[^>]*>(.*?)</td>~', $html, $cells);
        $cells = array_map(fn(string $cell): string => trim(preg_replace('/\s+/', ' ', strip_tags(str_replace('<', ' <', $cell)))), $cells[2]);
        echo implode("\n", array_map(fn(array $row): string => implode(' | ', $row), array_chunk($cells, 3))), "\n";
    };
    $show('en');
    $show('de');
    $pdo->exec('DELETE FROM mail_queue WHERE id <= 2000');
    echo "-- 10,000\n";
    $show('en');
    foreach (['winter', 'spring', 'summer'] as $name) {
        $of = $queue->campaign($name)->progress();
        echo "$name: $of[pending] pending, $of[failed] failed, $of[refused] refused, $of[parked] parked, $of[gone] gone\n";
    }
});
?>
--EXPECT--
empty | 0 of 0 | 0
autumn | 10 of 900 | 0 or more
summer | 600 of 600 | 500 to 600
spring | 7,000 of 7,030 | 6,500
winter | 8,000 of 8,000 | 3,000 to 5,000
empty | 0 von 0 | 0
autumn | 10 von 900 | 0 oder mehr
summer | 600 von 600 | 500 bis 600
spring | 7.000 von 7.030 | 6.500
winter | 8.000 von 8.000 | 3.000 bis 5.000
-- 10,000
empty | 0 of 0 | 0
autumn | 10 of 900 890 gone | 0
summer | 600 of 600 100 gone | 500
spring | 7,000 of 7,030 | 6,500
winter | 8,000 of 8,000 2,000 gone | 3,000
winter: 0 pending, 0 failed, 2900 refused, 100 parked, 2000 gone
spring: 10 pending, 20 failed, 6400 refused, 100 parked, 0 gone
summer: 0 pending, 0 failed, 400 refused, 100 parked, 100 gone
