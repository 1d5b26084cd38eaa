--TEST--
runWorker(): callbacks that run out of memory
--EXTENSIONS--
mailqueue
--SKIPIF--
<?php if (getenv('USE_ZEND_ALLOC') === '0') die("skip without PHP's allocator there is no memory_limit"); ?>
--FILE--
<?php
require __DIR__ . '/../lib/worker.inc';

/* Some versions of PHP unwind as exit() does, and the run ends in order; with others it is a fatal
 * error that jumps, and the leases are left to the next worker's recovery. Either way each mail is
 * sent by the next worker, and only one that the transport was called for is uncertain. */
function run_out_of_memory(string $what, string $code, string ...$ends): void
{
    ob_start();
    run_misbehaving($what, "ini_set('memory_limit', '16M');\n$code", ['native']);
    echo str_replace($ends, "as promised\n", ob_get_clean());
}
const RELEASED = "exit 255: r1 Pending 0 uncertain 0; r2 Pending 0 uncertain 0; r3 Pending 0 uncertain 0; \n";
const LEFT = "exit 255: r1 Sending 1 uncertain 0; r2 Sending 1 uncertain 0; r3 Sending 1 uncertain 0; \n";

run_out_of_memory('compose', <<<'PHP'
    register_shutdown_function(function () use ($queue) {
        echo "\nshutdown sees ", count($queue->jobs()), " jobs\n";
    });
    $queue->runWorker('null://null', fn() => str_repeat('x', 100000000), log: '');
    PHP, RELEASED . "then: 3 sent, 0 recovered, 0 uncertain\n", LEFT . "then: 2 sent, 2 recovered, 0 uncertain\n");
run_out_of_memory('the transport', <<<'PHP'
    $queue->runWorker(fn() => str_repeat('x', 100000000), $fields, log: '');
    PHP, "exit 255: r1 Failed 1 uncertain 1; r2 Pending 0 uncertain 0; r3 Pending 0 uncertain 0; \nthen: 2 sent, 0 recovered, 0 uncertain\n",
    LEFT . "then: 2 sent, 2 recovered, 1 uncertain\n");
run_out_of_memory('onEvent', <<<'PHP'
    $queue->runWorker('null://null', $fields, log: '', onEvent: fn() => str_repeat('x', 100000000));
    PHP, RELEASED . "then: 3 sent, 0 recovered, 0 uncertain\n", LEFT . "then: 3 sent, 3 recovered, 0 uncertain\n");
?>
--EXPECT--
== compose
Fatal error

shutdown sees 3 jobs
as promised
== the transport
Fatal error
as promised
== onEvent
Fatal error
as promised
