--TEST--
runWorker(): callbacks with fatal errors: the core's memory is freed, the leases are left to recovery
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/worker.inc';
/* A leak of request memory is normal after that; a leak of the core's memory is not. */
putenv('LSAN_OPTIONS=print_suppressions=0:suppressions=' . __DIR__ . '/../lib/request.supp');

run_misbehaving('compose has a fatal error', <<<'PHP'
    $queue->runWorker('null://null', fn() => eval('class MailQueue {}'), log: '');
    PHP);
run_misbehaving('sign has a fatal error', <<<'PHP'
    $queue->runWorker('null://null', $fields, log: '', sign: fn() => eval('class MailQueue {}'));
    PHP);
run_misbehaving('the transport has a fatal error', <<<'PHP'
    register_shutdown_function(function () use ($queue) {
        echo "\nshutdown sees ", count($queue->jobs()), " jobs\n";
    });
    $queue->runWorker(fn() => eval('class MailQueue {}'), $fields, log: '');
    PHP);
run_misbehaving('relays has a fatal error', <<<'PHP'
    $queue->runWorker('null://null', $fields, log: '', relays: fn() => eval('class MailQueue {}'));
    PHP);
run_misbehaving('onEvent has a fatal error', <<<'PHP'
    $queue->runWorker('null://null', $fields, log: '', onEvent: fn($event) => $event['event'] === 'sent' && eval('class MailQueue {}'));
    PHP);
run_misbehaving('compose runs out of time', <<<'PHP'
    $queue->runWorker('null://null', function () { set_time_limit(1); while (true); }, log: '');
    PHP);
run_misbehaving('a fatal error in a generator of enqueueMany()', <<<'PHP'
    $mails = function () {
        for ($i = 0; $i < 150; $i++) {
            yield ['message' => mail_fields(), 'sendAt' => time() + 1000];
        }
        eval('class MailQueue {}');
    };
    $queue->enqueueMany($mails());
    PHP);
?>
--EXPECT--
== compose has a fatal error
Fatal error
exit 255: r1 Sending 1 uncertain 0; r2 Sending 1 uncertain 0; r3 Sending 1 uncertain 0; 
then: 2 sent, 2 recovered, 0 uncertain
== sign has a fatal error
Fatal error
exit 255: r1 Sending 1 uncertain 0; r2 Sending 1 uncertain 0; r3 Sending 1 uncertain 0; 
then: 2 sent, 2 recovered, 0 uncertain
== the transport has a fatal error
Fatal error

shutdown sees 3 jobs
exit 255: r1 Sending 1 uncertain 0; r2 Sending 1 uncertain 0; r3 Sending 1 uncertain 0; 
then: 2 sent, 2 recovered, 1 uncertain
== relays has a fatal error
Fatal error
exit 255: r1 Sending 1 uncertain 0; r2 Sending 1 uncertain 0; r3 Sending 1 uncertain 0; 
then: 3 sent, 3 recovered, 0 uncertain
== onEvent has a fatal error
Fatal error
exit 255: 
then: 0 sent, 0 recovered, 0 uncertain
== compose runs out of time
Fatal error
exit 255: r1 Sending 1 uncertain 0; r2 Sending 1 uncertain 0; r3 Sending 1 uncertain 0; 
then: 2 sent, 2 recovered, 0 uncertain
== a fatal error in a generator of enqueueMany()
Fatal error
exit 255: r1 Pending 0 uncertain 0; r2 Pending 0 uncertain 0; r3 Pending 0 uncertain 0; another Pending 0 uncertain 0; 103 pending in all
then: 3 sent, 0 recovered, 0 uncertain
