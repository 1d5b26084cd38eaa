--TEST--
The counters of a day's hours are added up after 90 days; no sum changes
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
    $pdo = $backend->pdo();
    $today = intdiv(time(), 86400) * 86400;
    // 100 days of hours; the first two have two types, and a part that an earlier version left behind.
    $add = fn(int $hour, string $type, int $part) => $pdo->exec("INSERT INTO mail_count VALUES ($hour, '$type', 'sent', $part, 1, 2)");
    $pdo->beginTransaction();
    for ($hour = $today - 100 * 86400; $hour < $today; $hour += 3600) {
        $add($hour, 'news', 0);
        if ($hour < $today - 98 * 86400) {
            $add($hour, 'mail', 0);
            $add($hour, 'mail', 3);
        }
    }
    $pdo->commit();
    $all = fn(string $sql): string => implode('; ', array_map(fn(array $row): string => implode(' ', $row), $pdo->query($sql)->fetchAll(PDO::FETCH_NUM)));
    $show = function () use ($all, $today): void {
        echo $all("SELECT mail_type, count(*), sum(mails), sum(recipients) FROM mail_count GROUP BY mail_type ORDER BY mail_type"), ' | ',
            $all("SELECT mail_type, part, mails FROM mail_count WHERE hour < $today - 99 * 86400 ORDER BY mail_type, hour, part LIMIT 3"), ' | ',
            $all("SELECT count(*), count(DISTINCT hour) FROM mail_count WHERE hour >= $today - 90 * 86400"), "\n";
    };
    $show();
    $backend->queue()->runWorker('null://null');
    $show();
    // What is late is added to its day; the days before are not read again.
    $add($today - 91 * 86400 + 7200, 'news', 0);
    $add($today - 91 * 86400 + 7200, 'late', 0);
    $workers = array_map(fn() => $backend->other('$open()->runWorker("null://null");'), range(1, 3));
    array_map(fn(Other $other) => $other->end(), $workers);
    $show();
    echo $all("SELECT mail_type, count(*), sum(mails) FROM mail_count WHERE hour >= $today - 91 * 86400 AND hour < $today - 90 * 86400 GROUP BY mail_type ORDER BY mail_type"), "\n";
});
?>
--EXPECT--
mail 96 96 192; news 2400 2400 4800 | mail 0 1; mail 3 1; mail 0 1 | 2160 2160
mail 2 96 192; news 2170 2400 4800 | mail 0 48; news 0 24 | 2160 2160
late 1 1 2; mail 2 96 192; news 2170 2401 4802 | mail 0 48; news 0 24 | 2160 2160
late 1 1; news 1 25
