--TEST--
runWorker() over SMTP: mail arrives as it was enqueued, and each recipient has its own reply
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
require __DIR__ . '/../lib/smtp.inc';
require __DIR__ . '/../lib/backends.inc';
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $server = new SmtpServer();
    $queue = $backend->queue();
    $dsn = "smtp://127.0.0.1:$server->port";

    $bodies = ["\n.\n", "\r.\r", "\r\n.\r\n", ".\r\nMAIL FROM:<x@example.net>\r\n", '..', "a\n..\nb\n.c\n", "Grüße\n", str_repeat("x\n.\n", 5000)];
    $expected = [];
    foreach ($bodies as $i => $body) {
        $raw = $queue->enqueue("Subject: raw $i\r\n\r\n$body", envelopeFrom: 'me@example.org', recipients: ["raw$i@example.net"]);
        $fields = $queue->enqueue(mail_fields(to: "fields$i@example.net", text: $body));
        $expected["raw$i@example.net"] = $queue->job($raw)->message;
        $expected["fields$i@example.net"] = $queue->job($fields)->message;
    }
    $three = $queue->enqueue(mail_fields(), 'three', recipients: ['ok@example.net', '450x@example.net', '550x@example.net'], envelopeFrom: '');
    $queue->enqueue(null, 'later');
    $report = $queue->runWorker($dsn, fn() => mail_fields(to: 'composed@example.net'), connections: 3, log: '');
    echo "$report->end sent $report->sent recipients $report->recipients tryLater $report->tryLater refused $report->refused\n";

    $same = 0;
    foreach ($server->mails() as $mail) {
        foreach ($mail['to'] as $to) {
            if (isset($expected[$to])) {
                $same += $mail['data'] === $expected[$to];
                unset($expected[$to]);
            } else {
                $others[] = "from '$mail[from]' to " . implode(' ', $mail['to']) . "\n";
            }
        }
    }
    sort($others);
    echo implode($others), "$same arrived as stored, ", count($expected), " missing\n";
    $job = $queue->job($three);
    echo $job->status->name, " $job->attempts ", implode(' ', $job->recipients), ' ', json_encode($job->refused), " $job->lastError\n";
    $server->end();

    echo "nobody listens:\n";
    $queue->enqueue(mail_fields(), 'waiting');
    $report = $queue->runWorker($dsn, log: '');
    echo "$report->end released $report->released tryLater $report->tryLater, ", str_contains((string) $report->reason, 'onnect') ? 'the reason is named' : "reason: $report->reason", "\n";
    $job = $queue->jobs(limit: 100);
    echo end($job)->status->name, ' ', end($job)->attempts, "\n";
});
?>
--EXPECT--
empty sent 18 recipients 18 tryLater 1 refused 1
from '' to ok@example.net
from 'club@example.org' to composed@example.net
16 arrived as stored, 0 missing
Failed 1 450x@example.net {"550x@example.net":"550 5.1.1 unknown"} 550x@example.net: 550 5.1.1 unknown
nobody listens:
relay released 1 tryLater 0, the reason is named
Pending 0
