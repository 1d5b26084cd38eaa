--TEST--
The page's own files belong to the user who runs PHP, also without ext/posix, with another user's script and within open_basedir
--EXTENSIONS--
mailqueue
posix
--SKIPIF--
<?php if (posix_geteuid() !== 0) die('skip root is needed, to give a script to another user'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$root = dirname(realpath(__DIR__ . "/../../web"));
$directory = temp_directory();
$script = "$directory/site.php";
file_put_contents($script, '<?php require ' . var_export("$root/web/autoload.php", true) . ';
    function_exists("posix_geteuid") && die("posix is there");
    try {
        $wait = (new MailQueue\Web\Throttle("192.0.2.1"))->take();
        echo "wait $wait s, kept by ", implode(" ", array_unique(array_map(fileowner(...), glob(getenv("TMPDIR") . "/*/*")))), "\n";
    } catch (MailQueue\Web\Refusal $e) {
        echo strtr($e->getMessage(), [getenv("TMPDIR") => "%"]), "\n";
    }');
chown($script, 65534);
foreach (['', "$root:$directory"] as $open) {
    mkdir($lists = "$directory/lists" . strlen($open));
    $command = php_command('-d', 'disable_functions=posix_geteuid', '-d', "open_basedir=$open", $script);
    $process = proc_open($command, [1 => ['pipe', 'w']], $pipes, null, ['TMPDIR' => $lists] + getenv());
    echo stream_get_contents($pipes[1]);
    proc_close($process);
}
?>
--EXPECT--
wait 0 s, kept by 0
wait 0 s, kept by 0
