--TEST--
The page's views and switches on each database
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

ini_set('error_log', temp_directory() . '/errors');

use MailQueue\Web\{Page, Request, Response};

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $pdo = $backend->pdo();
    $queue->setConfig('mailHistoryDays', 30);
    foreach (range(1, 6) as $i) {
        $queue->enqueue(mail_fields(to: "member$i@example.net"), "r$i", $i % 2 ? 'news' : 'mail');
    }
    $queue->complete($queue->claim()[0]);
    $queue->fail($queue->claim()[0], '550 5.1.1 unknown', permanent: true);
    $queue->fail($queue->claim()[0], '450 4.2.0 later', retryAfter: 60);
    $queue->hold([4]);
    $pdo->exec("UPDATE mail_queue SET parked_for = 'uncertain', uncertain_to = recipients WHERE id = 4");
    // A name that SQL itself has.
    $order = $pdo->getAttribute(PDO::ATTR_DRIVER_NAME) === 'pgsql' ? '"order"' : '`order`';
    $pdo->exec("CREATE TABLE $order (id INTEGER)");
    $pdo->exec("INSERT INTO $order VALUES (1), (2), (3)");
    $pdo->exec("INSERT INTO mail_log (at, job_id, mail_type, relay, event, phase, attempt, recipients, uncertain, reply, ms, waited)
        VALUES (" . time() . ", 1, 'news', 'smtp://relay.example.org', 'sent', 'dot', 1, 4, 0, '250 ok', 1, 1)");
    $page = new Page($queue, access: fn(): string => 'admin', bodies: true, orphanCheck: 'order.id');
    $server = ['REMOTE_ADDR' => '127.0.0.1', 'HTTP_HOST' => '127.0.0.1', 'REQUEST_METHOD' => 'GET'];
    $number = str_repeat('0', 32);
    $get = static fn(string $query): Response => (parse_str("view=$query", $fields) ?? true) ? $page->respond(new Request($fields, [], [], $server)) : null;
    $post = static fn(array $form): Response => $page->respond(new Request(['view' => 'mails'], $form + ['token' => hash_hmac('sha256', 'form 0', $number)],
        ['mailqueue' => $number], ['REQUEST_METHOD' => 'POST'] + $server));
    $text = static fn(Response $response): string => "$response->status " . trim(preg_replace(['/\d+ s\b/', '/\d+\.\d of/', '/\s+/'], ['N s', 'N of', ' '],
        html_entity_decode(strip_tags(str_replace('<', ' <', $response->body)), ENT_QUOTES | ENT_HTML5)));
    foreach (['overview&part=now', 'overview&part=charts'] as $view) {
        echo preg_replace('/\d\d:\d\d/', 'TIME', $text($get($view))), "\n";
    }
    for ($i = 0; $i < 15; $i++) {
        $pdo->exec("INSERT INTO $order SELECT id FROM $order");
    }
    preg_match('/Registrations in total: .*/', $text($get('overview&part=charts')), $match);
    echo preg_replace('/about [\d,]+|98,304/', 'MANY', $match[0] ?? $get('overview&part=charts')->body), "\n";
    foreach (['overview', 'mails', 'mails&status=parked&type=mail', 'mail&id=2', 'mail&id=1', 'preview&id=5', 'text&id=5', 'source&id=5', 'uncertain', 'relays', 'settings', 'status.json', 'metrics'] as $view) {
        $response = $get($view);
        preg_match_all('/<tr>(?!<th)/', $response->body, $rows);
        echo "$view: $response->status", $rows[0] ? ' ' . count($rows[0]) . ' rows' : '', "\n";
    }
    foreach ([['action' => 'retry-all'], ['action' => 'limit', 'limit' => '30'], ['action' => 'hold', 'which' => 'all', 'type' => 'news', 'sure' => '9'], ['action' => 'delete', 'ids' => ['2', '6'], 'sure' => '9'],
        ['action' => 'limit', 'limit' => '0']] as $form) {
        $response = $post($form);
        echo "$form[action]: $response->status ", $response->headers['Location'] ?? '', "\n";
    }
    $stats = $queue->stats();
    echo "$stats->pending $stats->parked $stats->limit\n";
    $queue->setConfig('mailMaxPerHour', null);
    $queue->setConfig('mailLimits', '1/1h per sender');
    foreach ([0, 0, 7] as $priority) {
        $last = $queue->enqueue(mail_fields(), priority: $priority);
    }
    array_map($queue->complete(...), $queue->claim(10));
    preg_match('/Waiting for a limit .*?(?=20\d\d-)/', $text($get('overview&part=now')), $match);
    echo "$match[0]\n";
    preg_match('/Waits for .*?(?= [A-Z])/', $text($get('mail&id=' . $last - 1)), $match);
    echo "a mail: $match[0]\n";
    // Of each priority, 1,000 mails are looked at.
    $row = fn(int $i): string => "('mail', 'pending', 0, " . time() + 7200 + $i . ", " . ($i % 4 ? "'1/1h per sender'" : 'NULL') . ", 1, '<x>', '[]')";
    $pdo->exec('INSERT INTO mail_queue (mail_type, status, priority, next_attempt_at, waits_for, created_at, message_id, recipients) VALUES ' . implode(', ', array_map($row, range(1, 1200))));
    preg_match('/Waiting for a limit .*?(?=20\d\d-)/', $text($get('overview&part=now')), $match);
    echo "$match[0]\n", preg_replace('/, the first until .*/', '', implode(MailQueue\Cli\Report\Waiting::texts($queue, $queue->stats()))), "\n";
});
?>
--EXPECT--
200 No worker has run yet. Mail is due. Start "mailqueue work", or look at cron; "mailqueue doctor" finds out why. Waiting for a decision: 2 mails. See the parked mails. 2 pending 0 sending 1 failed 2 parked Due now 2 Longest wait N s Limit none Workers 0 Last run never
200 Sent Last hour, by minute 5 TIME TIME UTC Last 24 hours 1 TIME TIME UTC Failed in seven days: 1 Registrations in total: 3
Registrations in total: MANY
overview: 200
mails: 200 5 rows
mails&status=parked&type=mail: 200 2 rows
mail&id=2: 200
mail&id=1: 200
preview&id=5: 200
text&id=5: 200
source&id=5: 200
uncertain: 200 1 rows
relays: 200
settings: 200
status.json: 200
metrics: 200
retry-all: 303 ?view=mails&done=retry&count=2
limit: 303 ?view=mails&done=set&count=0
hold: 303 ?view=mails&type=news&done=hold&count=2
delete: 303 ?view=mails&done=delete&count=2
limit: 400 
0 3 30
Waiting for a limit 1/1h per sender: 2 mails, the first until 
a mail: Waits for the limit 1/1h per sender
Waiting for a limit 1/1h per sender: 751 mails or more, the first until 
751 mails or more wait for the limit 1/1h per sender
