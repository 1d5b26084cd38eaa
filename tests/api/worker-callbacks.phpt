--TEST--
runWorker(): callbacks that use the queue, throw, exit, fork, or are suspended in a fiber
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
pdo_mysql
posix
pcntl
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/worker.inc';

run_misbehaving('enqueue() in a callback', <<<'PHP'
    $compose = function ($job) use ($queue): array {
        if ($job->reference === 'r1') {
            echo $queue->enqueue(mail_fields(), 'from compose') > 0 ? "stored\n" : "not stored\n";
        }
        return mail_fields();
    };
    $report = $queue->runWorker('null://null', $compose, log: '', onEvent: fn() => $queue->stats());
    echo "$report->sent sent\n";
    PHP);
run_misbehaving('runWorker() in a callback', <<<'PHP'
    $report = $queue->runWorker('null://null', fn() => $queue->runWorker('null://null', log: ''), log: '');
    echo "$report->tryLater tryLater: {$queue->job(1)->lastError}\n";
    PHP);
run_misbehaving('onEvent throws', <<<'PHP'
    $queue->runWorker('null://null', $fields, log: '', onEvent: fn() => throw new LogicException('stop it'));
    PHP);
run_misbehaving('onEvent throws, is caught, and the object goes on', <<<'PHP'
    try {
        $queue->runWorker('null://null', $fields, log: '', onEvent: fn() => throw new LogicException('x'));
    } catch (LogicException) {
        echo "caught\n";
    }
    echo $queue->runWorker('null://null', $fields, log: '')->end, "\n";
    PHP);
run_misbehaving('onEvent throws at the end of the run', <<<'PHP'
    $queue->runWorker('null://null', $fields, log: '', onEvent: fn($event) => $event['event'] === 'run' && throw new LogicException('late'));
    PHP);
run_misbehaving('onEvent exits', <<<'PHP'
    $queue->runWorker('null://null', $fields, log: '', onEvent: function () { exit(7); });
    echo "not reached\n";
    PHP);
run_misbehaving('compose exits', <<<'PHP'
    try {
        $queue->runWorker('null://null', function () { echo "bye\n"; exit(3); }, log: '');
    } catch (Throwable) {
        echo "not reached\n";
    }
    PHP);
run_misbehaving('relays exits', <<<'PHP'
    $queue->runWorker('null://null', $fields, log: '', relays: function () { exit(5); });
    echo "not reached\n";
    PHP);
run_misbehaving('the transport exits', <<<'PHP'
    $queue->runWorker(function () { exit(4); }, $fields, log: '');
    PHP);
run_misbehaving('compose forks', <<<'PHP'
    $parent = getmypid();
    $compose = function ($job) use ($queue): array {
        $pid = pcntl_fork();
        if ($pid === 0) {
            $queue->enqueue(mail_fields(), "from the child of $job->reference");
        } else {
            pcntl_waitpid($pid, $status);
            must(pcntl_wexitstatus($status) === 0, 'the child ends well');
        }
        return mail_fields();
    };
    echo $queue->runWorker('null://null', $compose, log: '')->sent, getmypid() === $parent ? " sent\n" : " sent by a child\n";
    PHP, ['native']); // children must not use a PDO
run_misbehaving('in a fiber', <<<'PHP'
    $fiber = new Fiber(fn() => $queue->runWorker('null://null', function () { Fiber::suspend(); return mail_fields(); }, log: '')->sent);
    $fiber->start();
    echo $queue->enqueue(mail_fields(), 'meanwhile') > 0 ? "stored\n" : "not stored\n";
    echo thrown(fn() => $queue->runWorker('null://null', log: '')), "\n";
    while (!$fiber->isTerminated()) {
        $fiber->resume();
    }
    echo $fiber->getReturn(), " sent\n";
    PHP);
run_misbehaving('in a fiber that is given up', <<<'PHP'
    $fiber = new Fiber(fn() => $queue->runWorker('null://null', function () { Fiber::suspend(); return mail_fields(); }, log: ''));
    $fiber->start();
    unset($fiber);
    gc_collect_cycles();
    echo "given up\n";
    PHP);
?>
--EXPECT--
== enqueue() in a callback
stored
4 sent
exit 0: 
then: 0 sent, 0 recovered, 0 uncertain
== runWorker() in a callback
3 tryLater: compose: Error: MailQueue::runWorker() is running already on this object: do not call it from its own callbacks
exit 0: r1 Failed 1 uncertain 0; r2 Failed 1 uncertain 0; r3 Failed 1 uncertain 0; 
then: 0 sent, 0 recovered, 0 uncertain
== onEvent throws
Fatal error: Uncaught LogicException: stop it
exit 255: r1 Pending 0 uncertain 0; r2 Pending 0 uncertain 0; r3 Pending 0 uncertain 0; 
then: 3 sent, 0 recovered, 0 uncertain
== onEvent throws, is caught, and the object goes on
caught
empty
exit 0: 
then: 0 sent, 0 recovered, 0 uncertain
== onEvent throws at the end of the run
Fatal error: Uncaught LogicException: late
exit 255: 
then: 0 sent, 0 recovered, 0 uncertain
== onEvent exits
exit 7: r1 Pending 0 uncertain 0; r2 Pending 0 uncertain 0; r3 Pending 0 uncertain 0; 
then: 3 sent, 0 recovered, 0 uncertain
== compose exits
bye
exit 3: r1 Pending 0 uncertain 0; r2 Pending 0 uncertain 0; r3 Pending 0 uncertain 0; 
then: 3 sent, 0 recovered, 0 uncertain
== relays exits
exit 5: r1 Pending 0 uncertain 0; r2 Pending 0 uncertain 0; r3 Pending 0 uncertain 0; 
then: 3 sent, 0 recovered, 0 uncertain
== the transport exits
exit 4: r1 Failed 1 uncertain 1; r2 Pending 0 uncertain 0; r3 Pending 0 uncertain 0; 
then: 2 sent, 0 recovered, 0 uncertain
== compose forks
6 sent
exit 0: 
then: 0 sent, 0 recovered, 0 uncertain
== in a fiber
stored
Error: MailQueue::runWorker() is running already on this object: do not call it from its own callbacks
4 sent
exit 0: 
then: 0 sent, 0 recovered, 0 uncertain
== in a fiber that is given up
given up
exit 0: r1 Pending 0 uncertain 0; r2 Pending 0 uncertain 0; r3 Pending 0 uncertain 0; 
then: 3 sent, 0 recovered, 0 uncertain
