--TEST--
mailqueue after make install: through links, under other names, from any directory; no other class hides its own; it reports missing classes
--EXTENSIONS--
mailqueue
pcntl
--SKIPIF--
<?php
require __DIR__ . '/../lib/servers.inc';
if (!glob(dirname(__DIR__, 2) . '/.build/*/Makefile')) die('skip tools/build was not run');
echo MailQueueTest\missing('/usr/bin/make');
?>
--FILE--
<?php
require __DIR__ . '/../sendmail/sendmail.inc';

/** @return list<string> the files below a directory */
function files_below(string $top): array
{
    $found = [];
    foreach (array_diff(scandir($top), ['.', '..']) as $name) {
        $found = [...$found, ...(is_dir("$top/$name") ? files_below("$top/$name") : ["$top/$name"])];
    }
    return $found;
}

$dir = temp_directory();
mkdir("$dir/app");
$app = "$dir/app/app.sqlite";
$queue = new MailQueue($app);
$queue->stats();
$mail = "From: me@example.org\nTo: a@example.net\nSubject: x\n\nhi\n";
$run = static fn(array $words, string $input = '', array $environment = []): array
    => run_with_input(php_command(...$words), $input, $environment + ['MAILQUEUE_DATABASE' => $app]);
$show = static fn(array $run): string => "exit $run[0] " . trim(preg_replace('/^mailqueue \d.*/', 'VERSION', str_replace([realpath($dir), $dir], '%', $run[1] . $run[2]))) . "\n";

echo "-- staged\n";
/** Installs twice, as an update does, as a user whose umask is private. */
$install = static function (string $target = 'install-mailqueue-command install-mailqueue-share', string $prefix = '/opt/it') use ($dir): void {
    $line = "umask 077; make -s -C \"\$0\" $target INSTALL_ROOT=\"\$1\" prefix=$prefix EXTENSION_DIR=/opt/modules";
    $command = ['env', '-u', 'LD_PRELOAD', '-u', 'MAKEFLAGS', 'sh', '-c', $line, dirname(glob(dirname(__DIR__, 2) . '/.build/*/Makefile')[0]), "$dir/stage"];
    proc_close(proc_open($command, [1 => ['file', "$dir/make", 'w'], 2 => ['redirect', 1]], $pipes)) === 0 || print(file_get_contents("$dir/make"));
};
$install();
$share = "$dir/stage/opt/it/share/mailqueue";
file_put_contents("$share/cli/Gone.php", '<?php throw new Exception("a class of an older version");');
$install();
$names = static fn(string $top): array => array_map(static fn(string $path): string => substr($path, strlen($top)), files_below($top));
foreach (['cli', 'web'] as $classes) {
    echo $names("$share/$classes") === $names(dirname(__DIR__, 2) . "/$classes") ? "the classes of the tree\n" : "others\n";
}
echo implode(' ', array_diff(scandir($share), ['.', '..'])), "\n";
$modes = static fn(array $paths): string => implode(' ', array_unique(array_map(static fn(string $path): string => sprintf('%o', fileperms($path) & 0o777), $paths)));
echo $modes(files_below($share)), ', ', $modes([dirname($share), $share, "$share/cli", "$share/cli/Doctor", "$dir/stage/opt/it/bin"]), ', ', $modes(["$dir/stage/opt/it/bin/mailqueue"]), "\n";

echo "-- beside it\n";
$all = "$dir/stage/opt/it/share";
$beside = preg_grep('~^/mailqueue/(cli|web)/~', $names($all), PREG_GREP_INVERT);
echo implode("\n", $beside), "\n";
echo $modes(array_map(static fn(string $name): string => $all . $name, $beside)), ', ', $modes(["$all/man", "$all/man/man1", "$all/zsh/site-functions", "$share/service"]), "\n";
foreach ($beside as $name) {
    $tree = file_get_contents(dirname(__DIR__, 2) . "/share$name");
    $put = preg_replace('~(?<=ExecStart=|www-data )/\S+/php[\d.]*~', '/usr/bin/php', file_get_contents($all . $name));
    must($put === (str_contains($name, '/service/') ? str_replace('/usr/bin/mailqueue', '/opt/it/bin/mailqueue', $tree) : $tree), $name);
}
preg_match('/ExecStart=(\S+) .* (\S+) work/', file_get_contents("$share/service/mailqueue@.service"), $exec);
echo is_executable($exec[1]) ? 'PHP' : $exec[1], " $exec[2]\n";

