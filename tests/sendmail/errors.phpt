--TEST--
mailqueue sendmail: a queue that is busy, full, missing or somebody else's, a loop: exit codes of sysexits.h, one line that says why, nothing stored
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--FILE--
<?php
require __DIR__ . '/sendmail.inc';

$dir = temp_directory();
$message = "From: me@example.org\nTo: a@example.net\nSubject: x\n\nhi\n";
$app = "$dir/app.sqlite";
$queue = new MailQueue($app);
$queue->stats();
$say = static function (string $what, array $run, string $pattern) use ($queue): void {
    [$code, $output, $errors] = $run;
    echo "$what: exit $code, ", preg_match($pattern, $errors) ? 'says why' : "says: $errors", substr_count($errors, "\n") <= 1 ? '' : ' in several lines',
        $output === '' ? '' : " and prints $output", ', ', count($queue->jobs()), " queued\n";
};
$run = static fn(array $arguments = ['-t'], array $environment = [], array $ini = []): array
    => sendmail($arguments, $message, $environment + ['MAILQUEUE_DATABASE' => $app], $ini);

$pdo = new PDO("sqlite:$app");
$pdo->exec('BEGIN IMMEDIATE');
$say('busy', $run(), '~holds the write lock on .*app.sqlite~');
$pdo->exec('ROLLBACK');
$say('no longer', $run(), '~^$~');

// As on a full disk: a file may not grow. One block is 512 bytes.
$command = implode(' ', array_map(escapeshellarg(...), sendmail_command(["--database=$app", '-t'])));
$large = $message . str_repeat(str_repeat('x', 70) . "\n", 20_000);
$say('full', run_with_input(['bash', '-c', "ulimit -f 64; exec $command"], $large, []), '~app.sqlite.*(full|too large|size limit|I/O error)~i');
$say('no longer', $run(), '~^$~');

$say('no database named', sendmail(['-t'], $message), '~No database is set~');
$say('not there', $run(['-t'], ['MAILQUEUE_DATABASE' => "$dir/none.sqlite"]), '~no database .*none.sqlite~');
echo file_exists("$dir/none.sqlite") ? "a mistyped path was created\n" : '';
file_put_contents("$dir/garbage.sqlite", str_repeat("no database at all\n", 100));
$say('garbage', $run(['-t'], ['MAILQUEUE_DATABASE' => "$dir/garbage.sqlite"]), '~garbage.sqlite is not an SQLite database~');
$say('another DSN', $run(['-t'], ['MAILQUEUE_DATABASE' => 'odbc:host=localhost']), '~no such kind of database~');

// Permissions are tested as another user, because root may do anything.
chmod($dir, 0755);
chmod($app, 0644);
if (posix_getuid() === 0) {
    $code = 'posix_setgid(65534); posix_setuid(65534); pcntl_exec($argv[1], array_slice($argv, 2));';
    [$other, $environment] = for_others(sendmail_command(["--database=$app", '-t']), ['PATH' => getenv('PATH'), 'HOME' => '/'] + sanitizer_environment());
    $other = php_command('-r', $code, '--', ...$other);
    $streams = [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']];
    $process = proc_open($other, $streams, $pipes, '/', $environment);
    @fwrite($pipes[0], $message);
    fclose($pipes[0]);
    $read = [stream_get_contents($pipes[1]), stream_get_contents($pipes[2])];
    $say('not ours', [proc_close($process), ...$read], '~app.sqlite~');
} else {
    echo "not ours: exit 77, says why, 2 queued\n";
}

$say('a loop', $run(['-t'], ['MAILQUEUE_TRANSPORT_DEPTH' => '1']), '~Closure that calls mail.*round in circles.*MAILQUEUE_TRANSPORT~');
$say('a loop by SMTP', array_replace($run(['-bs'], ['MAILQUEUE_TRANSPORT_DEPTH' => '1']), [1 => '']), '~round in circles~');
[$code, $output, $errors] = $run(['--json', '-z']);
echo "JSON: exit $code, $output", json_decode($errors, true)['exit'], "\n";
// An error that does not depend on the message is reported before the message is read.
$process = proc_open(sendmail_command([]), [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes, '/', ['PATH' => getenv('PATH')] + sanitizer_environment());
echo 'at once: ', stream_get_contents($pipes[2]);
?>
--EXPECT--
busy: exit 75, says why, 0 queued
no longer: exit 0, says why, 1 queued
full: exit 75, says why, 1 queued
no longer: exit 0, says why, 2 queued
no database named: exit 78, says why, 2 queued
not there: exit 73, says why, 2 queued
garbage: exit 73, says why, 2 queued
another DSN: exit 78, says why, 2 queued
not ours: exit 77, says why, 2 queued
a loop: exit 78, says why, 2 queued
a loop by SMTP: exit 78, says why, 2 queued
JSON: exit 64, 64
at once: mailqueue: No database is set. Give --database PATH, set MAILQUEUE_DATABASE, or mailqueue.database in php.ini.
