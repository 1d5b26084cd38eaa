--TEST--
MailQueue::runWorker() killed at each write and sync: each uncertain attempt is in the log or in the row
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--SKIPIF--
<?php
exec('strace -f -e trace=none true 2>&1', $ignored, $code);
if ($code !== 0) die('skip strace is missing, or may not trace here');
if (getenv('MAILQUEUE_ASAN') === '1') die('skip the leak check cannot be traced');
?>
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
const WORK = <<<'PHP'
    $queue = new MailQueue($argv[1]);
    $queue->runWorker(transport: $argv[2] === 'dies' ? static fn() => posix_kill(posix_getpid(), 9) : 'null://null',
        log: "$argv[1].log");
    PHP;
$directory = temp_directory();
$path = "$directory/a/app.sqlite";
$code = "$directory/work.php";
mkdir("$directory/a");
file_put_contents($code, '<?php ' . WORK);
$pdo = static fn(): PDO => new PDO("sqlite:$path");
/** Runs a worker; true: it ran to its end. */
$work = static function (string $transport, string ...$before) use ($code, $path): bool {
    $process = proc_open([...$before, ...php_command($code, $path, $transport)],
        [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', '/dev/null', 'w']], $pipes);
    return proc_close($process) === 0;
};
$restore = static function (string $from) use ($directory): void {
    remove_tree("$directory/a");
    exec('cp -a ' . escapeshellarg("$directory/$from") . ' ' . escapeshellarg("$directory/a"));
};
/**
 * Kills a worker at its first write, its second, …, then at its syncs; counts how often an attempt
 * was lost.
 */
$kill_each = static function (string $from, callable $is_recorded) use ($work, $restore): void {
    $lost = $kills = 0;
    foreach (['write', 'pwrite64', 'ftruncate', 'fsync', 'fdatasync'] as $call) { // strace counts each call separately
        for ($at = 1, $ended = false; !$ended; $at++) {
            $restore($from);
            $ended = $work('null://null', 'strace', '-f', '-qq', '-o', '/dev/null', '-e', "trace=$call", '-e', "inject=$call:signal=KILL:when=$at");
            $kills += !$ended;
            $lost += !$is_recorded();
        }
    }
    echo "$from: ", $kills > 20 ? 'many kills' : "only $kills kills", ", $lost lost\n";
};
/** @return list<array<string, mixed>> */
$log = static fn(): array => array_map(static fn(string $line): array => json_decode($line, true), @file("$path.log") ?: []);
$row = static fn(): array|false => $pdo()->query('SELECT status, uncertain, locked_by FROM mail_queue')->fetch(PDO::FETCH_ASSOC);

(new MailQueue($path))->enqueue(mail_fields());
must(!$work('dies'), 'the first worker dies');
exec('cp -a ' . escapeshellarg("$directory/a") . ' ' . escapeshellarg("$directory/recovery"));
// The dead worker's record tells it while the row is still its own.
$kill_each('recovery', static function () use ($log, $row): bool {
    $left = $row();
    return in_array('uncertain', array_column($log(), 'event'), true)
        || ($left && ($left['uncertain'] > 0 || $left['status'] === 'sending'));
});
// The recovery was not reported: only the row tells it when the mail is sent or expires.
foreach (['sent' => 'next_attempt_at = 0', 'expired' => 'expires_at = 1'] as $event => $change) {
    $restore('recovery');
    must($work('null://null'), 'the second worker ends');
    must($pdo()->exec("UPDATE mail_queue SET $change") === 1 && $row()['uncertain'] === 1, 'one is uncertain');
    unlink("$path.log");
    exec('cp -a ' . escapeshellarg("$directory/a") . ' ' . escapeshellarg("$directory/$event"));
    $kill_each($event, static function () use ($log, $row, $event): bool {
        $left = $row();
        return ($left && $left['uncertain'] > 0)
            || array_filter($log(), static fn(array $line): bool => $line['event'] === $event && $line['uncertain'] === 1);
    });
}
?>
--EXPECT--
recovery: many kills, 0 lost
sent: many kills, 0 lost
expired: many kills, 0 lost
