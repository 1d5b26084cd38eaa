--TEST--
Mail that comes back because the relay could not be reached has a row with the phase and the reason, and costs no attempt
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
require __DIR__ . '/../lib/certificates.inc';
$certificate = (new MailQueueTest\Certificates())->issue();
$with_tls = ['--cert', $certificate['cert'], '--key', $certificate['key']];
$untrusted = new MailQueueTest\Sink('', $with_tls);
$login = new MailQueueTest\Sink('', ['--auth', 'u:p', ...$with_tls]);
$silent = stream_socket_server('tcp://127.0.0.1:0');
$closed = stream_socket_get_name($silent, false);
fclose($silent);
$relays = [
    'closed port' => "smtp://$closed",
    'bad certificate' => "smtp://127.0.0.1:$untrusted->port?tls=required",
    'refused login' => "smtp://u:wrong@127.0.0.1:$login->port?tls=required&verify_peer=0",
];
on_backends(['native', 'pgsql', 'mysql'], function (Backend $backend) use ($relays): void {
    $queue = $backend->queue();
    $queue->setConfig('mailHistoryDays', 2);
    $id = $queue->enqueue(['from' => 'a@example.org', 'to' => 'b@example.org', 'subject' => 'Hi', 'text' => 'x']);
    foreach ($relays as $what => $relay) {
        $queue->setConfig('mailRelayPause', null);
        $report = $queue->runWorker($relay);
        $job = $queue->job($id);
        $rows = $backend->pdo()->query('SELECT event, phase, attempt, recipients, reply FROM mail_log ORDER BY id')->fetchAll(PDO::FETCH_ASSOC);
        $last = end($rows);
        echo "$what: $report->end; ", count($rows), " row(s), $last[event], $last[phase], attempt $last[attempt], to $last[recipients], ",
            $last['reply'] === $report->reason ? 'the reason' : "\"$last[reply]\" instead of \"$report->reason\"",
            "; {$job->status->value}, $job->attempts attempts, last error ", var_export($job->lastError, true), "\n";
    }
    echo json_encode($backend->pdo()->query("SELECT event, sum(mails) FROM mail_count GROUP BY event ORDER BY event")
        ->fetchAll(PDO::FETCH_NUM), JSON_NUMERIC_CHECK), "\n";
});
?>
--EXPECT--
closed port: relay; 1 row(s), released, connect, attempt 1, to 1, the reason; pending, 0 attempts, last error NULL
bad certificate: relay; 2 row(s), released, connect, attempt 1, to 1, the reason; pending, 0 attempts, last error NULL
refused login: relay; 3 row(s), released, connect, attempt 1, to 1, the reason; pending, 0 attempts, last error NULL
[["claimed",3],["released",3]]
