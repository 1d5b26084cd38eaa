--TEST--
work --processes: side by side, one that dies or hangs is replaced and nothing is lost, signals, the service manager, exit codes
--EXTENSIONS--
mailqueue
posix
pcntl
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$dir = temp_directory();
$app = "$dir/app.sqlite";
$queue = new MailQueue($app);
$queue->stats();
$environment = ['MAILQUEUE_DATABASE' => $app, 'MAIL_QUEUE_LOG' => "$dir/log"];
// A transport that notes who sends what, and does what the mail's type says.
file_put_contents("$dir/b.php", "<?php \$dir = '$dir';" . <<<'PHP'
touch("$dir/pid." . getmypid());
return ['transport' => static function (MailQueue\Job $job, string $message) use ($dir): void {
    for ($i = 0; $i < 3000 && $job->type === 'together' && count(glob("$dir/has.*")) < 3; $i++) {
        touch("$dir/has." . getmypid());
        usleep(20_000);
    }
    if ($job->type === 'line') {
        foreach (str_split(str_repeat('x', 5000), 100) as $part) {
            echo $part;
        }
        echo "\n";
    }
    while ($job->type === 'stuck' && !is_file("$dir/unstuck")) {
        touch("$dir/stuck");
        usleep(20_000);
    }
    if ($job->type === 'deadly' && !is_file("$dir/killed")) {
        touch("$dir/killed");
        posix_kill(getmypid(), SIGKILL);
    }
    file_put_contents("$dir/sent", getmypid() . " $job->id\n", FILE_APPEND | LOCK_EX);
    usleep(5_000);
}];
PHP);
$fill = static function (int $count, string $type = 'mail') use ($queue): array {
    return array_map(static fn(): int => $queue->enqueue(mail_fields(), type: $type), range(1, $count));
};
/** What was sent since the last call: the numbers of processes and of different mails. */
$sent = static function () use ($dir): string {
    preg_match_all('/^(\d+) (\d+)$/m', (string) @file_get_contents("$dir/sent"), $match);
    @unlink("$dir/sent");
    array_map(unlink(...), glob("$dir/pid.*"));
    return count(array_unique($match[1])) . ' processes, ' . count(array_unique($match[2])) . ' mails';
};
$words = static fn(string ...$words): array => ['work', '--bootstrap', "$dir/b.php", '--batch', '1', '--processes', '3', ...$words];
$shown = static fn(string $text): string => preg_replace('/process \d/', 'process N', $text);
$run = static function (string ...$more) use ($words, $environment, $shown): void {
    [$code, $output, $errors] = cli($words(...$more), $environment);
    echo "exit $code: ", $shown($output . $errors);
};
/** @return resource a run that goes on */
$begin = static function (array $more, array $names = []) use ($words, $environment, $dir) {
    $names += $environment + ['PATH' => getenv('PATH'), 'HOME' => $dir] + sanitizer_environment();
    return proc_open(cli_command($words(...$more)), [['file', '/dev/null', 'r'], ['file', "$dir/out", 'w'], ['redirect', 1]], $pipes, $dir, $names);
};
$daemon = static fn(array $more = [], array $names = []) => $begin(['--daemon', '--grace', '1', ...$more], $names);
$pid = static fn($process): int => proc_get_status($process)['pid'];
$lives = static fn(string $file): bool => posix_kill((int) substr(strrchr($file, '.'), 1), 0);
$workers = static fn(int $count): bool => wait_until(static fn(): bool => (new MailQueue($app))->diagnostics()['workers'] === $count);
$empty = static fn(): bool => wait_until(static fn(): bool => $queue->jobs() === []);
$ends = static function ($process) use ($dir, $shown): void {
    must(wait_until(static function () use ($process, &$state): bool {
        $state = proc_get_status($process);
        return !$state['running'];
    }), 'it ends');
    echo "exit $state[exitcode]: ", $shown(file_get_contents("$dir/out"));
};

echo "-- side by side\n";
$fill(60, 'together');
$run();
echo $sent(), "\n";
$fill(20);
[$code, $json] = cli($words('--json', '--message-limit', '7'), $environment);
$report = json_decode($json);
echo "exit $code: $report->sent of $report->claimed, $report->end\n";
$run('--message-limit', '4');
$queue->delete(array_column($queue->jobs(), 'id'));
$run('--quiet');

