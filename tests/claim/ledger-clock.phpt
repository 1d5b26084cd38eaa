--TEST--
The strict limit's ledger when a clock runs slow: entries up to 3,601 s in the future stay and count
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

// Stored times are shifted instead of the clock: for a clock that is an hour slow, they are an
// hour ahead.
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    foreach (['mailMaxPerHour' => 5, 'mailBurst' => 5, 'mailRateMode' => 'strict'] as $key => $value) {
        $queue->setConfig($key, $value);
    }
    for ($i = 0; $i < 12; $i++) {
        $queue->enqueue(mail_fields());
    }
    $pdo = $backend->pdo();
    $ledger = fn(): array => $pdo->query('SELECT at, n FROM mail_spent ORDER BY at')->fetchAll(PDO::FETCH_NUM);
    $total = fn(): int => array_sum(array_column($ledger(), 1));
    $shift = fn(int $seconds): int|false => $pdo->exec("UPDATE mail_spent SET at = at + $seconds");
    $work = function (string $when) use ($queue, $ledger, $total): void {
        $before = $ledger();
        $queue->setConfig('mailTokens', 5);
        $report = $queue->runWorker('null://null', log: '');
        echo "$when: sent $report->sent, the ledger ", $ledger() == $before ? 'stays' : 'has ' . $total(), "\n";
    };
    $work('at first');
    $work('again');
    foreach ([3600, 900, 3500] as $behind) {
        $shift($behind);
        $work("$behind s behind");
        $shift(-$behind);
        $work('right again');
    }
    $shift(-3602);
    $work('an hour later');
    $pdo->exec('DELETE FROM mail_spent WHERE at < ' . (time() - 3000));
    $shift(86400);
    $work('a day behind'); // counts from now; and once more when its own time has come
    $counts = array_column($ledger(), 1);
    echo json_encode([array_sum(array_filter($counts, fn($n) => $n > 0)), array_sum(array_filter($counts, fn($n) => $n < 0))]), "\n";
});
?>
--EXPECT--
at first: sent 5, the ledger has 5
again: sent 0, the ledger stays
3600 s behind: sent 0, the ledger stays
right again: sent 0, the ledger stays
900 s behind: sent 0, the ledger stays
right again: sent 0, the ledger stays
3500 s behind: sent 0, the ledger stays
right again: sent 0, the ledger stays
an hour later: sent 5, the ledger has 10
a day behind: sent 0, the ledger has 0
[5,-5]
