--TEST--
A thread-safe PHP: runs of the worker overlap in threads of one process
--EXTENSIONS--
mailqueue
posix
--SKIPIF--
<?php
if (!PHP_ZTS) {
    die('skip this PHP is not thread-safe; tools/matrix runs it with one that is');
}
if (!glob(dirname(PHP_BINARY, 2) . '/lib/libphp*.so')) {
    die('skip the embed SAPI of this PHP is missing (libphp.so)');
}
?>
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$prefix = dirname(PHP_BINARY, 2);
$program = temp_directory() . '/threads';
$config = "env -u LD_PRELOAD $prefix/bin/php-config";
$flags = str_contains((string) shell_exec("$config --configure-options"), 'address-sanitizer') || getenv('MAILQUEUE_ASAN') === '1' ? '-fsanitize=address,undefined' : '';
exec("env -u LD_PRELOAD gcc -g -O1 -D_GNU_SOURCE $flags $($config --includes) -I$prefix/include/php -o $program "
    . escapeshellarg(__DIR__ . '/threads.c') . " -L$prefix/lib -Wl,-rpath,$prefix/lib -lphp -lpthread 2>&1", $said, $code);
must($code === 0, implode("\n", $said));

/* Each thread has a queue and runs the worker several times; one thread's run begins and ends while
 * others continue. */
$directory = temp_directory();
$work = '
    $queue = new MailQueue(' . var_export($directory, true) . ' . "/mail$thread.db");
    $sent = 0;
    for ($i = 0; $i < 10; $i++) {
        $queue->enqueue(["from" => "a@example.org", "to" => "b@example.net", "subject" => "s", "text" => "t"]);
        $sent += $queue->runWorker($thread % 2 ? "sendmail://default?command=/bin/true" : "null://null", log: "")->sent;
        usleep(1000 * ($thread + 1));
    }
    echo "thread $thread: $sent sent\n";';
file_put_contents("$directory/php.ini", 'extension=' . getenv('MAILQUEUE_SO') . "\ndisplay_errors=1\nhtml_errors=0\n"
    . "zend.signal_check=0\n"); // in a debug build of PHP, a request that ends during another's run would warn
$run = function (string ...$arguments) use ($program, $directory): string {
    $process = proc_open([$program, "$directory/php.ini", ...$arguments], [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
    $text = stream_get_contents($pipes[1]);
    $status = proc_close($process);
    return $text . ($status === 0 ? '' : "exit $status\n");
};
echo $run($work, '6');

/* SIGTERM ends all runs in order, although PHP sets its own handlers when a request begins: each
 * thread's request begins while earlier runs continue. */
$term = '
    $queue = new MailQueue(' . var_export($directory, true) . ' . "/term$thread.db");
    $queue->enqueue(["from" => "a@example.org", "to" => "b@example.net", "subject" => "s", "text" => "t"]);
    $report = $queue->runWorker("null://null", daemon: true, log: "", onEvent: function (array $event) use ($thread): void {
        if ($event["event"] === "sent") {
            echo "thread $thread runs\n"; // the next one begins
            $thread === 3 && posix_kill(getmypid(), 15);
        }
    });
    echo "thread $thread: $report->sent sent, $report->end\n";';
echo $run($term, '4', 'in turn');
?>
--EXPECT--
thread 0: 10 sent
thread 1: 10 sent
thread 2: 10 sent
thread 3: 10 sent
thread 4: 10 sent
thread 5: 10 sent
SIGTERM is as before
thread 0 runs
thread 0: 1 sent, signal
thread 1 runs
thread 1: 1 sent, signal
thread 2 runs
thread 2: 1 sent, signal
thread 3 runs
thread 3: 1 sent, signal
SIGTERM is as before
