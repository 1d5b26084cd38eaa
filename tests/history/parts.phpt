--TEST--
On a server transactions do not wait for each other's counters, whose parts are added up later
--EXTENSIONS--
mailqueue
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
on_backends(['pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $queue->enqueueMany(array_map(fn() => ['message' => mail_fields()], range(1, 6)));
    $pdo = $backend->pdo();

    // The application's transactions stay open while a worker counts the same events.
    $open = [];
    for ($i = 0; $i < 2; $i++) {
        $own = $backend->pdo();
        $backend->name === 'mysql' && $own->exec('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
        $own->beginTransaction();
        $claims = new MailQueue($own);
        $claims->complete($claims->claim()[0]);
        $open[] = $own;
    }
    echo $backend->queue()->runWorker('null://null')->sent, " sent meanwhile\n";
    array_map(fn(PDO $own) => $own->commit(), $open);
    $sums = fn(): string => json_encode($pdo->query("SELECT event, sum(mails), sum(recipients), sum(CASE WHEN part > 0 THEN 1 ELSE 0 END) > 0,
        count(*) FROM mail_count GROUP BY event ORDER BY event")->fetchAll(PDO::FETCH_NUM), JSON_NUMERIC_CHECK);
    echo preg_replace('/true/', '1', $sums()), "\n";

    // Not those of this hour, or of the last; several workers at once.
    $workers = fn(): array => array_map(fn(Other $other) => $other->end()[0],
        array_map(fn() => $backend->other('$open()->runWorker("null://null");'), range(1, 4)));
    $workers();
    echo $pdo->query('SELECT count(*) > 2 FROM mail_count')->fetchColumn() ? "parts\n" : "none\n";
    $pdo->exec('UPDATE mail_count SET hour = hour - 3 * 3600');
    $pdo->exec("INSERT INTO mail_count SELECT hour, mail_type, event, 0, 10, 20 FROM mail_count WHERE event = 'sent' LIMIT 1");
    $workers();
    echo preg_replace('/false/', '0', $sums()), "\n";
});
?>
--EXPECT--
4 sent meanwhile
[["claimed",6,6,1,3],["sent",6,6,1,3]]
parts
[["claimed",6,6,0,1],["sent",16,26,0,1]]
