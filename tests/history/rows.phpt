--TEST--
Counters by the hour, and the history: one row for each attempt, with its stage and its reply
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
    $all = fn(string $sql): string => implode("\n", array_map(
        fn(array $row): string => implode(' ', array_map(fn($value) => $value ?? '-', $row)),
        $pdo->query($sql)->fetchAll(PDO::FETCH_NUM))) . "\n";
    $mail = fn(string $to, string $type = 'mail'): ?int => $queue->enqueue(
        ['from' => 'a@example.org', 'to' => $to, 'subject' => "For $to", 'text' => 'x'], type: $type);

    // Off: only counters.
    $mail('one@example.org');
    $queue->runWorker('null://null');
    echo $all('SELECT event, mails, recipients FROM mail_count ORDER BY event'),
        $all('SELECT count(*) FROM mail_log');

    // On: every attempt, with its stage.
    $queue->setConfig('mailHistoryDays', 2);
    $sink = new MailQueueTest\Sink('at rcpt match=no@* reply="550 5.1.1 unknown"');
    $mail('yes@example.org', 'news');
    $queue->enqueue(['from' => 'a@example.org', 'to' => ['no@example.org', 'yes@example.org'], 'subject' => 'Two', 'text' => 'x'], reference: 'R');
    $queue->enqueue(reference: 'gone', type: 'composed');
    $queue->runWorker("smtp://127.0.0.1:$sink->port", compose: fn() => null, connections: 1);
    $queue->enqueue(reference: 'bad', type: 'composed');
    $queue->runWorker("smtp://127.0.0.1:$sink->port", compose: fn() => throw new Exception('no template'));
    echo $all("SELECT job_id, reference, mail_type, subject, event, phase, attempt, recipients, uncertain, reply,
        CASE WHEN ms >= 0 THEN 'ms' END, CASE WHEN waited BETWEEN 0 AND 60 THEN 'waited' END FROM mail_log ORDER BY job_id, id");
    echo $all("SELECT mail_type, event, sum(mails), sum(recipients) FROM mail_count GROUP BY mail_type, event ORDER BY mail_type, event");
    $agree = "SELECT count(*) FROM (SELECT at - at % 3600 AS hour, mail_type, event, count(*) AS mails, sum(recipients) AS recipients
        FROM mail_log GROUP BY 1, mail_type, event) AS l JOIN (SELECT hour, mail_type, event, sum(mails) AS mails,
        sum(recipients) AS recipients FROM mail_count GROUP BY hour, mail_type, event) AS c ON c.hour = l.hour AND c.mail_type = l.mail_type
        AND c.event = l.event AND c.mails = l.mails AND c.recipients = l.recipients";
    echo 'the same in both: ', $all($agree);

    // Jobs settled by the application count, too.
    $own = 'own "type", {NULL}';
    $mail('own@example.org', $own);
    [$job] = $queue->claim(10);
    $queue->fail($job, 'not "today", \\ {é}', true);
    echo $all("SELECT mail_type, event, reply FROM mail_log WHERE mail_type = '$own' ORDER BY id"),
        $all("SELECT event, sum(mails) FROM mail_count WHERE mail_type = '$own' GROUP BY event ORDER BY event");

    // Old rows go, counters stay.
    $old = time() - 3 * 86400;
    $pdo->exec("UPDATE mail_log SET at = $old WHERE mail_type = 'news'");
    $queue->runWorker('null://null');
    echo $all("SELECT count(*), sum(CASE WHEN mail_type = 'news' THEN 1 ELSE 0 END) FROM mail_log"),
        $all("SELECT sum(mails) FROM mail_count WHERE mail_type = 'news' AND event = 'sent'");
    // A value that cannot be read erases nothing, 0 erases all.
    $pdo->exec("UPDATE config SET value = 'x' WHERE value = '2'");
    thrown(fn() => $queue->runWorker('null://null'));
    echo $all('SELECT count(*) FROM mail_log');
    echo thrown(fn() => $queue->setConfig('mailHistoryDays', 3651)), "\n";
    $queue->setConfig('mailHistoryDays', 0);
    $queue->runWorker('null://null');
    echo $all('SELECT count(*) FROM mail_log');

    echo json_encode([MailQueue\Internal::select($queue, 'SELECT mail_type, sum(mails), NULL FROM {C} WHERE event = ?1 AND mails > ?2
        GROUP BY mail_type ORDER BY 1', ['sent', 0]), MailQueue\Internal::select($queue, 'SELECT {r} FROM {t} WHERE id < ?1', [0])],
        JSON_NUMERIC_CHECK), "\n";
    echo thrown(fn() => MailQueue\Internal::select($queue, 'SELECT 1', [1.5])), "\n",
        strtok(thrown(fn() => MailQueue\Internal::select($queue, 'SELECT nothing FROM {H}')), ':'), "\n";
});
?>
--EXPECT--
claimed 1 1
sent 1 1
0
2 - news For yes@example.org sent dot 1 1 0 250 2.0.0 Ok: 1 on connection 1 ms waited
3 R mail Two sent dot 1 1 0 250 2.0.0 Ok: 2 on connection 1 ms waited
3 R mail Two refused rcpt 1 1 0 550 5.1.1 unknown ms waited
3 R mail Two parked rcpt 1 2 0 no@example.org: 550 5.1.1 unknown ms waited
4 gone composed - orphan compose 1 1 0 - - -
5 bad composed - try_later compose 1 1 0 compose: Exception: no template - -
composed claimed 2 2
composed orphan 1 1
composed try_later 1 1
mail claimed 2 3
mail parked 1 2
mail refused 1 1
mail sent 2 2
news claimed 1 1
news sent 1 1
the same in both: 5
own "type", {NULL} refused not "today", \ {é}
own "type", {NULL} parked not "today", \ {é}
claimed 1
parked 1
refused 1
7 0
1
7
ValueError: mailHistoryDays cannot be "3651"; allowed values: 0 … 3650
0
[[["mail",2,null],["news",1,null]],[]]
TypeError: MailQueue\Internal::select(): Argument #3 ($parameters) must be a list of int, string and null
MailQueue\DatabaseException [database]