echo "-- called\n";
rename("$dir/stage/opt", "$dir/opt"); // as a package does
$program = "$dir/opt/it/bin/mailqueue";
$share = "$dir/opt/it/share/mailqueue";
echo $show($run([$program, '--version']));
mkdir("$dir/sbin");
symlink($program, "$dir/sbin/sendmail");
symlink('sendmail', "$dir/sbin/mailq");
symlink('../opt/it/bin', "$dir/sbin/bin");
echo $show($run(["$dir/sbin/sendmail", '-t', '-i'], $mail));
echo explode("\n", $run(["$dir/sbin/mailq"])[1])[0], "\n";
echo $show($run(["$dir/sbin/bin/mailqueue", '--version']));
// By a relative path, from a directory that has classes with the same names.
mkdir("$dir/here/cli/Sendmail", 0700, true);
foreach (['Application', 'Settings', 'Sendmail/Submission'] as $name) {
    file_put_contents("$dir/here/cli/$name.php", '<?php echo "not ours\n"; exit(1);');
}
$shell = 'cd "$0" && exec "$@"';
$input = static fn(array $command): array => run_with_input(['sh', '-c', $shell, "$dir/here", ...$command], $mail, ['MAILQUEUE_DATABASE' => $app]);
echo $show($input(php_command('../sbin/sendmail', '-t')));
echo $show($input(php_command('-d', "include_path=$dir/here/cli:.", '../sbin/sendmail', '-t')));

echo "-- a bootstrap file\n";
for ($i = 0; $i < 6; $i++) {
    $queue->enqueue(mail_fields());
}
$last = "return ['queue' => new MailQueue('$app'), 'transport' => static function (): void {}];";
foreach ([
    'classes of the same names' => 'final class Doctor {} final class Terminal {} final class Report {} final class Progress {} function main(): void {}',
    'an autoloader that throws' => 'spl_autoload_register(static function (string $class): void { throw new Exception("no $class"); }, prepend: true);',
    'no autoloader' => 'array_map(spl_autoload_unregister(...), spl_autoload_functions());',
    'another directory' => "chdir('/'); set_include_path('/');",
    'open_basedir' => "ini_set('open_basedir', '$dir/app');",
    'no files' => "stream_wrapper_unregister('file');",
] as $what => $code) {
    file_put_contents("$dir/b.php", "<?php $code $last");
    echo "$what: ", $show($run([$program, 'work', '--bootstrap', "$dir/b.php", '--log', "$dir/app/log", '--message-limit', '1']));
    file_put_contents("$dir/b.php", "<?php $code exit(0);");
    echo $show($run([$program, 'work', '--bootstrap', "$dir/b.php"]));
}

echo "-- a daemon whose classes are replaced\n";
$queue->enqueue(mail_fields());
$process = proc_open(php_command($program, 'work', '--daemon', '--time-limit', '60', '--transport', 'null://null'),
    [['file', '/dev/null', 'r'], ['file', "$dir/out", 'w'], ['redirect', 1]], $pipes, $dir,
    ['PATH' => getenv('PATH'), 'HOME' => $dir, 'MAILQUEUE_DATABASE' => $app] + sanitizer_environment());
must(wait_until(static fn(): bool => count($queue->jobs()) === 0), 'the mail is sent');
rename("$share/cli", "$share/away");
proc_terminate($process, SIGTERM);
must(wait_until(static fn(): bool => !proc_get_status($process)['running']), 'the command ends');
echo preg_replace('/\d+ sent/', 'N sent', file_get_contents("$dir/out"));

echo "-- no classes\n";
foreach ([['--version'], ['list', '--json'], ['sendmail', '--', '--json']] as $words) {
    echo $show($run([$program, ...$words]));
}
echo $show($run(["$dir/sbin/sendmail", '-t'], $mail));
echo $show($run(["$dir/sbin/sendmail", '--json'], $mail));
rename("$share/away", "$share/cli");
echo $show($run(['-d', "open_basedir=$dir/app", $program, '--version']));
echo $show($run(['-d', "open_basedir=$share:$dir", $program, '--version']));
rename("$share/web", "$share/away");
echo $show($run([$program, 'page']));
rename("$share/away", "$share/web");

