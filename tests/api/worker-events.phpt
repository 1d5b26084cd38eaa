--TEST--
runWorker(): events and the log
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
putenv('MAIL_QUEUE_LOG');
putenv('HOME=/nonexistent');
use MailQueue\RefusedException;
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $queue->enqueue(mail_fields(), 'a', 'invoice');
    $queue->enqueue(mail_fields(), 'b');
    $queue->enqueue(null, 'c');
    $events = [];
    $log = $queue->diagnostics()['log'];
    $report = $queue->runWorker(
        fn(MailQueue\Job $job) => $job->reference === 'b' ? throw new RefusedException('no such user', 550) : null,
        fn() => null,
        onEvent: function (array $event) use (&$events, $log): void {
            must(array_keys($event) === ['event', 'time', 'id', 'reference', 'type', 'attempt', 'uncertain', 'recipients', 'relay', 'reply', 'ms', 'nextAttemptAt'], 'the keys');
            must(count(file($log)) === count($events) + 1, 'the log is written before');
            $events[] = $event;
        },
    );
    foreach ($events as $event) {
        must(abs($event['time'] - time()) < 60, 'the time');
        must($event['ms'] === null || is_int($event['ms']), 'milliseconds');
        unset($event['time'], $event['ms']);
        echo json_encode(array_filter($event, fn($value) => $value !== null)), "\n";
    }
    $names = array_map(fn($line) => json_decode($line, true)['event'], file($log));
    var_dump($names === array_column($events, 'event'));
    printf("%o\n", fileperms($log) & 0777);
});
?>
--EXPECT--
{"event":"claimed","id":1,"reference":"a","type":"invoice","attempt":1,"recipients":1,"relay":"closure"}
{"event":"claimed","id":2,"reference":"b","type":"mail","attempt":1,"recipients":1,"relay":"closure"}
{"event":"claimed","id":3,"reference":"c","type":"mail","attempt":1,"relay":"closure"}
{"event":"sent","id":1,"reference":"a","type":"invoice","attempt":1,"recipients":1,"relay":"closure"}
{"event":"refused","id":2,"reference":"b","type":"mail","attempt":1,"recipients":1,"relay":"closure","reply":"550 no such user"}
{"event":"parked","id":2,"reference":"b","type":"mail","attempt":1,"relay":"closure","reply":"550 no such user"}
{"event":"orphan","id":3,"reference":"c","type":"mail","attempt":1,"relay":"closure"}
{"event":"run","relay":"closure","reply":"end=empty claimed=3 sent=1 recipients=1 refused=1 parked=1 orphans=1"}
bool(true)
600
