--TEST--
work --bootstrap takes an absolute path of a regular, readable .php file that root or the user owns, without syntax errors; otherwise it exits with 78
--EXTENSIONS--
mailqueue
pdo
posix
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$dir = temp_directory();
$database = "$dir/mail.sqlite";
function file_with(string $name, string $code, int $mode = 0644): string
{
    global $dir;
    file_put_contents("$dir/$name", $code);
    chmod("$dir/$name", $mode);
    return "$dir/$name";
}
/* Writable for a group other than the owner's private one; only root can give a file to such a
 * group. */
function for_group(string $path): string
{
    chmod($path, fileperms($path) | 0020);
    posix_getuid() === 0 ? chgrp($path, 'games') : chmod($path, fileperms($path) | 0002);
    return $path;
}
$good = file_with('good.php', "<?php return ['queue' => new MailQueue('$database'), 'transport' => 'null://null'];");
mkdir("$dir/dir.php");
symlink(file_with('code.txt', '<?php return [];'), "$dir/link.php");
symlink($good, "$dir/goodlink.php");
posix_mkfifo("$dir/fifo.php", 0600);
$cases = [
    'good.php',
    "file://$good",
    'data:text/plain,<?php return [];',
    'php://stdin',
    "phar://$dir/x.phar/a.php",
    "$dir/missing.php",
    "$dir/dir.php",
    "$dir/fifo.php",
    "$dir/code.txt",
    "$dir/link.php",
    '/dev/null',
    file_with('open.php', '<?php return [];', 0602),
    for_group(file_with('group.php', '<?php return [];', 0600)),
    file_with('broken.php', "<?php\nreturn [;\n"),
    file_with('twice.php', "<?php\nfunction a() {}\nfunction a() {}\nreturn [];\n"),
    file_with('nothing.php', '<?php '),
    file_with('unknown.php', "<?php return ['que' => 1];"),
    file_with('wrong.php', "<?php return ['compose' => 'no_such_function'];"),
    file_with('wrongqueue.php', "<?php return ['queue' => 'mail.sqlite'];"),
    file_with('throws.php', "<?php throw new MailQueue\\Exception('no settings');"),
    file_with('fails.php', "<?php\n\nno_such_function();"),
    file_with('busy.php', '<?php $e = new PDOException("database is locked"); $e->errorInfo = ["HY000", 5, ""]; throw $e;'),
];
// PHP itself leaks memory when a function is declared twice: LeakSanitizer must ignore that.
$unminding = ['ASAN_OPTIONS' => getenv('ASAN_OPTIONS') . ':detect_leaks=0'];
foreach ($cases as $case) {
    [$code, $output, $errors] = cli(['work', '--bootstrap', $case], str_ends_with($case, 'twice.php') ? $unminding : []);
    // PHP 8.4 says "redeclare function a()".
    show([$code, $output, str_replace('redeclare function ', 'redeclare ', $errors)], $dir);
}
echo "one that ends the process:\n";
$ends = ['exit.php' => '<?php exit;', 'die.php' => "<?php die(\"no settings\\n\");", 'zero.php' => '<?php register_shutdown_function(static function () {}); exit(0);',
    'fatal.php' => "<?php\nini_set('display_errors', '0'); ini_set('log_errors', '0');\neval('function strlen() {}');"];
foreach ($ends as $name => $text) {
    $run = cli([$name === 'exit.php' ? 'status' : 'work', '--bootstrap', file_with($name, $text)], $unminding);
    // PHP 8.4 says "redeclare function strlen()".
    $run[2] = str_replace('redeclare function ', 'redeclare ', $run[2]);
    show($run, $dir);
}
[, , $errors] = cli(['work', '--json', '--bootstrap', "$dir/exit.php"]);
echo json_decode($errors, true)['exit'] ?? $errors, "\n";
[$code] = cli(['bounce', '--bootstrap', "$dir/exit.php"]); // the mail server keeps the report
echo $code, "\n";

echo "where others can put another in its place:\n";
mkdir("$dir/open/in", 0755, true);
chmod("$dir/open", 0777);
mkdir("$dir/group", 0700);
for_group("$dir/group");
mkdir("$dir/sticky");
chmod("$dir/sticky", 01777);
foreach (['open/a.php', 'open/in/a.php', 'group/a.php', 'sticky/a.php'] as $name) {
    file_with($name, "<?php return ['queue' => new MailQueue('$database'), 'transport' => 'null://null'];");
}
symlink("$dir/open/in/a.php", "$dir/into.php");
symlink("$dir/good.php", "$dir/open/out.php");
foreach (['open/a.php', 'open/in/a.php', 'group/a.php', 'into.php', 'open/out.php', 'sticky/a.php'] as $name) {
    show(cli(['work', '--bootstrap', "$dir/$name"]), $dir);
}
echo "of another user:\n";
$others = file_with('others.php', '<?php return [];');
mkdir("$dir/theirs");
$within = file_with('theirs/a.php', '<?php return [];');
if (posix_getuid() === 0) {
    chown($others, 65534);
    chown("$dir/theirs", 65534);
    show(cli(['work', '--bootstrap', $others]), $dir);
    show(cli(['work', '--bootstrap', $within]), $dir);
} else { // only root can give files away
    show([78, '', "mailqueue: Bootstrap file \"$others\" belongs neither to root nor to this user, who would run its code; chown it.\n"], $dir);
    show([78, '', "mailqueue: Bootstrap file \"$within\" lies under $dir/theirs, which belongs neither to root nor to this user: its owner can replace it.\n"], $dir);
}
echo "and the good ones:\n";
show(cli(['work', '--bootstrap', $good]), $dir);
show(cli(['work', '--bootstrap', "$dir/goodlink.php"]), $dir);

