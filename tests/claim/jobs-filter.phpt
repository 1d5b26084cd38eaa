--TEST--
jobs(): every argument restricts the list; parts of recipients, errors and subjects in upper or lower case
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

use MailQueue\Status;

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $mail = fn(string $to, string $subject): array => ['to' => $to, 'subject' => $subject] + mail_fields();
    $queue->enqueue($mail('Ann <Ann@Example.net>', 'Invoice 50% off'), 'r1', 'invoice');
    $queue->enqueue($mail('bob@example.com', "It's \\ {t} %d ?1 for Zoë"), 'r2', 'news');
    $queue->enqueue($mail('carol@example.net', 'Hello'), "r'3", 'news', priority: 9);
    [$job] = $queue->claim();
    $queue->fail($job, 'Mailbox is FULL', permanent: true);
    $queue->enqueue(null, 'r4', 'later', priority: -9);
    $show = function (mixed ...$filter) use ($queue): void {
        echo json_encode(array_map(fn($value) => $value instanceof Status ? $value->value : $value, $filter), JSON_UNESCAPED_UNICODE),
            ': ', implode(' ', array_column($queue->jobs(...$filter), 'reference')), "\n";
    };
    $show();
    $show(type: 'news');
    $show(type: 'new');
    $show(reference: "r'3");
    $show(reference: 'R1');
    $show(recipient: 'ann@EXAMPLE');
    $show(recipient: 'carol@'); // it was refused: the row has it there
    $show(error: 'mailbox is full');
    $show(subject: '50% OFF');
    $show(subject: '50_');
    $show(subject: '{t} %d ?1 for Zoë');
    $show(subject: "it's \\");
    $show(status: Status::Parked, type: 'news');
    $show(status: Status::Pending, type: 'news', limit: 1);
    $show(after: 1, limit: 2, recipient: '@example');
    $show(after: 1, until: 3, recipient: '@example');
    $show(until: 3, createdBefore: 4000000000, type: 'news', recipient: 'a', subject: 'e', error: 'full', reference: "r'3", status: Status::Parked);
    $show(createdBefore: 4000000000, type: 'later');
    $show(createdBefore: 1);
    echo thrown(fn() => $queue->jobs(createdBefore: 0)), "\n";
    echo thrown(fn() => $queue->jobs(until: 0)), "\n";
});
?>
--EXPECT--
[]: r1 r2 r'3 r4
{"type":"news"}: r2 r'3
{"type":"new"}: 
{"reference":"r'3"}: r'3
{"reference":"R1"}: 
{"recipient":"ann@EXAMPLE"}: r1
{"recipient":"carol@"}: r'3
{"error":"mailbox is full"}: r'3
{"subject":"50% OFF"}: r1
{"subject":"50_"}: 
{"subject":"{t} %d ?1 for Zoë"}: r2
{"subject":"it's \\"}: r2
{"status":"parked","type":"news"}: r'3
{"status":"pending","type":"news","limit":1}: r2
{"after":1,"limit":2,"recipient":"@example"}: r2 r'3
{"after":1,"until":3,"recipient":"@example"}: r2 r'3
{"until":3,"createdBefore":4000000000,"type":"news","recipient":"a","subject":"e","error":"full","reference":"r'3","status":"parked"}: r'3
{"createdBefore":4000000000,"type":"later"}: r4
{"createdBefore":1}: 
ValueError: MailQueue::jobs(): Argument #9 ($createdBefore) must be a time after 1970
ValueError: MailQueue::jobs(): Argument #12 ($until) must be an id, or null for all
