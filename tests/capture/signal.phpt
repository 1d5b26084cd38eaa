--TEST--
mail(): a signal handler, a forked child and exit() in the middle of a captured mail
--EXTENSIONS--
mailqueue
pdo_pgsql
pcntl
--SKIPIF--
<?php require __DIR__ . '/../lib/pgsql.inc'; die(MailQueueTest\PostgreSQL::missing()); ?>
--FILE--
<?php
require __DIR__ . '/capture.inc';
require __DIR__ . '/../lib/pgsql.inc';

$server = new MailQueueTest\PostgreSQL();
$dsn = $server->dsn();
$root = $server->connect();
$settings = ['mailqueue.capture_mail' => 1, 'mailqueue.database' => $dsn];
putenv('ASAN_OPTIONS=' . getenv('ASAN_OPTIONS') . ':detect_leaks=0'); // of forked children
putenv('XDG_STATE_HOME=' . temp_directory());
(new MailQueue($dsn))->migrate();

/* Another PHP runs $code, where $within($f) is mail() with $f() called in the middle of its INSERT:
 * that waits for a lock, which is released once the signal was sent. The INSERT, which commits by
 * itself, is done before the handler runs: exit() there leaves the outer mail stored. */
$run = function (string $code) use ($settings, $root): string {
    $prelude = '
        pcntl_async_signals(true);
        $within = function (callable $f): mixed {
            pcntl_signal(SIGUSR1, function () use ($f): void { $f(); });
            echo "ready\n";
            fgets(STDIN);
            return mail("ann@example.net", "outer", "x");
        };';
    $process = proc_open(php_with($settings, '-r', $prelude . $code), [['pipe', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes);
    $pid = proc_get_status($process)['pid'];
    $text = '';
    while (($line = fgets($pipes[1])) !== false) {
        if ($line !== "ready\n") {
            $text .= $line;
            continue;
        }
        $root->beginTransaction();
        $root->exec('LOCK TABLE mail_queue IN SHARE MODE');
        fwrite($pipes[0], "go\n");
        must(wait_until(fn() => $root->query("SELECT count(*) FROM pg_locks WHERE NOT granted")->fetchColumn() > 0), 'it waits');
        posix_kill($pid, SIGUSR1);
        $root->rollBack();
    }
    $code = proc_close($process);
    return $text . ($code === 0 ? '' : "exit $code\n");
};
$stored = function () use ($root): string {
    $subjects = $root->query("SELECT substring(encode(content, 'escape') FROM 'Subject: ([a-z]*)') AS s FROM mail_body ORDER BY 1")->fetchAll(PDO::FETCH_COLUMN);
    $root->exec('TRUNCATE mail_queue, mail_body');
    return implode(' ', $subjects) . "\n";
};

foreach (['first' => '', 'second' => 'mail("ann@example.net", "before", "x");'] as $which => $before) {
    echo "-- a signal handler in the $which mail\n";
    echo $run($before . '
        $inner = null;
        $outer = $within(function () use (&$inner): void { $inner = mail("ann@example.net", "inner", "x"); });
        var_dump($inner, $outer, mail("ann@example.net", "after", "x"));'), $stored();
    echo "-- a child forked there\n";
    echo $run($before . '
        $outer = $within(function () use (&$pid): void {
            if (($pid = pcntl_fork()) === 0) {
                ini_set("display_errors", "0");
                $GLOBALS["in"] = mail("ann@example.net", "child", "x");
            }
        });
        if ($pid === 0) {
            exit(($in ? 1 : 0) + ($outer ? 2 : 0) + (mail("ann@example.net", "childafter", "x") ? 4 : 0));
        }
        pcntl_waitpid($pid, $status);
        var_dump(pcntl_wifexited($status) ? pcntl_wexitstatus($status) : -pcntl_wtermsig($status), $outer, mail("ann@example.net", "after", "x"));'), $stored();
    echo "-- exit() there\n";
    echo $run($before . 'register_shutdown_function(fn() => var_dump(mail("ann@example.net", "shutdown", "x")));
        $within(function (): void { exit(5); }); echo "not reached\n";'), $stored();
    echo "-- a fatal error there\n";
    echo preg_replace('/Cannot (re)?declare class DateTime.*(\nStack trace:(\n#.*)*)?/', 'the class is there', $run($before . 'register_shutdown_function(fn() => var_dump(mail("ann@example.net", "shutdown", "x")));
        $within(function (): void { eval("class DateTime {}"); }); echo "not reached\n";')), $stored();
}
?>
--EXPECT--
-- a signal handler in the first mail
bool(true)
bool(true)
bool(true)
after inner outer
-- a child forked there
int(5)
bool(true)
bool(true)
after child childafter outer
-- exit() there
bool(true)
exit 5
outer shutdown
-- a fatal error there

Fatal error: the class is there
bool(true)
exit 255
outer shutdown
-- a signal handler in the second mail
bool(true)
bool(true)
bool(true)
after before inner outer
-- a child forked there
int(5)
bool(true)
bool(true)
after before child childafter outer
-- exit() there
bool(true)
exit 5
before outer shutdown
-- a fatal error there

Fatal error: the class is there
bool(true)
exit 255
before outer shutdown
