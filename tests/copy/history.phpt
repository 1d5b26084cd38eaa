--TEST--
migrate-store adds the counters and the history to the target's, once, whatever is interrupted or repeated; on SQLite, PostgreSQL and MariaDB
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

/** @return array<string, array{int, int}> mails and recipients by hour, type and event */
function counters(PDO $pdo): array
{
    $all = [];
    foreach ($pdo->query('SELECT hour, mail_type, event, SUM(mails), SUM(recipients) FROM mail_count GROUP BY hour, mail_type, event', PDO::FETCH_NUM) as $row) {
        $all["$row[0] $row[1] $row[2]"] = [(int) $row[3], (int) $row[4]];
    }
    ksort($all);
    return $all;
}

/** @return list<list<?string>> the rows of the history without their ids */
function history(PDO $pdo): array
{
    $rows = $pdo->query('SELECT at, job_id, reference, mail_type, subject, relay, event, phase, attempt, recipients, uncertain, reply, ms, waited
        FROM mail_log ORDER BY id')->fetchAll(PDO::FETCH_NUM);
    return array_map(static fn(array $row): array => array_map(static fn(mixed $value): ?string => $value === null ? null : (string) $value, $row), $rows);
}

function added(array $one, array $two): array
{
    foreach ($two as $key => [$mails, $recipients]) {
        $one[$key] = [$mails + ($one[$key][0] ?? 0), $recipients + ($one[$key][1] ?? 0)];
    }
    ksort($one);
    return $one;
}

/** Mail that was sent and that failed, now and in an hour before; more rows of the history than are read at once. */
function lived(MailQueue $queue, PDO $pdo, int $mails): void
{
    $queue->setConfig('mailHistoryDays', 30);
    $queue->enqueueMany(array_map(static fn(int $i): array => ['message' => ['subject' => "f\u{fc}r $i"] + mail_fields(), 'reference' => "r$i", 'type' => $i % 3 ? 'user' : "\u{e4}"],
        range(1, $mails)));
    $queue->runWorker('null://null', messageLimit: $mails - 4);
    $queue->fail($queue->claim(1)[0], "4.2.1 sp\u{e4}ter", retryAfter: 3600);
    $pdo->exec("UPDATE mail_count SET hour = hour - 36000 WHERE event = 'sent'");
    $queue->runWorker('null://null', messageLimit: 2);
    for ($i = 0; $mails > 20 && $i < 4; $i++) {
        $pdo->exec('INSERT INTO mail_log (at, job_id, reference, mail_type, subject, relay, event, phase, attempt, recipients, uncertain, reply, ms, waited)
            SELECT at + 1, job_id, reference, mail_type, subject, relay, event, phase, attempt, recipients, uncertain, reply, ms, waited FROM mail_log ORDER BY id');
    }
}

foreach ([['sqlite', 'pgsql'], ['pgsql', 'mysql'], ['mysql', 'sqlite'], ['sqlite', 'mysql'], ['pgsql', 'sqlite']] as [$one, $two]) {
    [$a, $b] = [new Backend($one), new Backend($two)];
    [$from, $to, $source, $target] = [$a->pdo(), $b->pdo(), $a->queue(), $b->queue()];
    lived($target, $to, 8);
    $target->delete(array_column($target->jobs(), 'id'));
    lived($source, $from, 90);
    [$counted, $own, $logged, $log] = [counters($from), counters($to), history($from), history($to)];
    $isSame = static fn(): bool => counters($from) === $counted && history($from) === $logged;
    $hasAll = static fn(): bool => counters($to) === added($counted, $own) && history($to) === [...$log, ...$logged];

    thrown(fn() => migration($from, $to, static fn() => throw new LogicException())->run());
    migration($from, $to)->abort();
    $given = $isSame() && counters($to) === $own && history($to) === $log;

    $breaks = $b->pdo();
    $said = thrown(fn() => migration($from, $to, static function (array $about) use ($breaks): void {
        try {
            $about['phase'] === 'verifying' && $breaks->exec('ALTER TABLE mail_log RENAME TO elsewhere');
        } catch (PDOException) {
            // It is renamed already.
        }
    })->run());
    $breaks->exec('ALTER TABLE elsewhere RENAME TO mail_log');
    $half = counters($to) === $own && history($to) === $log && !$source->stats()->enabled && !$target->stats()->enabled;
    $mails = migration($from, $to)->run()->mails;
    $whole = $hasAll() && $isSame();

    $source->enqueue(mail_fields());
    $late = migration($from, $to)->run(deletes: true)->copied;
    $once = $hasAll();

    $target->runWorker('null://null');
    [$counted2, $logged2] = [counters($to), history($to)];
    migration($to, $from)->run();
    $back = counters($from) === $counted2 && history($from) === $logged2;
    echo "$one to $two: ", count($counted), ' counters, ', count($logged), ' rows; ', json_encode(compact('given', 'half', 'mails', 'whole', 'late', 'once', 'back')),
        str_contains($said, 'mail_log') ? '' : " $said", "\n";
}

echo "what a column there cannot hold\n";
foreach (['pgsql', 'mysql'] as $name) {
    $two = new Two(false);
    $long = str_repeat('x', 200);
    $two->from->exec("INSERT INTO mail_count VALUES (0, 'a' || char(0), 'sent', 0, 1, 1), (0, 'a?', 'sent', 0, 2, 3), (0, '{$long}1', 'sent', 0, 1, 1), (0, '{$long}2', 'sent', 0, 1, 1)");
    $two->from->exec("INSERT INTO mail_log (at, job_id, reference, mail_type, event, attempt, recipients, uncertain, reply)
        VALUES (0, 1, '$long', 'm', 'sent', 1, 1, 0, CAST(x'35ff00' AS TEXT))");
    $pdo = (new Backend($name))->pdo();
    migration($two->from, $pdo)->run();
    [[, , $reference, , , , , , , , , $reply]] = history($pdo);
    $counts = array_map(static fn(array $counter): string => implode(':', $counter), counters($pdo));
    echo implode(' ', $counts), ' ', strlen($reference), ' ', $name === 'pgsql' ? $reply : bin2hex($reply), "\n";
}

echo "the target is being moved itself\n";
[$one, $two, $three] = [new Two(false), new Two(false), new Two(false)];
$one->source->enqueue(mail_fields());
thrown(fn() => migration($two->from, $three->from, static fn() => throw new LogicException(), name: 'three')->run());
$two->from->exec("UPDATE config SET value = replace(value, 'moved', 'moving') WHERE key = 'mailQueueMovedTo'");
echo thrown(fn() => migration($one->from, $two->from)->run()), "\n";
?>
--EXPECT--
sqlite to pgsql: 6 counters, 1424 rows; {"given":true,"half":true,"mails":2,"whole":true,"late":1,"once":true,"back":true}
pgsql to mysql: 6 counters, 1424 rows; {"given":true,"half":true,"mails":2,"whole":true,"late":1,"once":true,"back":true}
mysql to sqlite: 6 counters, 1424 rows; {"given":true,"half":true,"mails":2,"whole":true,"late":1,"once":true,"back":true}
sqlite to mysql: 6 counters, 1424 rows; {"given":true,"half":true,"mails":2,"whole":true,"late":1,"once":true,"back":true}
pgsql to sqlite: 6 counters, 1424 rows; {"given":true,"half":true,"mails":2,"whole":true,"late":1,"once":true,"back":true}
what a column there cannot hold
3:4 1:1 1:1 200 5??
1:1 2:3 2:2 190 35ff00
the target is being moved itself
MailQueue\Cli\Stop: the target is being moved to three: finish or abort that first
