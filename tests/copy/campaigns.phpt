--TEST--
migrate-store takes campaigns, their messages and their recipients along; they go on in the target, and come back
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
require __DIR__ . '/copy.inc';

foreach ([['sqlite', 'pgsql'], ['pgsql', 'mysql'], ['mysql', 'sqlite']] as [$one, $two]) {
    [$a, $b] = [new Backend($one), new Backend($two)];
    [$from, $to] = [$a->queue(), $b->queue()];
    foreach (['spring' => 1200, 'summer' => 3] as $name => $count) {
        $campaign = $from->campaign($name);
        $campaign->setMessage(['from' => 'Bücher <news@example.org>', 'subject' => 'Hello {{name}}', 'text' => "$name in {{town}}"]);
        $campaign->add(array_map(fn(int $i): array => ['address' => "r$i@example.net", 'name' => "Reader ü $i", 'fields' => ['town' => "Köln $i"]], range(1, $count)));
        $campaign->start();
    }
    $from->runWorker('null://null', log: '', messageLimit: 100);
    $late = null;
    migration($a->pdo(), $b->pdo(), static function () use ($from, &$late): void {
        $late ??= $from->campaign('summer')->add([['address' => 'late@example.net', 'name' => 'Late', 'fields' => ['town' => 'x']]]);
    })->run(deletes: true);
    $to = $b->queue();
    $sent = [];
    $report = $to->runWorker(function ($job, $message, $by, $recipients) use (&$sent): void {
        $sent[$recipients[0]][] = $message;
    }, log: '');
    echo "$one to $two: sent $report->sent ", count($sent), ' ', json_encode(array_intersect_key($to->campaign('spring')->progress(), ['state' => 0, 'recipients' => 0, 'sent' => 0])),
        json_encode(array_intersect_key($to->campaign('summer')->progress(), ['state' => 0, 'recipients' => 0, 'sent' => 0])), ' ',
        count(array_filter($sent['r3@example.net'], fn(string $mail): bool => str_contains(quoted_printable_decode($mail), 'summer in Köln 3'))), "\n";
    $new = $to->campaign('autumn');
    $new->setMessage(['from' => 'news@example.org', 'subject' => 'x', 'text' => 'y']);
    echo $new->add(['new@example.net']), ' ', thrown(fn() => migration($a->another()->pdo(), $b->pdo())->run()), "\n";
    migration($b->pdo(), $a->pdo())->run();
    $back = $a->queue();
    echo 'back: ', implode(' ', array_column($back->campaigns(), 'name')), ' ', $back->campaign('autumn')->progress()['recipients'], "\n";
}
?>
--EXPECTF--
sqlite to pgsql: sent 1104 1104 {"state":"finished","recipients":1200,"sent":1200}{"state":"finished","recipients":4,"sent":4} 1
1 MailQueue\Cli\Stop: the target has campaigns of its own already (3 in two): move into an empty queue
back: autumn summer spring 1
pgsql to mysql: sent 1104 1104 {"state":"finished","recipients":1200,"sent":1200}{"state":"finished","recipients":4,"sent":4} 1
1 MailQueue\Cli\Stop: the target has campaigns of its own already (3 in two): move into an empty queue
back: autumn summer spring 1
mysql to sqlite: sent 1104 1104 {"state":"finished","recipients":1200,"sent":1200}{"state":"finished","recipients":4,"sent":4} 1
1 MailQueue\Cli\Stop: the target has campaigns of its own already (3 in two): move into an empty queue
back: autumn summer spring 1
