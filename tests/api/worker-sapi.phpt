--TEST--
runWorker() is for the command line only; enqueue() is not
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$path = database();
$script = dirname($path) . '/index.php';
file_put_contents($script, '<?php
    $queue = new MailQueue($_GET["path"]);
    echo PHP_SAPI, " enqueued ", $queue->enqueue(["from" => "a@example.org", "to" => "b@example.org", "subject" => "x", "text" => "y"]), "\n";
    try {
        $queue->runWorker("null://null");
    } catch (MailQueue\Exception $e) {
        echo get_class($e), ": ", $e->getMessage(), "\n";
    }');
$probe = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($probe, false);
fclose($probe);
$server = proc_open(php_command('-S', $address, $script), [1 => ['file', '/dev/null', 'w'], 2 => ['file', '/dev/null', 'w']], $pipes);
must(wait_until(fn() => (bool) @fsockopen("tcp://$address")), 'the server listens');
echo file_get_contents("http://$address/?path=" . rawurlencode($path));
proc_terminate($server);
proc_close($server);
echo (new MailQueue($path))->stats()->pending, " pending\n";
?>
--EXPECT--
cli-server enqueued 1
MailQueue\Exception: MailQueue::runWorker() runs on the command line only, this is PHP's "cli-server": start bin/mailqueue work by cron
1 pending