echo "-- whole lines\n";
$fill(30, 'line');
[$code, $output] = cli($words(), $environment);
echo "exit $code: ", count(preg_grep('/^x{5000}$/', explode("\n", $output))), ' of ', substr_count($output, "\n"), "\n";
$sent();

echo "-- one dies\n";
$fill(30);
[$deadly] = $fill(1, 'deadly');
$run();
$sent();
[$job] = $queue->jobs();
echo $job->id === $deadly ? "uncertain $job->uncertain, {$job->status->value}" : 'another one', "\n";
$queue->delete([$deadly]);

echo "-- a daemon: one dies, one hangs, the log is opened again\n";
$manager = stream_socket_server("udg://$dir/notify", $code, $text, STREAM_SERVER_BIND);
stream_set_blocking($manager, false);
$told = '';
$told_of = static function (string $what) use ($manager, &$told): bool {
    while (($text = (string) stream_socket_recvfrom($manager, 4096)) !== '') {
        $told .= $text;
    }
    return str_contains($told, $what);
};
$process = $daemon([], ['NOTIFY_SOCKET' => "$dir/notify", 'WATCHDOG_USEC' => '3000000']);
must(wait_until(static fn(): bool => $told_of("READY=1\n")), 'it is ready');
wait_until(static fn(): bool => count(glob("$dir/pid.*")) === 3); // it is ready with the first
echo count(glob("$dir/pid.*")), " processes\n";
$fill(30);
must($empty(), 'all is sent');
$own = glob("$dir/pid.*");
foreach ([SIGKILL, SIGSTOP] as $i => $signal) {
    posix_kill((int) substr(strrchr($own[$i], '.'), 1), $signal);
    must(wait_until(static fn(): bool => count(glob("$dir/pid.*")) === 4 + $i), 'another one starts');
    $fill(30);
    must($empty(), 'all is sent');
}
rename("$dir/log", "$dir/log.1");
posix_kill($pid($process), SIGHUP);
must(wait_until(static fn(): bool => is_file("$dir/log")), 'a new log');
$fill(30);
must(wait_until(static fn(): bool => substr_count((string) file_get_contents("$dir/log"), '"sent"') > 0), 'written to the new log');
must($empty() && $workers(3), 'all three work');
must(wait_until(static fn(): bool => $told_of("; 3 processes\n")), 'the status');

echo "-- a second start\n";
$run();
posix_kill($pid($process), SIGTERM);
$ends($process);
echo str_ends_with($sent(), ', 120 mails') ? "nothing is lost\n" : "lost\n";
$told_of('');
echo substr_count($told, 'READY=1'), ' ', substr_count($told, 'STOPPING=1'), ' ', substr_count($told, 'WATCHDOG=1') > 3 ? 'watched' : 'not watched', "\n";

echo "-- another worker has one of the worker slots\n";
$single = proc_open(cli_command(['work', '--bootstrap', "$dir/b.php", '--daemon', '--workers', '3']), [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['redirect', 1]], $pipes, $dir,
    $environment + ['PATH' => getenv('PATH'), 'HOME' => $dir] + sanitizer_environment());
must($workers(1), 'it works');
$told = '';
$process = $daemon([], ['NOTIFY_SOCKET' => "$dir/notify"]);
echo wait_until(static fn(): bool => $told_of("READY=1\n")) ? 'ready' : 'not ready', ' ', $workers(3) ? "3 workers\n" : "less\n";
foreach ([$process, $single] as $one) {
    posix_kill($pid($one), SIGTERM);
}
$ends($process);
must(wait_until(static fn(): bool => !proc_get_status($single)['running']), 'it ends');

echo "-- a message limit is for all processes, also for those that come after others\n";
$sent();
$process = $daemon(['--message-limit', '20']);
must($workers(3), 'all three work');
$fill(5); // less than the share of any of them, so that none ends by itself
must($empty(), 'five are sent');
foreach (glob("$dir/pid.*") as $file) {
    posix_kill((int) substr(strrchr($file, '.'), 1), SIGTERM);
}
must(wait_until(static fn(): bool => count(glob("$dir/pid.*")) === 6) && $workers(3), 'three others work');
$fill(30);
$ends($process);
echo $sent(), "\n";
$queue->delete(array_column($queue->jobs(limit: 100), 'id'));

