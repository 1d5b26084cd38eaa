--TEST--
migrate-store refuses to replace the key of suppressions that another job table of the target has; two job tables of one database move one after the other
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
use MailQueue\Cli\Move\Migration;
use MailQueue\Cli\Move\Store;

/** A move of one job table. */
function move(Backend $from, Backend $to, string $table = 'mail_queue', ?Closure $progress = null): string
{
    $store = fn(PDO $pdo, string $name): Store => new Store($pdo, new MailQueue($pdo, $table), $name, $table);
    return thrown(fn() => (new Migration($store($from->pdo(), 'one'), $store($to->pdo(), 'two'), 60, $progress))->run());
}

foreach ([['sqlite', 'pgsql'], ['pgsql', 'mysql'], ['mysql', 'sqlite']] as [$one, $two]) {
    echo "-- $one to $two\n";
    [$a, $b] = [new Backend($one), new Backend($two)];
    $from = $a->queue();
    $from->suppress('amy@example.net');
    $shop = $b->queue('shop_mail');
    $shop->suppress('bob@example.net');
    echo move($a, $b), "\n";
    echo count($shop->suppression('bob@example.net')), ' ', $from->stats()->enabled ? 'the source sends' : 'NOTHING SENDS', "\n";

    $campaign = $shop->campaign('spring');
    $campaign->setMessage(['from' => 'news@example.org', 'subject' => 'x', 'text' => 'y']);
    $campaign->add(['cid@example.net']);
    $shop->unsuppress('bob@example.net');
    echo str_contains(move($a, $b), 'shop_mail') ? 'refused' : 'MOVED', " if it has recipients\n";

    $b = $b->another();
    $shop = $b->queue('shop_mail');
    $from->enqueue(mail_fields());
    echo str_contains(move($a, $b, progress: fn() => $shop->suppress('bob@example.net')), 'shop_mail') ? 'refused' : 'MOVED', " when it gets one meanwhile\n";
    echo count($shop->suppression('bob@example.net')), "\n";

    $b->pdo()->exec('DROP TABLE shop_mail_suppression');
    echo move($a, $b), "\n";
    $a->queue('other')->suppress('dan@example.net');
    $to = $b->queue();
    foreach (range(1, 5) as $i) {
        $to->suppress("there$i@example.net");
    }
    $to->enqueue(mail_fields(to: 'late@example.net')); // was looked up among these
    echo move($a, $b, 'other'), "\n";
    echo count($to->suppression('amy@example.net')), count($b->queue('other')->suppression('dan@example.net')), "\n";
    $to->suppress('late@example.net');
    $report = $to->runWorker('null://null', log: '');
    echo "sent $report->sent suppressed $report->suppressed\n";
}
?>
--EXPECT--
-- sqlite to pgsql
MailQueue\Cli\Stop: the target has another job table, shop_mail, with suppressions, recipients of campaigns or bounces. Both use one config table, and the move would replace the key there by which these are found (mailSuppressionKey): move into another database or schema
1 the source sends
refused if it has recipients
refused when it gets one meanwhile
1
nothing
nothing
11
sent 1 suppressed 1
-- pgsql to mysql
MailQueue\Cli\Stop: the target has another job table, shop_mail, with suppressions, recipients of campaigns or bounces. Both use one config table, and the move would replace the key there by which these are found (mailSuppressionKey): move into another database or schema
1 the source sends
refused if it has recipients
refused when it gets one meanwhile
1
nothing
nothing
11
sent 1 suppressed 1
-- mysql to sqlite
MailQueue\Cli\Stop: the target has another job table, shop_mail, with suppressions, recipients of campaigns or bounces. Both use one config table, and the move would replace the key there by which these are found (mailSuppressionKey): move into another database or schema
1 the source sends
refused if it has recipients
refused when it gets one meanwhile
1
nothing
nothing
11
sent 1 suppressed 1
