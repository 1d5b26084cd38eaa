--TEST--
runWorker(): callbacks that run out of memory
--EXTENSIONS--
mailqueue
--SKIPIF--
<?php if (getenv('USE_ZEND_ALLOC') === '0') die("skip without PHP's allocator there is no memory_limit"); ?>
--FILE--
<?php
require __DIR__ . '/../lib/worker.inc';

run_misbehaving('compose', <<<'PHP'
    ini_set('memory_limit', '16M');
    register_shutdown_function(function () use ($queue) {
        echo "\nshutdown sees ", count($queue->jobs()), " jobs\n";
    });
    $queue->runWorker('null://null', fn() => str_repeat('x', 100000000), log: '');
    PHP);
run_misbehaving('the transport', <<<'PHP'
    ini_set('memory_limit', '16M');
    $queue->runWorker(fn() => str_repeat('x', 100000000), $fields, log: '');
    PHP);
run_misbehaving('onEvent', <<<'PHP'
    ini_set('memory_limit', '16M');
    $queue->runWorker('null://null', $fields, log: '', onEvent: fn() => str_repeat('x', 100000000));
    PHP);
?>
--EXPECT--
== compose
Fatal error

shutdown sees 3 jobs
exit 255: r1 Pending 0 uncertain 0; r2 Pending 0 uncertain 0; r3 Pending 0 uncertain 0; 
then: 3 sent, 0 recovered, 0 uncertain
== the transport
Fatal error
exit 255: r1 Failed 1 uncertain 1; r2 Pending 0 uncertain 0; r3 Pending 0 uncertain 0; 
then: 2 sent, 0 recovered, 0 uncertain
== onEvent
Fatal error
exit 255: r1 Pending 0 uncertain 0; r2 Pending 0 uncertain 0; r3 Pending 0 uncertain 0; 
then: 3 sent, 0 recovered, 0 uncertain