/* Only root can create files that others own. The user games has a private group of that name. */
require dirname(__DIR__, 2) . '/cli/FileAccess.php';
$cases = [['games', 'games', 0664, '', false], ['games', 'games', 0666, '', true], ['games', 'users', 0664, '', true],
    ['root', 'root', 0664, '', true], ['games', 'games', 0644, 'setfacl -m u:1:rw', true]];
foreach ($cases as [$owner, $group, $mode, $command, $expected]) {
    $path = file_with('whose.php', '<?php return [];');
    $seen = $expected;
    if (posix_getuid() === 0) {
        chown($path, $owner);
        chgrp($path, $group);
        chmod($path, $mode);
        $command === '' || exec("$command $path");
        clearstatcache();
        $seen = MailQueue\Cli\FileAccess::othersMayWrite($path);
        unlink($path);
    }
    printf("%s:%s %o%s %s\n", $owner, $group, $mode, $command === '' ? '' : ' and a list', $seen ? 'others' : 'its owner');
}
?>
--EXPECTF--
exit 78
mailqueue: Bootstrap file "good.php" is not an absolute path.
exit 78
mailqueue: Bootstrap file "file://%/good.php" is a stream wrapper; give the path of a file.
exit 78
mailqueue: Bootstrap file "data:text/plain,<?php return [];" is a stream wrapper; give the path of a file.
exit 78
mailqueue: Bootstrap file "php://stdin" is a stream wrapper; give the path of a file.
exit 78
mailqueue: Bootstrap file "phar://%/x.phar/a.php" is a stream wrapper; give the path of a file.
exit 78
mailqueue: Bootstrap file "%/missing.php" does not exist or cannot be reached.
exit 78
mailqueue: Bootstrap file "%/dir.php" is not a regular file.
exit 78
mailqueue: Bootstrap file "%/fifo.php" is not a regular file.
exit 78
mailqueue: Bootstrap file "%/code.txt" does not end in .php.
exit 78
mailqueue: Bootstrap file "%/link.php" does not end in .php (it leads to %/code.txt).
exit 78
mailqueue: Bootstrap file "/dev/null" is not a regular file.
exit 78
mailqueue: Bootstrap file "%/open.php" can be written by others than its owner; chmod go-w %/open.php.
exit 78
mailqueue: Bootstrap file "%/group.php" can be written by others than its owner; chmod go-w %/group.php.
exit 78
mailqueue: Bootstrap file %/broken.php has a syntax error: Parse error: syntax error, unexpected token ";", expecting "]" in %/broken.php on line 2
exit 78
mailqueue: Bootstrap file %/twice.php has a syntax error: Fatal error: Cannot redeclare a() (previously declared in %/twice.php:2) in %/twice.php on line 3
exit 78
mailqueue: Bootstrap file %/nothing.php must return an array, not int.
exit 78
mailqueue: Bootstrap file %/unknown.php returns an unknown key "que"; known are queue, compose, transport, relays, sign, dkim, onEvent and onFinished.
exit 78
mailqueue: Bootstrap file %/wrong.php: "compose" is of the wrong type string.
exit 78
mailqueue: Bootstrap file %/wrongqueue.php: "queue" is of the wrong type string.
exit 78
mailqueue: no settings
exit 78
mailqueue: Bootstrap file %/fails.php failed: Error: Call to undefined function no_such_function() (%/fails.php, line 3)
exit 75
mailqueue: Bootstrap file %/busy.php failed: PDOException: database is locked (%/busy.php, line 1)
one that ends the process:
exit 78
mailqueue: Bootstrap file %/exit.php ended the program (exit or die) before it returned its array. To say what is wrong, throw an exception.
exit 78
no settings
mailqueue: Bootstrap file %/die.php ended the program (exit or die) before it returned its array. To say what is wrong, throw an exception.
exit 78
mailqueue: Bootstrap file %/zero.php ended the program (exit or die) before it returned its array. To say what is wrong, throw an exception.
exit 78
mailqueue: Bootstrap file %/fatal.php failed: Cannot redeclare strlen() (%/fatal.php(3) : eval()'d code, line 1)
78
75
where others can put another in its place:
exit 78
mailqueue: Bootstrap file "%/open/a.php" lies under a directory where others can replace it; chmod go-w %/open.
exit 78
mailqueue: Bootstrap file "%/open/in/a.php" lies under a directory where others can replace it; chmod go-w %/open.
exit 78
mailqueue: Bootstrap file "%/group/a.php" lies under a directory where others can replace it; chmod go-w %/group.
exit 78
mailqueue: Bootstrap file "%/into.php" lies under a directory where others can replace it; chmod go-w %/open.
exit 78
mailqueue: Bootstrap file "%/open/out.php" lies under a directory where others can replace it; chmod go-w %/open.
exit 0
mailqueue: 0 sent; nothing more is due.
of another user:
exit 78
mailqueue: Bootstrap file "%/others.php" belongs neither to root nor to this user, who would run its code; chown it.
exit 78
mailqueue: Bootstrap file "%/theirs/a.php" lies under %/theirs, which belongs neither to root nor to this user: its owner can replace it.
and the good ones:
exit 0
mailqueue: 0 sent; nothing more is due.
exit 0
mailqueue: 0 sent; nothing more is due.
games:games 664 its owner
games:games 666 others
games:users 664 others
root:root 664 others
games:games 644 and a list others
