--TEST--
The test redirect: a claimed job goes to the redirect's address, its row keeps the recipients
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $queue->setConfig('mailRedirectTo', '@test.example');
    $to = array_map(fn($i) => "a-rather-long-name-number-$i@example.net", range(1, 4));
    $id = $queue->enqueue(mail_fields(), 'x', recipients: ['ann@example.net', 'ann@example.com', ...$to]);
    [$job] = $queue->claim();
    echo implode("\n", $job->recipients), "\n";
    [$header, $rest] = explode("\r\nDate:", $job->message, 2);
    echo str_replace("\r", '', $header), "\n";
    must(str_ends_with($queue->job($id)->message, $rest) && !str_contains($queue->job($id)->message, 'X-Original-To'), 'the row keeps its message');
    echo count($queue->job($id)->recipients), " in the row\n";
    var_dump($queue->complete($job), $queue->job($id));

    echo "one address, an organizer's mail is not redirected:\n";
    $queue->setConfig('mailRedirectTo', 'me@test.example');
    $queue->enqueue(mail_fields(), 'y', recipients: ['ann@example.net', 'bob@example.net']);
    $queue->enqueue(mail_fields(), 'y', 'organizer', recipients: ['ann@example.net']);
    foreach ($queue->claim(2) as $job) {
        echo $job->type, ' ', implode(' ', $job->recipients), ' ', str_contains($job->message, 'X-Original-To: ann@example.net,') ? 'marked' : 'not marked', "\n";
    }
});
?>
--EXPECT--
ann@test.example
a-rather-long-name-number-1@test.example
a-rather-long-name-number-2@test.example
a-rather-long-name-number-3@test.example
a-rather-long-name-number-4@test.example
X-Original-To: ann@example.net,
 ann@example.com,
 a-rather-long-name-number-1@example.net,
 a-rather-long-name-number-2@example.net,
 a-rather-long-name-number-3@example.net,
 a-rather-long-name-number-4@example.net
6 in the row
bool(true)
NULL
one address, an organizer's mail is not redirected:
mail me@test.example marked
organizer ann@example.net not marked
