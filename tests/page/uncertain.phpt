--TEST--
The page's view of uncertain mail shows each of them once, also among very many that are not; it looks at some at a time, and says where it stopped
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

/** Follows the links from page to page, and tells what each (or the first and the last) shows. @return list<int> the mails */
function follow(MailQueue $queue, string $language = 'en', bool $isLong = false): array
{
    $page = new Page($queue, access: fn(): string => 'admin');
    $server = ['REMOTE_ADDR' => '127.0.0.1', 'HTTP_HOST' => '127.0.0.1', 'REQUEST_METHOD' => 'GET', 'HTTP_ACCEPT_LANGUAGE' => $language];
    $found = $said = [];
    $query = 'view=uncertain';
    do {
        parse_str($query, $fields);
        $html = $page->respond(new Request($fields, [], [], $server))->body;
        preg_match_all('~view=mail&amp;id=(\d+)~', $html, $ids);
        array_push($found, ...array_map(intval(...), $ids[1]));
        preg_match('~class="note">([^<]*)|class="state good">([^<]*)~', $html, $text);
        $said[] = count($ids[1]) . ' ' . preg_replace('/\d+/', 'N', html_entity_decode(end($text) ?: '')) . (str_contains($html, 'name="which"') ? ' +' : '');
        $more = preg_match('~rel="next" href="\?([^"]*)"~', $html, $link);
        $query = html_entity_decode($link[1] ?? '');
    } while ($more);
    echo implode('; ', $isLong ? [$said[0], end($said)] : $said), "\n";
    return $found;
}

/** What the list of mails asks before it brings some back. */
function question(MailQueue $queue, array $form): string
{
    $number = str_repeat('0', 32);
    $form += ['action' => 'retry', 'token' => hash_hmac('sha256', 'form 0', $number)];
    $server = ['REMOTE_ADDR' => '127.0.0.1', 'HTTP_HOST' => '127.0.0.1', 'REQUEST_METHOD' => 'POST'];
    $page = new Page($queue, access: fn(): string => 'admin');
    $html = $page->respond(new Request(['view' => 'mails'], $form, ['mailqueue' => $number], $server))->body;
    return preg_match('~<h1>([^<]*)~', $html, $match) ? $match[1] : $html;
}

function fill(PDO $pdo, int $count, string $status): void
{
    $row = "('mail', '$status', 0, 1, 1, '<x>', '[\"m@example.net\"]')";
    foreach (array_chunk(range(1, $count), 1000) as $some) {
        $pdo->exec('INSERT INTO mail_queue (mail_type, status, priority, next_attempt_at, created_at, message_id, recipients) VALUES ' . implode(',', array_fill(0, count($some), $row)));
    }
}

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    follow($queue);
    $pdo = $backend->pdo();
    fill($pdo, 120, 'failed');
    fill($pdo, 120, 'parked');
    follow($queue);
    $pdo->exec('UPDATE mail_queue SET uncertain_to = recipients WHERE id % 2 = 1');
    $found = follow($queue);
    sort($found);
    must($found === range(1, 239, 2), json_encode($found));
    foreach ([['which' => 'all', 'status' => 'parked'], ['ids' => ['121', '122', '124']], ['ids' => ['122', '124']]] as $form) {
        echo question($queue, $form), "\n";
    }
    $pdo->exec('DELETE FROM mail_queue WHERE id > 50 AND id <= 120 OR id > 219');
    follow($queue);
    $pdo->exec("UPDATE mail_queue SET status = 'held' WHERE id = 121");
    $found = follow($queue);
    must(end($found) === 121 && count($found) === 75, json_encode($found));
});

$queue = new MailQueue($path = database());
$pdo = new PDO("sqlite:$path");
fill($pdo, 20_000, 'parked');
for ($i = 0; $i < 4; $i++) {
    $pdo->exec("INSERT INTO mail_queue (mail_type, status, priority, next_attempt_at, created_at, message_id, recipients)
        SELECT 'mail', 'parked', 0, 1, 1, '<x>', '[]' FROM mail_queue");
}
$pdo->exec("UPDATE mail_queue SET status = 'failed' WHERE id > 310000");
follow($queue, isLong: true);
$pdo->exec("UPDATE mail_queue SET uncertain_to = '[\"m@example.net\"]' WHERE id IN (309999, 319999)");
ob_start();
$found = follow($queue, 'de', true);
$said = ob_get_clean();
echo json_encode($found), ' ', strstr($said, ' bis ', true), "\n";
?>
--EXPECT--
0 No mail is uncertain.
0 No mail is uncertain.
50  +; 60  +; 10  +
Bring 120 mails back? 60 may arrive twice.
Bring 3 mails back? 1 may arrive twice.
Bring 2 mails back?
75  +
75  +
0 Looked at mails that are parked, up to N; the rest would take too long at once. "mailqueue uncertain" looks at all.; 0 No other mail is uncertain.
[309999,319999] 0 Durchsucht sind Mails im Status „geparkt“
