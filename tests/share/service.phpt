--TEST--
share/mailqueue/service: systemd finds no fault in the units, and little that they could forbid; logrotate takes its file, and the worker goes on
--EXTENSIONS--
mailqueue
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/servers.inc';
echo MailQueueTest\missing('/usr/bin/systemd-analyze', '/usr/sbin/logrotate');
if (posix_geteuid() !== 0) die('skip logrotate becomes root');
?>
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$dir = temp_directory();
$from = dirname(__DIR__, 2) . '/share/mailqueue/service';
$run = static fn(string $line): string => (string) shell_exec("cd $dir && env -u LD_PRELOAD $line 2>&1");

echo "-- the units\n";
$units = [];
foreach (preg_grep('/@/', scandir($from)) as $name) {
    $units[$name] = file_get_contents("$from/$name");
    // Where make install has not been; the man pages are not installed either.
    file_put_contents("$dir/$name", strtr($units[$name], ['/usr/bin/mailqueue' => dirname(__DIR__, 2) . '/bin/mailqueue', '/usr/bin/php' => PHP_BINARY]));
}
foreach (array_keys($units) as $name) {
    $instance = str_replace('@', '@www-data', $name);
    echo "$instance: ", $run("systemd-analyze verify --man=no ./$instance") ?: "no fault\n";
}
foreach (preg_grep('/service/', array_keys($units)) as $name) {
    preg_match('/exposure level for \S+ ([\d.]+)/', $run("systemd-analyze security --offline=true ./$name"), $found);
    getenv('MQ_SHOW') && fwrite(STDERR, "$name: exposure $found[1]\n");
    echo "$name: ", isset($found[1]) && $found[1] <= 1.5 ? 'exposure at most 1.5' : 'exposure ' . ($found[1] ?? 'not known'), "\n";
}
/** What a unit may do: from User= to [Install]. */
$limits = static fn(string $unit): string => preg_replace('/.*^User=|^\[Install\].*/ms', '', $unit);
echo trim($limits($units['mailqueue@.service'])) === trim($limits($units['mailqueue-work@.service'])) ? "the same limits\n" : "other limits\n";
preg_match_all('/\$(MAILQUEUE_\w+)|EnvironmentFile=(\S+)/', implode($units), $named);
echo implode(' ', array_filter(array_unique([...$named[1], ...$named[2]]))), "\n";

echo "-- their settings, and cron's\n";
foreach (['mailqueue.conf', 'mailqueue.cron'] as $name) {
    preg_match_all('/^(\w+)=/m', file_get_contents("$from/$name"), $found);
    echo "$name: ", implode(' ', $found[1]), "\n";
}
preg_match('/^(?:\* ){5}(\S+) (.*)$/m', file_get_contents("$from/mailqueue.cron"), $line);
echo "$line[1] runs $line[2]\n";

echo "-- logrotate\n";
mkdir("$dir/log/mailqueue/www-data", 0750, true);
$log = "$dir/log/mailqueue/www-data/mail-queue.log";
$queue = new MailQueue("$dir/app.sqlite");
$queue->enqueue(mail_fields());
$process = proc_open(cli_command(['work', '--daemon', '--time-limit', '120', '--log', $log]), [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['redirect', 1]], $pipes, $dir,
    ['PATH' => getenv('PATH'), 'HOME' => $dir, 'MAILQUEUE_DATABASE' => "$dir/app.sqlite", 'MAILQUEUE_TRANSPORT' => 'null://null'] + sanitizer_environment());
$sent = static fn(string $file): int => substr_count((string) @file_get_contents($file), '"event":"sent"');
must(wait_until(static fn(): bool => $sent($log) === 1), 'a mail is sent');
file_put_contents("$dir/rotate.conf", strtr(file_get_contents("$from/mailqueue.logrotate"), ['/var/log/' => "$dir/log/", 'su www-data www-data' => 'su root root']));
chmod("$dir/rotate.conf", 0644);
echo $run("logrotate -f -s $dir/state $dir/rotate.conf");
echo $sent("$log.1"), is_file($log) ? ' and a new one' : '', "\n";
$queue->enqueue(mail_fields());
must(wait_until(static fn(): bool => $sent($log) === 1), 'a mail is sent');
echo $run("logrotate -f -s $dir/state $dir/rotate.conf");
proc_terminate($process, SIGTERM);
must(wait_until(static fn(): bool => !proc_get_status($process)['running']), 'it ends');
echo $sent("$log.1"), ' ', implode(' ', array_diff(scandir(dirname($log)), ['.', '..'])), "\n";
foreach ([1, 2] as $id) {
    show(cli(['log', '--id', (string) $id, '--log', $log], ['MAILQUEUE_DATABASE' => "$dir/app.sqlite"]));
}
?>
--EXPECT--
-- the units
mailqueue-work@www-data.service: no fault
mailqueue-work@www-data.timer: no fault
mailqueue@www-data.service: no fault
mailqueue-work@.service: exposure at most 1.5
mailqueue@.service: exposure at most 1.5
the same limits
MAILQUEUE_OPTIONS /etc/mailqueue/%i.conf
-- their settings, and cron's
mailqueue.conf: MAILQUEUE_DATABASE MAILQUEUE_TRANSPORT MAIL_QUEUE_LOG MAILQUEUE_OPTIONS
mailqueue.cron: MAILQUEUE_DATABASE MAILQUEUE_TRANSPORT
www-data runs /usr/bin/php /usr/bin/mailqueue work --quiet
-- logrotate
1
1 mail-queue.log mail-queue.log.1 mail-queue.log.2.gz
exit 0
TIME  claimed        1
    null://null, 1 recipient, attempt 1
TIME  sent           1
    null://null, 1 recipient, attempt 1, 0 ms: 250 accepted by null
Mail 1 was sent, TIME.
exit 0
TIME  claimed        2
    null://null, 1 recipient, attempt 1
TIME  sent           2
    null://null, 1 recipient, attempt 1, 0 ms: 250 accepted by null
Mail 2 was sent, TIME.