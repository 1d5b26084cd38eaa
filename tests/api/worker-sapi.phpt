--TEST--
runWorker() works on the command line only; enqueue() works everywhere
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/servers.inc';
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
[$address] = MailQueueTest\web_server(php_command(), [$script]);
echo file_get_contents("http://$address/?path=" . rawurlencode($path));
echo (new MailQueue($path))->stats()->pending, " pending\n";
?>
--EXPECT--
cli-server enqueued 1
MailQueue\Exception: MailQueue::runWorker() runs on the command line only, this is PHP's "cli-server": start bin/mailqueue work by cron
1 pending
