--TEST--
A file system that is mounted read-only: reading works, writing reports it, and works again later
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--SKIPIF--
<?php
if (posix_geteuid() !== 0) die('skip root is needed, to mount');
foreach (['unshare', 'mkfs.ext4', 'mount'] as $program) {
    if (!shell_exec("PATH=\$PATH:/sbin:/usr/sbin command -v $program")) die("skip $program is missing");
}
$image = tempnam(sys_get_temp_dir(), 'mq');
exec("PATH=\$PATH:/sbin:/usr/sbin; truncate -s 4M $image && mkfs.ext4 -q $image && unshare -m mount -o loop $image /mnt 2>&1", $said, $code);
unlink($image);
if ($code !== 0) die('skip no loop device can be mounted here: ' . implode(' ', $said));
?>
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$dir = temp_directory();
mkdir("$dir/mount");
putenv('PATH=' . getenv('PATH') . ':/sbin:/usr/sbin');
exec("truncate -s 16M $dir/image && mkfs.ext4 -q $dir/image");

/* In a separate mount namespace, which removes the mount and the loop device when it ends. */
$code = <<<'PHP'
    [, $dir] = $argv;
    $mount = function (string $options) use ($dir): void {
        exec("mount -o $options $dir/image $dir/mount 2>&1", $said, $code);
        $code === 0 || print("mount $options: " . implode(' ', $said) . "\n");
    };
    $say = function (string $what, callable $call) use ($dir): void {
        try {
            $text = $call();
        } catch (Throwable $e) {
            $text = $e::class . " [$e->reason] " . str_replace($dir, '%', $e->getMessage());
        }
        echo "$what: $text\n";
    };
    $mail = ['from' => 'a@example.org', 'to' => 'b@example.org', 'subject' => 's', 'text' => 't'];
    $mount('loop');
    foreach (['truncate', 'wal'] as $journal) {
        (new MailQueue("$dir/mount/$journal.db", journal: $journal))->enqueue($mail);
    }
    copy("$dir/mount/truncate.db", "$dir/mount/other.db");
    (new PDO("sqlite:$dir/mount/other.db"))->exec('PRAGMA journal_mode = wal');
    $mount('remount,ro');
    $queues = [];
    foreach (['truncate', 'wal', 'other', 'none'] as $name) {
        $say("$name, stats()", function () use (&$queues, $name, $dir) {
            $queues[$name] = new MailQueue("$dir/mount/$name.db");
            return $queues[$name]->stats()->pending;
        });
    }
    $say('enqueue()', fn() => $queues['truncate']->enqueue($mail));
    $say('the same, WAL', fn() => $queues['wal']->enqueue($mail));
    $say('runWorker()', fn() => $queues['truncate']->runWorker('null://null', log: '')->sent);
    $mount('remount,rw');
    foreach (['truncate', 'wal'] as $name) {
        $say("$name, writable again, enqueue()", fn() => $queues[$name]->enqueue($mail));
        $say('runWorker()', fn() => $queues[$name]->runWorker('null://null', log: '')->sent);
    }
    PHP;
$command = ['unshare', '-m', '--propagation', 'private', ...php_command('-r', $code, '--', $dir)];
proc_close(proc_open($command, [1 => STDOUT, 2 => STDOUT], $pipes));
?>
--EXPECT--
truncate, stats(): 1
wal, stats(): 1
other, stats(): MailQueue\DatabaseException [readonly] %/mount/other.db is on a file system that is mounted read-only: put the database elsewhere, or remount
none, stats(): MailQueue\DatabaseException [readonly] %/mount/none.db is on a file system that is mounted read-only: put the database elsewhere, or remount
enqueue(): MailQueue\DatabaseException [readonly] %/mount/truncate.db is on a file system that is mounted read-only: put the database elsewhere, or remount
the same, WAL: MailQueue\DatabaseException [readonly] %/mount/wal.db is on a file system that is mounted read-only: put the database elsewhere, or remount
runWorker(): MailQueue\DatabaseException [readonly] %/mount/truncate.db is on a file system that is mounted read-only: put the database elsewhere, or remount
truncate, writable again, enqueue(): 2
runWorker(): 2
wal, writable again, enqueue(): 2
runWorker(): 2