echo "-- uninstalled\n";
$install();
$install(prefix: '/usr');
echo implode(' ', preg_grep('/zsh/', $names("$dir/stage/usr"))), "\n";
$install('uninstall', '/usr');
echo implode(' ', $names("$dir/stage/usr")), "\n";
mkdir("$dir/stage/opt/modules");
file_put_contents("$dir/stage/opt/modules/mailqueue.so", '');
file_put_contents("$dir/stage/opt/it/bin/other", '');
$install('uninstall');
echo implode(' ', $names("$dir/stage")), "\n";
?>
--EXPECT--
-- staged
the classes of the tree
the classes of the tree
cli service web
644, 755, 755
-- beside it
/bash-completion/completions/mailqueue
/fish/vendor_completions.d/mailqueue.fish
/mailqueue/service/mailqueue-work@.service
/mailqueue/service/mailqueue-work@.timer
/mailqueue/service/mailqueue.conf
/mailqueue/service/mailqueue.cron
/mailqueue/service/mailqueue.logrotate
/mailqueue/service/mailqueue.nginx
/mailqueue/service/mailqueue@.service
/man/man1/mailqueue.1
/man/man5/mailqueue.5
/zsh/site-functions/_mailqueue
644, 755
PHP /opt/it/bin/mailqueue
-- called
exit 0 VERSION
exit 0 
-Queue ID-  --Size-- ----Arrival Time---- -Sender/Recipient-------
exit 0 VERSION
exit 0 
exit 0 
-- a bootstrap file
classes of the same names: exit 0 mailqueue: 1 sent; the message limit is reached.
exit 78 mailqueue: Bootstrap file %/b.php ended the program (exit or die) before it returned its array. To say what is wrong, throw an exception.
an autoloader that throws: exit 0 mailqueue: 1 sent; the message limit is reached.
exit 78 mailqueue: Bootstrap file %/b.php ended the program (exit or die) before it returned its array. To say what is wrong, throw an exception.
no autoloader: exit 0 mailqueue: 1 sent; the message limit is reached.
exit 78 mailqueue: Bootstrap file %/b.php ended the program (exit or die) before it returned its array. To say what is wrong, throw an exception.
another directory: exit 0 mailqueue: 1 sent; the message limit is reached.
exit 78 mailqueue: Bootstrap file %/b.php ended the program (exit or die) before it returned its array. To say what is wrong, throw an exception.
open_basedir: exit 0 mailqueue: 1 sent; the message limit is reached.
exit 78 mailqueue: Bootstrap file %/b.php ended the program (exit or die) before it returned its array. To say what is wrong, throw an exception.
no files: exit 0 mailqueue: 1 sent; the message limit is reached.
exit 78 mailqueue: Bootstrap file %/b.php ended the program (exit or die) before it returned its array. To say what is wrong, throw an exception.
-- a daemon whose classes are replaced
mailqueue: N sent; stopped by a signal.
-- no classes
exit 78 mailqueue: The classes of this program are neither in %/opt/it/share/mailqueue/cli nor in %/opt/it/cli. make install puts them there; in a source tree, link to bin/mailqueue.
exit 78 {"error":"The classes of this program are neither in %/opt/it/share/mailqueue/cli nor in %/opt/it/cli. make install puts them there; in a source tree, link to bin/mailqueue.","exit":78}
exit 78 mailqueue: The classes of this program are neither in %/opt/it/share/mailqueue/cli nor in %/opt/it/cli. make install puts them there; in a source tree, link to bin/mailqueue.
exit 78 mailqueue: The classes of this program are neither in %/opt/it/share/mailqueue/cli nor in %/opt/it/cli. make install puts them there; in a source tree, link to bin/mailqueue.
exit 78 {"error":"The classes of this program are neither in %/opt/it/share/mailqueue/cli nor in %/opt/it/cli. make install puts them there; in a source tree, link to bin/mailqueue.","exit":78}
exit 78 mailqueue: The classes of this program are neither in %/opt/it/share/mailqueue/cli nor in %/opt/it/cli, or open_basedir hides them: add their directory to it.
exit 0 VERSION
exit 78 mailqueue: %/opt/it/share/mailqueue/web/autoload.php is missing: copy the directory web beside cli.
-- uninstalled
/share/zsh/vendor-completions/_mailqueue

/opt/it/bin/other