echo "-- a message limit is for all processes, also for those that find no worker slot at first\n";
$queue->setConfig('mailMaxWorkers', '1');
$fill(9, 'stuck');
$process = $begin(['--message-limit', '6']);
must(wait_until(static fn(): bool => is_file("$dir/stuck") && count($own = glob("$dir/pid.*")) === 3 && count(array_filter($own, $lives)) === 1), 'two have ended');
touch("$dir/unstuck");
$ends($process);
echo $sent(), "\n";
$queue->setConfig('mailMaxWorkers', null);
$queue->delete(array_column($queue->jobs(), 'id'));
array_map(unlink(...), ["$dir/stuck", "$dir/unstuck"]);

echo "-- one is stuck\n";
$process = $daemon();
must($workers(3), 'all three work');
[$stuck] = $fill(1, 'stuck');
must(wait_until(static fn(): bool => is_file("$dir/stuck")), 'it is stuck');
$fill(30);
must(wait_until(static fn(): bool => array_column($queue->jobs(), 'id') === [$stuck]), 'the others send');
posix_kill($pid($process), SIGINT);
$ends($process);
touch("$dir/unstuck");
$run();
[$job] = $queue->jobs();
echo "uncertain $job->uncertain\n";
$queue->delete([$stuck]);

echo "-- the one that starts them is killed\n";
$process = $daemon();
must($workers(3), 'all three work');
posix_kill($pid($process), SIGKILL);
must($workers(0) || !is_executable('/usr/bin/setpriv'), 'none is left');
proc_close($process);

echo "-- what cannot run\n";
foreach ([['--processes', '0'], ['--processes', '11'], ['--workers', '2'], ['--transport', 'nowhere://x'], ['--time-limit', 'long']] as $wrong) {
    $run(...$wrong);
}
foreach (['pcntl_signal', 'proc_open'] as $function) {
    $command = cli_command($words());
    array_splice($command, 1, 0, ['-d', "disable_functions=$function"]);
    exec(implode(' ', array_map(escapeshellarg(...), $command)) . ' 2>&1', $lines, $code);
    echo "exit $code: ", implode($lines), "\n";
    $lines = [];
}
?>
--EXPECTF--
-- side by side
exit 0: mailqueue: 60 sent; nothing more is due.
3 processes, 60 mails
exit 0: 7 of 7, messages
exit 0: mailqueue: 4 sent; the message limit is reached.
exit 0: -- whole lines
exit 0: 30 of 31
-- one dies
exit 1: mailqueue: %d sent, 1 uncertain; nothing more is due.
mailqueue: process N was killed by signal 9; another one starts in 1 s.
uncertain 1, failed
-- a daemon: one dies, one hangs, the log is opened again
3 processes
-- a second start
exit 0: mailqueue: 0 sent; another worker is running.
exit 0: mailqueue: process N was killed by signal 9; another one starts in 1 s.
mailqueue: process N hangs: it was silent for 3 s.
mailqueue: process N was killed by signal 9; another one starts in %d s.
mailqueue: %d sent; stopped by a signal.
nothing is lost
1 1 watched
-- another worker has one of the worker slots
ready 3 workers
exit 0: mailqueue: 0 sent; stopped by a signal.
-- a message limit is for all processes, also for those that come after others
exit 0: mailqueue: 20 sent; %s.
%d processes, 20 mails
-- a message limit is for all processes, also for those that find no worker slot at first
exit 0: mailqueue: 6 sent; the message limit is reached.
3 processes, 6 mails
-- one is stuck
exit 1: mailqueue: process N was killed by signal 9.
mailqueue: %d sent; stopped by a signal.
exit 0: mailqueue: 0 sent, 1 uncertain; nothing more is due.
uncertain 1
-- the one that starts them is killed
-- what cannot run
exit 64: mailqueue: --processes must be a whole number, 1 to 10, not "0".
exit 64: mailqueue: --processes must be a whole number, 1 to 10, not "11".
exit 64: mailqueue: --workers 2 is less than --processes 3: that many could never run.
exit 78: mailqueue: the transport cannot be used: %s
exit 64: mailqueue: --time-limit must be a whole number, 1 to 31622400, not "long".
exit 78: mailqueue: --processes needs PHP's function pcntl_signal: install or enable the extension pcntl, or start mailqueue work several times, with --workers.
exit 78: mailqueue: --processes needs PHP's function proc_open: take it out of disable_functions in php.ini.
