--TEST--
work --daemon tells the service manager (sd_notify): READY before the first mail, WATCHDOG, STATUS, STOPPING; SIGHUP opens the log again and ends nothing
--EXTENSIONS--
mailqueue
posix
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

/** The service manager's end: a socket of datagrams, at a path or of an abstract name. */
final class Manager
{
    /** @var resource */
    private $socket;
    /** @var list<array{float, string}> when, and which line */
    public array $lines = [];

    public function __construct(public readonly string $address)
    {
        $this->socket = stream_socket_server('udg://' . str_replace('@', "\0", $address), $code, $text, STREAM_SERVER_BIND);
        stream_set_blocking($this->socket, false);
    }

    /** Reads what has come; whether a line begins so. */
    public function has(string $begin): bool
    {
        while (($text = (string) stream_socket_recvfrom($this->socket, 4096)) !== '') {
            foreach (explode("\n", rtrim($text, "\n")) as $line) {
                $this->lines[] = [hrtime(true) / 1e9, $line];
            }
        }
        return $this->times($begin) !== [];
    }

    /** @return list<float> */
    public function times(string $begin): array
    {
        return array_column(array_filter($this->lines, static fn(array $line): bool => str_starts_with($line[1], $begin)), 0);
    }

    /** The lines in their order, each once, without numbers. */
    public function order(): string
    {
        return implode(' ', array_unique(preg_replace('/=.*(?<!=1)$/', '', array_column($this->lines, 1))));
    }
}

$dir = temp_directory();
$app = "$dir/app.sqlite";
$log = "$dir/mail-queue.log";
$queue = new MailQueue($app);
$queue->stats();
/** @return resource the daemon */
$daemon = static function (array $words, array $environment) use ($app, $dir) {
    $environment += ['PATH' => getenv('PATH'), 'HOME' => $dir, 'MAILQUEUE_DATABASE' => $app] + sanitizer_environment();
    return proc_open(cli_command(['work', '--daemon', '--time-limit', '120', ...$words]), [['file', '/dev/null', 'r'], ['file', "$dir/out", 'w'], ['redirect', 1]], $pipes, $dir, $environment);
};
$end = static function ($process) use ($dir): void {
    posix_kill(proc_get_status($process)['pid'], SIGTERM);
    must(wait_until(static function () use ($process, &$state): bool {
        $state = proc_get_status($process);
        return !$state['running'];
    }), 'it ends');
    echo "exit $state[exitcode]: ", file_get_contents("$dir/out");
};

// A transport that speaks to the same socket shows what comes first.
file_put_contents("$dir/b.php", '<?php return ["transport" => static function (): void {
    $name = str_replace("@", "\0", getenv("NOTIFY_SOCKET"));
    fwrite(stream_socket_client("udg://$name"), "MAIL=1\n");
}];');
foreach (["$dir/notify", '@mailqueue-test-' . bin2hex(random_bytes(8))] as $address) {
    echo $address[0] === '@' ? "-- abstract\n" : "-- a path\n";
    $manager = new Manager($address);
    $queue->enqueue(mail_fields());
    $process = $daemon(['--bootstrap', "$dir/b.php"], ['NOTIFY_SOCKET' => $address, 'WATCHDOG_USEC' => '400000']);
    must(wait_until(static fn(): bool => $manager->has('MAIL=1') && count($manager->times('WATCHDOG=1')) >= 8), 'beats');
    must(wait_until(static fn(): bool => $manager->has('STATUS=1 sent, 0 to be tried later, 0 parked, 0 under way')), 'the status');
    $beats = $manager->times('WATCHDOG=1');
    $pace = (end($beats) - $beats[0]) / (count($beats) - 1);
    echo $pace > 0.1 && $pace < 0.4 ? "beats at half the interval\n" : "a beat each $pace s\n";
    if ($address[0] !== '@') {
        echo "-- SIGHUP\n";
        rename($log, "$log.1");
        posix_kill(proc_get_status($process)['pid'], SIGHUP);
        must(wait_until(static fn(): bool => is_file($log)), 'a new log');
        echo filesize($log), ' ', substr_count(file_get_contents("$log.1"), '"sent"'), "\n";
        $queue->enqueue(mail_fields());
        must(wait_until(static fn(): bool => str_contains(file_get_contents($log), '"sent"')), 'written to the new log');
        must(!$manager->has('STOPPING=1'), 'the run goes on');
    }
    $end($process);
    $manager->has('');
    echo $manager->order(), "\n";
    echo count($manager->times('READY=1')), ' ', count($manager->times('STOPPING=1')), "\n";
}

