--TEST--
A filter that no index serves looks at some mails at a time, and finds each of them once
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

use MailQueue\Web\{Page, Request, Search, Selection};

/** Mails with the ids 1 to $count, of which every seventh is parked and two have the subject "Here". */
function fill(PDO $pdo, int $count): void
{
    $row = "(%d, 'r%1\$d', 'mail', '%s', 0, 1, 1, '<x>', '[\"m%1\$d@example.net\"]', '%s')";
    foreach (array_chunk(range(1, $count), 1000) as $ids) {
        $pdo->exec('INSERT INTO mail_queue (id, reference, mail_type, status, priority, next_attempt_at, created_at, message_id, recipients, subject) VALUES '
            . implode(',', array_map(fn(int $id) => sprintf($row, $id, $id % 7 ? 'pending' : 'parked', in_array($id, [9_999, 24_001], true) ? 'Here' : ''), $ids)));
    }
}

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    fill($backend->pdo(), 25_000);
    $queue->claim(1, lease: 600);
    $look = function (array $fields) use ($queue): void {
        $after = 0;
        echo json_encode($fields), ':';
        do {
            $search = new Search($queue, new Selection(fn(string $name): ?string => $fields[$name] ?? null), $after, 0.0);
            echo ' ', implode(' ', array_slice(array_column($search->jobs, 'id'), 0, 3)), $search->isPart ? " … $search->next," : ($search->next === null ? ' end' : " next $search->next");
            $after = $search->next;
        } while ($search->isPart);
        echo "\n";
    };
    $look([]);
    $look(['subject' => 'here']);
    $look(['subject' => 'nothing']);
    $look(['status' => 'parked', 'subject' => 'nothing']);
    $look(['status' => 'parked', 'recipient' => 'm7@']);
    $look(['reference' => 'r20000']);
    $look(['status' => 'sending']);
    $look(['status' => 'held']);
    $look(['older' => '1d', 'type' => 'mail']);
});

$queue = new MailQueue($path = database());
fill($pdo = new PDO("sqlite:$path"), 20_000);
for ($i = 0; $i < 5; $i++) {
    $pdo->exec("INSERT INTO mail_queue (mail_type, status, priority, next_attempt_at, created_at, message_id, recipients)
        SELECT 'mail', 'pending', 0, 1, 1, '<x>', '[]' FROM mail_queue");
}
$page = new Page($queue, access: fn(): string => 'viewer');
$server = ['REMOTE_ADDR' => '127.0.0.1', 'HTTP_HOST' => '127.0.0.1', 'REQUEST_METHOD' => 'GET'];
$html = $page->respond(new Request(['view' => 'mails', 'subject' => 'nothing'], [], [], $server))->body;
echo preg_match('~Looked at the mails up to (\d+); the rest .*<a rel="next" href="\?view=mails&amp;subject=nothing&amp;after=\1">Go on looking</a>~', $html), ' ',
    preg_match('~<table|No mail~', $html), "\n";
?>
--EXPECT--
[]: 1 2 3 next 50
{"subject":"here"}: 9999 … 10000,  … 20000, 24001 end
{"subject":"nothing"}:  … 10000,  … 20000,  end
{"status":"parked","subject":"nothing"}:  … 17500,  end
{"status":"parked","recipient":"m7@"}: 7 … 17500,  end
{"reference":"r20000"}: 20000 end
{"status":"sending"}: 1 end
{"status":"held"}:  end
{"older":"1d","type":"mail"}: 1 2 3 next 50
1 0
