--TEST--
job(), jobs() and claim() that run into memory_limit leave no memory behind in a server's process
--EXTENSIONS--
mailqueue
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') die("skip without PHP's allocator there is no memory_limit");
if (!is_readable('/proc/self/status')) die('skip needs /proc');
?>
--FILE--
<?php
require __DIR__ . '/../lib/servers.inc';
require __DIR__ . '/../lib/queue.inc';

const MIB = 1 << 20;
$path = database();
$queue = new MailQueue($path);
$queue->enqueue(mail_fields(text: str_repeat(str_repeat("x", 63) . "\n", 20 * MIB / 64)), priority: 100);
for ($i = 0; $i < 6000; $i++) {
    $many[] = ['reference' => str_repeat('r', 100) . $i];
}
$queue->enqueueMany($many);
// jobs() takes 8M, between the limit and twice the limit. PHP 8.2.36 reports the limit after the
// method has returned; if a method reaches memory_hard_limit_percent (200), it ends the process
// (exit 137, "Hard memory limit"). A PHP without that setting unwinds within the method.
$script = dirname($path) . '/index.php';
file_put_contents($script, '<?php
    $queue = new MailQueue(' . var_export($path, true) . ');
    ini_set("memory_limit", $_GET["call"] === "jobs" ? "5M" : "16M");
    match ($_GET["call"]) {
        "job" => $queue->job(1),
        "jobs" => $queue->jobs(limit: 10000),
        "claim" => $queue->claim(),
    };
    echo "not reached";');

[$address, $pid] = MailQueueTest\web_server(php_command('-d', 'log_errors=0'), [$script], ['PATH' => MailQueueTest\PATH]);
$status = "/proc/$pid/status";

function request(string $call): string
{
    global $address;
    $context = stream_context_create(['http' => ['ignore_errors' => true]]);
    $body = file_get_contents("http://$address/?call=$call", false, $context);
    return preg_match('/Allowed memory size/', $body) ? 'out of memory' : $body;
}
function resident_mib(): int
{
    global $status;
    return preg_match('/^VmRSS:\s+(\d+)/m', file_get_contents($status), $m) ? intdiv((int) $m[1], 1024) : -1;
}

foreach (['job' => 6, 'jobs' => 40, 'claim' => 6] as $call => $times) {
    $said = [];
    for ($i = 0; $i < $times + 3; $i++) {
        if ($i === 3) {
            $before = resident_mib();
        }
        $said[request($call)] = true;
        $queue->recoverStuckSending(time() + 1000);
        $queue->retryFailed([1]);
    }
    $grown = resident_mib() - $before;
    echo "$call: ", implode(', ', array_keys($said)), $grown < 30 ? '' : ", grown by $grown MiB", "\n";
}
?>
--EXPECT--
job: out of memory
jobs: out of memory
claim: out of memory
