<?php

// One child of the part "history", with the library that it was given: runs a worker, or inserts
// rows as the worker does in plain SQL: php bench/history_run.php DSN MAILS [ROWS-OF-AN-INSERT].
// Prints its seconds and its CPU as JSON.

declare(strict_types=1);

namespace Bench;

require __DIR__ . '/lib.php';

/** Inserts as many rows, 100 in a transaction. */
function insert_plainly(\PDO $pdo, int $count, int $rows): void
{
    $list = implode(',', array_fill(0, $rows, '(' . implode(',', array_fill(0, 14, '?')) . ')'));
    $insert = $pdo->prepare('INSERT INTO mail_log (at, job_id, reference, mail_type, subject, '
        . 'relay, event, phase, attempt, recipients, uncertain, reply, ms, waited) '
        . "VALUES $list");
    for ($i = 0; $i < $count; $i += 100) {
        $pdo->beginTransaction();
        for ($done = 0; $done < 100; $done += $rows) {
            $values = [];
            for ($row = 0; $row < $rows; $row++) {
                array_push($values, time(), $i + $done + $row, null, 'mail', null, 'null://null');
                array_push($values, 'sent', 'handover', 1, 1, 0, null, 0, 5);
            }
            $insert->execute($values);
        }
        $pdo->commit();
    }
}

[, $dsn, $count, $rows] = $argv + [3 => '0'];
$pdo = new \PDO($dsn, null, null, [\PDO::ATTR_ERRMODE => \PDO::ERRMODE_EXCEPTION]);
$queue = new \MailQueue($pdo);
$cpu = cpu();
$begun = hrtime(true);
if ($rows > 0) {
    insert_plainly($pdo, (int) $count, (int) $rows);
} else {
    $sent = $queue->runWorker('null://null', batch: 100, messageLimit: (int) $count, log: '')->sent;
    $sent === (int) $count || throw new \RuntimeException("$sent were sent, not $count");
}
$seconds = (hrtime(true) - $begun) / 1e9;
print json_encode(['seconds' => $seconds, 'cpu' => cpu() - $cpu]);
