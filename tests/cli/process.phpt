--TEST--
mailqueue as a process: without the extension in php.ini, through a link, without pcntl, with closed descriptors, a broken pipe, a file size limit
--EXTENSIONS--
mailqueue
--SKIPIF--
<?php
if (getenv('MAILQUEUE_ASAN') === '1') die('skip it loads the plain build by itself');
if (!is_file(dirname(__DIR__, 2) . '/.build/plain/modules/mailqueue.so')) die('skip tools/build plain was not run');
if (!is_executable('/usr/bin/setpriv')) die('skip setpriv (util-linux) is missing');
?>
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$program = dirname(__DIR__, 2) . '/bin/mailqueue';
$dir = temp_directory();
$app = "$dir/app.sqlite";
$queue = new MailQueue($app);
for ($i = 0; $i < 300; $i++) {
    $queue->enqueue(mail_fields(), reference: "r$i");
}
$environment = ['PATH' => getenv('PATH'), 'HOME' => $dir, 'MAILQUEUE_DATABASE' => $app, 'MAILQUEUE_TRANSPORT' => 'null://null'];
/** A shell command; $M is mailqueue with a PHP that has not loaded the extension. */
$shell = static function (string $line, string $options = '') use ($program, $environment, $dir): string {
    $process = proc_open(['bash', '-c', 'M() { ' . escapeshellarg(PHP_BINARY) . " -n $options " . escapeshellarg($program) . " \"\$@\"; }; $line"],
        [['file', '/dev/null', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes, $dir, $environment);
    $output = stream_get_contents($pipes[1]);
    return preg_replace('/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/', 'TIME', $output) . 'exit ' . proc_close($process) . "\n";
};

echo "-- the extension is not loaded\n";
echo $shell('M status | head -n 1');
echo $shell('M status | head -n 1', '-d disable_functions=pcntl_exec');
echo $shell('M status | head -n 1', '-d disable_functions=pcntl_exec,pcntl_signal');
echo $shell('M list --status x; exit $?', '-d disable_functions=pcntl_exec');
echo preg_replace('~=/\S*/~', '=%/', $shell('M status', '-d disable_functions=pcntl_exec,proc_open'));
symlink($program, "$dir/mq");
echo $shell('cd / && ' . escapeshellarg(PHP_BINARY) . ' -n ' . escapeshellarg("$dir/mq") . ' status | head -n 1');
symlink($program, "$dir/sendmail");
foreach (['', '-d disable_functions=pcntl_exec '] as $options) {
    echo $shell('printf "Subject: x\n\nhi\n" | ' . escapeshellarg(PHP_BINARY) . " -n $options" . escapeshellarg("$dir/sendmail") . ' -i -f me@example.org ann@example.net');
}
// A copy is a separate file, under any name; the classes are beside it.
mkdir("$dir/copied");
symlink(dirname(__DIR__, 2) . '/cli', "$dir/cli");
symlink(dirname(__DIR__, 2) . '/.build/plain/modules', "$dir/modules");
copy($program, "$dir/copied/sendmail");
copy($program, "$dir/copied/mailq");
echo $shell('printf "Subject: x\n\nhi\n" | ' . escapeshellarg(PHP_BINARY) . ' -n copied/sendmail -i -f me@example.org ann@example.net');
echo $shell(escapeshellarg(PHP_BINARY) . ' -n copied/sendmail --database=/tmp/evil.sqlite -t');
echo $shell('cd copied && ' . escapeshellarg(PHP_BINARY) . ' -n mailq | tail -n 1');
echo count($queue->jobs(after: 300)), " by sendmail\n";

echo "-- SIGTERM reaches the worker\n";
echo $shell('M work');
foreach (['pcntl_exec', 'pcntl_exec,pcntl_signal'] as $disabled) {
    $process = proc_open([PHP_BINARY, '-n', '-d', "disable_functions=$disabled", $program, 'work', '--daemon', '--time-limit', '60'],
        [['file', '/dev/null', 'r'], ['file', "$dir/out", 'w'], ['redirect', 1]], $pipes, $dir, $environment);
    // Once its record exists, the run also has its signal handlers; it takes the slot before them.
    must(wait_until(static fn(): bool => glob("$app.run/*.intent") !== []), 'the worker starts');
    proc_terminate($process, SIGTERM);
    must(wait_until(static fn(): bool => !proc_get_status($process)['running']), 'the command ends');
    $gone = wait_until(static fn(): bool => $queue->diagnostics()['workers'] === 0, 30); // earlier than its time limit
    // The report comes after the lock is released, and from a process that is not our child.
    wait_until(static fn(): bool => str_ends_with((string) file_get_contents("$dir/out"), "\n"));
    echo $gone ? 'gone' : 'orphaned', ', ', file_get_contents("$dir/out");
}

echo "-- closed descriptors\n";
for ($i = 0; $i < 20; $i++) {
    $queue->enqueue(mail_fields());
}
echo $shell('M work --message-limit 2 <&- >&- 2>&-');
echo $shell('M work --message-limit 2 >&-');
echo $shell('M work --message-limit 2 <&-');
echo $shell('M work --message-limit 2 2>&-');
echo $shell('M status >&- 2>&-');
// Files that the application opens must not become standard output.
file_put_contents("$dir/b.php", "<?php \$GLOBALS['log'] = fopen('$dir/app.log', 'a'); return ['queue' => new MailQueue('$app')];");
echo $shell("M work --message-limit 1 --bootstrap $dir/b.php <&- >&- 2>&-"), file_get_contents("$dir/app.log");
foreach (file("$dir/mail-queue.log") as $line) {
    json_decode($line) !== null || print("in the log: $line");
}
echo "-- nobody reads\n";
echo $shell('M list --limit 300 | true; echo ${PIPESTATUS[0]}');
echo $shell('M list --limit 300 --json | head -n 1; echo ${PIPESTATUS[0]}');
echo $shell('M work --message-limit 1 | true; echo ${PIPESTATUS[0]}');
echo $shell('M work --message-limit 1 > /dev/full; echo $?');
echo $shell('M list --json > /dev/full; echo $?');
echo $shell('M retry 9999 > /dev/full; echo $?');
echo $shell('M --help > /dev/full; echo $?');
echo "-- a file size limit\n";
echo preg_replace('~/\S*/~', '%/', preg_replace('/[0-9a-f]{32}/', 'ID', $shell('ulimit -f 4; M work --message-limit 20')));
echo $shell('M work --message-limit 3');
echo "-- few descriptors\n";
$told = 0;
foreach (['status', 'list', 'doctor', 'config', 'work --message-limit 1', 'sendmail -i -f me@example.org ann@example.net'] as $command) {
    foreach (range(4, 16) as $limit) {
        // Without the descriptors that the test's parents left open. A command that ends early
        // breaks the pipe.
        $text = $shell("for i in {3..40}; do eval \"exec \$i>&-\"; done; printf 'Subject: x\n\nhi\n' 2>/dev/null | (ulimit -n $limit; M $command) 2>&1 >/dev/null");
        $isTold = preg_match('/\Amailqueue: [^\n]*Too many open files[^\n]*ulimit -n[^\n]*\nexit 73\n\z/', $text);
        $told += $isTold;
        $isNot = '/\Aexit [01]\n\z|error while loading shared libraries/'; // enough, or too little for PHP itself
        $isTold || preg_match($isNot, $text) || print("$limit, $command: $text");
    }
}
echo $told > 6 ? "told in a line\n" : "not met\n";
?>
--EXPECTF--
-- the extension is not loaded
pending   300
exit 0
pending   300
exit 0
pending   300
exit 0
mailqueue: --status must be pending, sending, failed, parked or held.
exit 64
mailqueue: The PHP extension is not loaded: add extension=%/mailqueue.so to php.ini.
exit 78
pending   300
exit 0
exit 0
exit 0
exit 0
mailqueue: sendmail: unknown option --database=/tmp/evil.sqlite. mailqueue sendmail --help lists the options.
exit 64
-- %d Kbytes in 303 Requests.
exit 0
3 by sendmail
-- SIGTERM reaches the worker
mailqueue: 303 sent; nothing more is due.
exit 0
gone, mailqueue: 0 sent; stopped by a signal.
gone, mailqueue: 0 sent; stopped by a signal.
-- closed descriptors
exit 0
exit 0
mailqueue: 2 sent; the message limit is reached.
exit 0
mailqueue: 2 sent; the message limit is reached.
exit 0
exit 0
exit 0
-- nobody reads
0
exit 0
[
0
exit 0
0
exit 0
mailqueue: Standard output cannot be written: No space left on device.
74
exit 0
{"error":"Standard output cannot be written: No space left on device.","exit":74}
74
exit 0
mailqueue: Standard output cannot be written: No space left on device.
1
exit 0
mailqueue: Standard output cannot be written: No space left on device.
74
exit 0
-- a file size limit
mailqueue: %sFile too large%s
exit 75
mailqueue: 3 sent; the message limit is reached.
exit 0
-- few descriptors
told in a line
