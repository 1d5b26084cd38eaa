--TEST--
One transaction settles outcomes of many kinds: each row, body, event and token as if it were alone
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
    $other = $backend->pdo([PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    $what = function (string $reference) use ($other): void {
        match ($reference) {
            'refused' => throw new MailQueue\RefusedException('550 no such user'),
            'later' => throw new Exception('451 later'),
            'taken' => $other->exec("UPDATE mail_queue SET locked_by = '" . str_repeat('e', 32) . "' WHERE reference = 'taken'"),
            'again' => $other->exec("UPDATE mail_queue SET attempts = attempts + 1 WHERE reference = 'again'"),
            'gone' => $other->exec("DELETE FROM mail_queue WHERE reference = 'gone'"),
            default => null,
        };
    };
    $two = ['recipients' => ['a@example.net', 'b@example.net']];
    foreach (['first', 'refused', 'taken', 'later', 'again', 'two', 'gone', 'before', 'orphan', 'last'] as $reference) {
        $queue->enqueue($reference === 'orphan' ? null : mail_fields(), $reference, ...($reference === 'two' ? $two : []));
    }
    $other->exec("UPDATE mail_queue SET refused = '{\"c@example.net\":\"550\"}' WHERE reference = 'before'");
    $report = $queue->runWorker(fn($job) => $what($job->reference), fn() => null, batch: 100, log: '', messageLimit: 10,
        onEvent: function (array $e): void {
            $e['event'] === 'claimed' || $e['event'] === 'run' || print("$e[event] " . implode(' ', array_filter([$e['reference'], $e['attempt'], $e['recipients'], $e['reply'],
                $e['nextAttemptAt'] ? 'with a time' : ''])) . "\n");
        });
    echo "$report->sent sent, $report->refused refused, $report->stale stale\n";
    foreach ($other->query('SELECT reference, status, attempts, parked_for, last_error, locked_by, b.id AS body FROM mail_queue q LEFT JOIN mail_body b ON b.id = q.id ORDER BY q.id', PDO::FETCH_ASSOC) as $row) {
        $row['locked_by'] = $row['locked_by'] ? substr($row['locked_by'], 0, 4) === 'eeee' ? 'another' : 'this run' : null;
        echo '  ', json_encode($row), "\n";
    }
    echo 'bodies: ', json_encode($other->query('SELECT id FROM mail_body ORDER BY id')->fetchAll(PDO::FETCH_COLUMN)), "\n";

    echo "with a limit, by session:\n";
    $other->exec('DELETE FROM mail_queue');
    $other->exec('DELETE FROM mail_body');
    $queue->setConfig('mailMaxPerHour', 100); // slow, so that a second's refill is less than a token
    $queue->setConfig('mailBurst', 100);
    for ($i = 0; $i < 30; $i++) {
        $queue->enqueue(mail_fields(), ...($i % 3 ? [] : $two));
    }
    $left = $queue->stats()->tokens;
    $report = $queue->runWorker('null://null', connections: 20, log: '', messageLimit: 25);
    $stats = $queue->stats();
    $took = $left - $stats->tokens;
    echo "$report->sent sent, ", $took > 33 && $took <= 34 ? 34 : $took, " tokens; in the ledger ", $other->query('SELECT sum(n) FROM mail_spent')->fetchColumn(),
        "; left: $stats->pending, bodies ", $other->query('SELECT count(*) FROM mail_body')->fetchColumn(), "\n";

});
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    echo "bodies of any size, and none:\n";
    $sizes = [3_000_000, 10, 2_500_000, 0, 5_000_000, 20, 0, 1_000_000];
    foreach ($sizes as $i => $size) {
        $queue->enqueue($size ? ['text' => str_repeat("$i", 70) . str_repeat("\n" . str_repeat('x', 69), intdiv($size, 70))] + mail_fields() : null, "s$i",
            ...($size ? [] : ['recipients' => ['a@example.net']]));
    }
    foreach ($queue->claim(10) as $i => $job) {
        echo $job->reference, $job->message === null ? ' none' : (strpos($job->message, str_repeat("$i", 70)) && strlen($job->message) >= $sizes[$i] ? ' its own' : ' another'), "\n";
    }
});
?>
--EXPECT--
sent first 1 1
refused refused 1 1 550 no such user
parked refused 1 550 no such user
stale taken 1
try_later later 1 1 Exception: 451 later with a time
stale again 1
sent two 1 2
stale gone 1
sent before 1 1
parked before 1
orphan orphan 1
sent last 1 1
4 sent, 1 refused, 3 stale
  {"reference":"refused","status":"parked","attempts":1,"parked_for":"refused","last_error":"550 no such user","locked_by":null,"body":2}
  {"reference":"taken","status":"sending","attempts":1,"parked_for":null,"last_error":null,"locked_by":"another","body":3}
  {"reference":"later","status":"failed","attempts":1,"parked_for":null,"last_error":"Exception: 451 later","locked_by":null,"body":4}
  {"reference":"again","status":"sending","attempts":2,"parked_for":null,"last_error":null,"locked_by":"this run","body":5}
  {"reference":"before","status":"parked","attempts":1,"parked_for":"refused","last_error":null,"locked_by":null,"body":8}
bodies: [2,3,4,5,7,8]
with a limit, by session:
25 sent, 34 tokens; in the ledger 34; left: 5, bodies 5
bodies of any size, and none:
s0 its own
s1 its own
s2 its own
s3 none
s4 its own
s5 its own
s6 none
s7 its own
