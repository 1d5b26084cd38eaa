--TEST--
Mail that may have arrived: uncertainTo says at whom, countAsSent() settles it for these, the others keep it
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
    $queue->setConfig('mailHistoryDays', 1);
    $show = function (int $id) use ($queue): string {
        $job = $queue->job($id);
        return $job === null ? 'gone' : "{$job->status->value} $job->parkedFor uncertain $job->uncertain "
            . json_encode(['to' => $job->recipients, 'may' => $job->uncertainTo, 'refused' => $job->refused]);
    };
    /* A worker that vanishes once it has claimed the mail: nobody knows what it did. */
    $lose = function (int $id) use ($queue, $pdo): void {
        $pdo->exec("UPDATE mail_queue SET next_attempt_at = 1 WHERE id = $id");
        must($queue->claim()[0]->id === $id, 'claimed');
        $pdo->exec("UPDATE mail_queue SET locked_until = 1 WHERE id = $id");
        must($queue->claim() === [], 'recovered');
    };
    $enqueue = fn(string ...$to): int => $queue->enqueue(['to' => $to] + mail_fields(), recipients: $to);

    echo "-- one recipient\n";
    $lose($one = $enqueue('one@example.org'));
    echo $show($one), "\n";
    must(array_column($queue->jobs(uncertain: true), 'id') === [$one], 'listed');
    $pdo->exec("UPDATE mail_queue SET next_attempt_at = 1 WHERE id = $one");
    [$claimed] = $queue->claim();
    must($queue->countAsSent([$one]) === 0, 'it is being sent');
    $queue->fail($claimed, '451 later');
    echo $show($one), "\n";
    must($queue->countAsSent([$one, 999999]) === 1 && $queue->countAsSent([$one]) === 0, 'once');
    echo $show($one), "\n";

    echo "-- the limit let it go to two of three\n";
    $queue->setConfig('mailMaxPerHour', 2);
    $queue->setConfig('mailTokens', 2);
    $queue->setConfig('mailLastRefill', time());
    $lose($some = $enqueue('a@example.org', 'b@example.org', 'c@example.org'));
    $queue->setConfig('mailMaxPerHour', 0);
    echo $show($some), "\n";
    $pdo->exec("UPDATE mail_queue SET refused = '{\"x@example.org\":\"550 no\"}' WHERE id = $some");
    echo $queue->countAsSent([$some]), ' ', $show($some), "\n";
    $lose($some);
    echo $show($some), "\n";
    echo $queue->countAsSent([$some]), ' ', $show($some), "\n";

    echo "-- parked for it: the others are tried again; held: it stays\n";
    foreach (['uncertain', 'hold'] as $for) {
        $id = $enqueue('d@example.org', 'e@example.org');
        $pdo->exec("UPDATE mail_queue SET status = 'parked', parked_for = '$for', uncertain = 1, "
            . "uncertain_to = '[\"e@example.org\"]' WHERE id = $id");
        echo $queue->countAsSent([$id]), ' ', $show($id), "\n";
        $queue->delete([$id]);
    }

    echo "-- refused later: there is nothing left to count\n";
    $lose($id = $enqueue('r@example.org'));
    $pdo->exec("UPDATE mail_queue SET next_attempt_at = 1 WHERE id = $id");
    $queue->fail($queue->claim()[0], '550 no', true);
    echo $queue->countAsSent([$id]), ' ', $show($id), "\n";

    echo "-- composed when it is sent\n";
    $lose($id = $queue->enqueue(null, 'later'));
    echo $show($id), ' ', $queue->countAsSent([$id]), ' ', $show($id), "\n";

    echo "-- sent, for the counters and the history\n";
    foreach (MailQueue\Internal::select($queue, "SELECT SUM(mails), SUM(recipients) FROM {C} WHERE event = 'sent'") as $row) {
        echo implode(' ', array_map(intval(...), $row)), "\n";
    }
    foreach (MailQueue\Internal::select($queue, "SELECT job_id, event, recipients, reply FROM {H} WHERE job_id IN (?1, ?2) ORDER BY id",
        [$one, $some]) as $row) {
        echo implode(' ', array_map(strval(...), $row)), "\n";
    }
});
?>
--EXPECT--
-- one recipient
failed  uncertain 1 {"to":["one@example.org"],"may":["one@example.org"],"refused":[]}
failed  uncertain 1 {"to":["one@example.org"],"may":["one@example.org"],"refused":[]}
gone
-- the limit let it go to two of three
failed  uncertain 1 {"to":["c@example.org","a@example.org","b@example.org"],"may":["a@example.org","b@example.org"],"refused":[]}
1 failed  uncertain 0 {"to":["c@example.org"],"may":[],"refused":{"x@example.org":"550 no"}}
failed  uncertain 1 {"to":["c@example.org"],"may":["c@example.org"],"refused":{"x@example.org":"550 no"}}
1 parked refused uncertain 0 {"to":null,"may":[],"refused":{"x@example.org":"550 no"}}
-- parked for it: the others are tried again; held: it stays
1 pending  uncertain 0 {"to":["d@example.org"],"may":[],"refused":[]}
1 parked hold uncertain 0 {"to":["d@example.org"],"may":[],"refused":[]}
-- refused later: there is nothing left to count
0 parked refused uncertain 1 {"to":null,"may":[],"refused":{"r@example.org":"550 no"}}
-- composed when it is sent
failed  uncertain 1 {"to":null,"may":[],"refused":[]} 1 gone
-- sent, for the counters and the history
6 7
1 uncertain 1 the worker died while the message was being sent: it may have arrived
1 try_later 1 451 later
1 sent 1 counted as sent by a person
2 uncertain 2 the worker died while the message was being sent: it may have arrived
2 sent 2 counted as sent by a person
2 uncertain 1 the worker died while the message was being sent: it may have arrived
2 sent 1 counted as sent by a person
