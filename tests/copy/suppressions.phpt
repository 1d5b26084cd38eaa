--TEST--
migrate-store takes the suppressions along, also forgotten ones, and bounces, and keeps the target's own; mail on both sides is stopped
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
use MailQueue\Cli\Bounce\Event;
use MailQueue\Cli\Bounce\Kind;
use MailQueue\Cli\Bounce\Recorder;

foreach ([['sqlite', 'pgsql'], ['pgsql', 'mysql'], ['mysql', 'sqlite']] as [$one, $two]) {
    [$a, $b] = [new Backend($one), new Backend($two)];
    [$from, $to] = [$a->queue(), $b->queue()];
    $many = static fn(string ...$to): array => array_map(static fn(string $to): array => ['message' => mail_fields(to: $to)], $to);
    foreach (range(1, 1100) as $i) {
        $rows[] = ["n$i@example.net", 'complaint', null, null, 0];
    }
    MailQueue\Internal::suppressMany($from, $rows);
    $from->suppress('fórgotten@example.net', 'hard_bounce', null, 'ü');
    MailQueue\Internal::forgetSuppressed($from, 'fórgotten@example.net');
    $from->suppress('list@example.net', 'unsubscribe', 'list:news');
    $to->suppress('own@example.net');
    $bounce = static fn(MailQueue $queue, int $number): string => (new Recorder($queue))->record(new Event('soft@example.net', Kind::Soft, 'x', 'test', time(), "event $number"))->value;
    foreach (range(1, 4) as $i) {
        $bounce($from, $i);
    }
    $source = $a->pdo();
    $others = implode(', ', array_map(static fn(int $i): string => '(' . ($i % 7 - 3) . ", $i, 1000, 'hard', 0)", range(1, 450)));
    $source->exec("INSERT INTO mail_bounce (hash, event, at, kind, n) VALUES $others");
    $from->enqueueMany($many('n7@example.net', 'fórgotten@example.net', 'fine@example.net'));
    $target = $b->pdo();
    $isLate = false;
    migration($source, $target, static function () use (&$isLate, $to, $many): void {
        $isLate || $to->enqueueMany($many('n8@example.net', 'own@example.net', 'late@example.net'));
        $isLate = true;
    })->run();
    $to = $b->queue();
    echo "$one to $two: ", count($to->suppressions(10000)), ' ', json_encode([count($to->suppression('FÓRGOTTEN@example.net')), count($to->suppression('fórgotten@example.net')),
        $to->suppression('list@example.net')[0]['scope'], count($to->suppression('own@example.net'))]), "\n";
    echo 'bounces: ', (int) $target->query('SELECT count(*) FROM mail_bounce')->fetchColumn(), "\n";
    $report = $to->runWorker('null://null', log: '');
    echo "sent $report->sent suppressed $report->suppressed\n";
    $to->suppress('more@example.net');
    echo 'soft: ', $bounce($to, 4), ', ', $bounce($to, 5), "\n";
    $to->suppress('hit@example.net');
    foreach (range(1, 5) as $i) {
        $from->suppress("there$i@example.net");
    }
    $from->enqueueMany($many('hit@example.net'));
    migration($a->pdo(), $b->pdo())->run();
    $report = $to->runWorker('null://null', log: '');
    echo "late: sent $report->sent suppressed $report->suppressed\n";
    echo count($to->suppressions(10000)), ' ', (int) $to->config('mailSuppressed') >= 1104 ? 'counts on' : 'LOST', "\n";
    $rows = [];
}
?>
--EXPECT--
sqlite to pgsql: 1103 [0,1,"list:news",1]
bounces: 454
sent 2 suppressed 4
soft: known, suppressed
late: sent 0 suppressed 1
1106 counts on
pgsql to mysql: 1103 [0,1,"list:news",1]
bounces: 454
sent 2 suppressed 4
soft: known, suppressed
late: sent 0 suppressed 1
1106 counts on
mysql to sqlite: 1103 [0,1,"list:news",1]
bounces: 454
sent 2 suppressed 4
soft: known, suppressed
late: sent 0 suppressed 1
1106 counts on
