--TEST--
mailqueue: exit codes for unusable files, a busy database and an unreachable relay
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
require __DIR__ . '/../lib/servers.inc';

$dir = temp_directory();
function code(array $run, string $pattern): string
{
    [$code, , $errors] = $run;
    return "exit $code, " . (preg_match($pattern, $errors) ? 'says why' : "says: $errors");
}
file_put_contents("$dir/garbage.sqlite", str_repeat("no database at all\n", 100));
echo 'no directory: ', code(cli(['status', '--database', "$dir/none/a.sqlite"]), "~$dir/none~"), "\n";
echo 'a directory: ', code(cli(['status', '--database', $dir]), "~$dir~"), "\n";
echo 'garbage: ', code(cli(['status', '--database', "$dir/garbage.sqlite"]), '~garbage.sqlite is not an SQLite database~'), "\n";
echo 'not there: ', code(cli(['work', '--transport', 'null://null', '--database', "$dir/typo.sqlite"]), '~no database .*typo.sqlite~'), "\n";
echo file_exists("$dir/typo.sqlite") ? "a mistyped path was created\n" : '';
echo 'in memory: ', code(cli(['status', '--database', ':memory:']), '~memory~'), "\n";
echo 'another DSN: ', code(cli(['status', '--database', 'postgres://localhost/x']), '~path of an SQLite file~'), "\n";

// Permissions are tested as another user, because root may do anything.
$app = "$dir/app.sqlite";
(new MailQueue($app))->enqueue(mail_fields());
chmod($dir, 0755);
chmod($app, 0644);
$asNobody = static function (array $arguments) use ($dir): array {
    $code = 'posix_setgid(65534); posix_setuid(65534); pcntl_exec($argv[1], array_slice($argv, 2));';
    [$command, $environment] = for_others(cli_command($arguments), ['HOME' => '/', 'PATH' => getenv('PATH')] + sanitizer_environment());
    $process = proc_open(php_command('-r', $code, '--', ...$command),
        [['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes, '/', $environment);
    $output = stream_get_contents($pipes[1]);
    $errors = stream_get_contents($pipes[2]);
    return [proc_close($process), $output, $errors];
};
if (posix_getuid() === 0) {
    echo 'not ours to write: ', code($asNobody(['retry', '1', '--database', $app]), '~app.sqlite~'), "\n";
    echo 'not ours to create: ', code($asNobody(['migrate', '--database', "$dir/new.sqlite"]), '~new.sqlite~'), "\n";
} else {
    echo "not ours to write: exit 77, says why\nnot ours to create: exit 77, says why\n";
}

$pdo = new PDO("sqlite:$app");
$pdo->exec('BEGIN IMMEDIATE');
file_put_contents("$dir/short.php", "<?php return ['queue' => new MailQueue('$app', busyTimeout: 100)];");
echo 'busy: ', code(cli(['hold', '1', '--bootstrap', "$dir/short.php"]), '~holds the write lock on .*app.sqlite~'), "\n";
$pdo->exec('ROLLBACK');

$port = MailQueueTest\closed_port();
$work = static fn(): array => cli(['work', '--database', $app, '--transport', "smtp://127.0.0.1:$port"]);
echo 'no relay: ', code($work(), "~relay cannot be used until .*127.0.0.1~s"), "\n";
echo 'paused: ', code($work(), '~relay cannot be used until~'), "\n";
[, $status] = cli(['status', '--database', $app]);
echo preg_match('/^pending   1$/m', $status) && preg_match('/^The relay smtp:.* is paused until .*: /m', $status) ? "status shows it\n" : $status;
echo 'bad DSN: ', code(cli(['work', '--database', $app, '--transport', 'smtp://host:99999']), '~^(?!.*s3cret).*transport~s'), "\n";
?>
--EXPECT--
no directory: exit 73, says why
a directory: exit 73, says why
garbage: exit 73, says why
not there: exit 73, says why
in memory: exit 78, says why
another DSN: exit 78, says why
not ours to write: exit 77, says why
not ours to create: exit 77, says why
busy: exit 75, says why
no relay: exit 69, says why
paused: exit 69, says why
status shows it
bad DSN: exit 78, says why