echo "-- nobody is watched\n";
$manager = new Manager("$dir/quiet");
$process = $daemon(['--transport', 'null://null'], ['NOTIFY_SOCKET' => "$dir/quiet", 'WATCHDOG_USEC' => '400000', 'WATCHDOG_PID' => '1']);
must(wait_until(static fn(): bool => $manager->has('READY=1')), 'ready');
$end($process);
$manager->has('');
echo $manager->order(), "\n";

echo "-- a manager that does not read\n";
$manager = new Manager("$dir/deaf");
$process = $daemon(['--transport', 'null://null'], ['NOTIFY_SOCKET' => "$dir/deaf", 'WATCHDOG_USEC' => '2000']);
usleep(2_000_000);
$queue->enqueue(mail_fields());
must(wait_until(static fn(): bool => $queue->jobs() === []), 'the mail is sent');
$end($process);

echo "-- none at all\n";
foreach (["$dir/nobody", 'relative', '@', '', str_repeat('/x', 80)] as $address) {
    $queue->enqueue(mail_fields());
    $process = $daemon(['--transport', 'null://null'], ['NOTIFY_SOCKET' => $address, 'WATCHDOG_USEC' => 'soon']);
    must(wait_until(static fn(): bool => $queue->jobs() === []), 'the mail is sent');
    $end($process);
}

echo "-- its programs know nothing of it\n";
file_put_contents("$dir/program", "#!/bin/sh\nenv >$dir/env.new && mv $dir/env.new $dir/env; cat >/dev/null\n");
chmod("$dir/program", 0755);
$manager = new Manager("$dir/sendmail");
$queue->enqueue(mail_fields());
$process = $daemon(['--transport', "sendmail://default?command=$dir/program"], ['NOTIFY_SOCKET' => "$dir/sendmail", 'WATCHDOG_USEC' => '400000', 'WATCHDOG_PID' => '1']);
must(wait_until(static fn(): bool => is_file("$dir/env") && $queue->jobs() === []), 'the program ran');
$end($process);
echo preg_match('/NOTIFY|WATCHDOG|MAILQUEUE_DATABASE/', file_get_contents("$dir/env")) ? "it does\n" : "nothing\n";

echo "-- no daemon: nothing is told, SIGHUP ends it\n";
$manager = new Manager("$dir/once");
file_put_contents("$dir/slow.php", '<?php return ["transport" => static function (): void { touch("' . $dir . '/begun"); sleep(60); }];');
$queue->enqueue(mail_fields());
$process = proc_open(cli_command(['work', '--bootstrap', "$dir/slow.php"]), [['file', '/dev/null', 'r'], ['file', "$dir/out", 'w'], ['redirect', 1]], $pipes, $dir,
    ['PATH' => getenv('PATH'), 'HOME' => $dir, 'MAILQUEUE_DATABASE' => $app, 'NOTIFY_SOCKET' => "$dir/once", 'WATCHDOG_USEC' => '400000'] + sanitizer_environment());
must(wait_until(static fn(): bool => is_file("$dir/begun")), 'it sends');
posix_kill(proc_get_status($process)['pid'], SIGHUP);
must(wait_until(static function () use ($process, &$state): bool {
    $state = proc_get_status($process);
    return !$state['running'];
}), 'it ends');
echo $state['signaled'] ? "signal $state[termsig]" : "exit $state[exitcode]", $manager->has('') ? " told\n" : " silent\n";
?>
--EXPECT--
-- a path
beats at half the interval
-- SIGHUP
0 1
exit 0: mailqueue: 2 sent; stopped by a signal.
READY=1 WATCHDOG=1 STATUS MAIL=1 STOPPING=1 EXTEND_TIMEOUT_USEC
1 1
-- abstract
beats at half the interval
exit 0: mailqueue: 1 sent; stopped by a signal.
READY=1 WATCHDOG=1 STATUS MAIL=1 STOPPING=1 EXTEND_TIMEOUT_USEC
1 1
-- nobody is watched
exit 0: mailqueue: 0 sent; stopped by a signal.
READY=1 STATUS STOPPING=1 EXTEND_TIMEOUT_USEC
-- a manager that does not read
exit 0: mailqueue: 1 sent; stopped by a signal.
-- none at all
exit 0: mailqueue: 1 sent; stopped by a signal.
exit 0: mailqueue: 1 sent; stopped by a signal.
exit 0: mailqueue: 1 sent; stopped by a signal.
exit 0: mailqueue: 1 sent; stopped by a signal.
exit 0: mailqueue: 1 sent; stopped by a signal.
-- its programs know nothing of it
exit 0: mailqueue: 1 sent; stopped by a signal.
nothing
-- no daemon: nothing is told, SIGHUP ends it
signal 1 silent