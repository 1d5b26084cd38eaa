--TEST--
mailqueue work: a log that cannot be written is reported once, and mail is still sent; standard output and error as the log
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$dir = temp_directory();
$app = "$dir/app.sqlite";
$queue = new MailQueue($app);
$work = static function (string ...$more) use ($app, $queue): array {
    $queue->enqueue(mail_fields());
    $queue->enqueue(mail_fields());
    return cli(['work', '--database', $app, '--transport', 'null://null', ...$more]);
};
show($work('--log', '/dev/full'));
show($work('--log', '/dev/full', '--quiet'));
[$code, $report, $errors] = $work('--log', '/dev/full', '--json');
echo "exit $code, ", json_decode($report, true)['sent'], ' sent, ', str_starts_with(json_decode($errors, true)['error'], 'the log /dev/full could not') ? 'told' : $errors, "\n";

echo "-- php.ini hides warnings, the application handles them\n";
file_put_contents("$dir/b.php", "<?php ini_set('display_errors', '0'); ini_set('log_errors', '0');
    set_error_handler(static function (int \$type, string \$text): bool { echo \"handled: \$text\\n\"; return true; });
    return ['queue' => new MailQueue('$app'), 'onEvent' => static function (array \$e): void { \$e['event'] === 'run' && trigger_error('its own'); }];");
show($work('--log', '/dev/full', '--quiet', '--bootstrap', "$dir/b.php"));

echo "-- without the command\n";
set_error_handler(static function (int $type, string $text): bool {
    echo $type === E_WARNING ? 'warning: ' : "$type: ", "$text\n";
    return true;
});
$queue->enqueue(mail_fields());
echo $queue->runWorker('null://null', log: '/dev/full')->sent, " sent\n";
set_error_handler(static fn(int $type, string $text) => throw new ErrorException($text));
$queue->enqueue(mail_fields());
try {
    $queue->runWorker('null://null', log: '/dev/full');
} catch (ErrorException $e) {
    echo get_class($e), ', ', $queue->stats()->pending, " pending\n";
}

echo "-- streams\n";
$events = static fn(string $lines): string => implode(' ', array_map(static fn(string $line): string => json_decode($line, true)['event'] ?? trim($line), explode("\n", trim($lines))));
foreach (['/dev/stdout', '/dev/stderr', '/proc/self/fd/1'] as $log) {
    [$code, $output, $errors] = $work('--log', $log, '--quiet');
    echo "$log: exit $code; {$events($output)}; {$events($errors)}\n";
}
[$code, $output] = cli(['doctor', '--database', $app, '--transport', 'null://null'], ['MAIL_QUEUE_LOG' => '/dev/stdout']);
echo strstr(strstr($output, 'the log goes'), "\n", true), "\n";
?>
--EXPECT--
exit 0
mailqueue: 2 sent; nothing more is due.
mailqueue: the log /dev/full could not be written: No space left on device; lines of this run are missing in it. Make room, or name another file (MAIL_QUEUE_LOG or the option log)
exit 0
mailqueue: the log /dev/full could not be written: No space left on device; lines of this run are missing in it. Make room, or name another file (MAIL_QUEUE_LOG or the option log)
exit 0, 2 sent, told
-- php.ini hides warnings, the application handles them
exit 0
handled: its own
mailqueue: the log /dev/full could not be written: No space left on device; lines of this run are missing in it. Make room, or name another file (MAIL_QUEUE_LOG or the option log)
-- without the command
warning: MailQueue::runWorker(): the log /dev/full could not be written: No space left on device; lines of this run are missing in it. Make room, or name another file (MAIL_QUEUE_LOG or the option log)
1 sent
ErrorException, 0 pending
-- streams
/dev/stdout: exit 0; claimed claimed sent sent run; 
/dev/stderr: exit 0; ; claimed claimed sent sent run
/proc/self/fd/1: exit 0; claimed claimed sent sent run; 
the log goes to /dev/stdout
