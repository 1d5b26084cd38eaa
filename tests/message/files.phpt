--TEST--
Attachments come from regular local files only: others are refused, and the field is named
--EXTENSIONS--
mailqueue
posix
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$queue = new MailQueue(database());
$dir = temp_directory();
file_put_contents("$dir/a.txt", 'fine');
file_put_contents("$dir/large.bin", str_repeat('x', 26214401));
posix_mkfifo("$dir/fifo", 0600);
symlink("$dir/fifo", "$dir/to-fifo");
symlink('/dev/zero', "$dir/to-zero");
symlink("$dir/loop", "$dir/loop");
symlink("$dir/a.txt", "$dir/to-a.txt");
$socket = stream_socket_server("unix://$dir/socket");

/* A stream wrapper of the application: none of its methods is called. */
final class Wrapper
{
    public function stream_open(): bool { echo "the wrapper was called\n"; return false; }
    public function url_stat(): array|false { echo "the wrapper was called\n"; return false; }
}
stream_wrapper_register('mine', Wrapper::class);

$paths = ['phar://x.phar/a.txt', "phar://$dir/a.txt", 'http://127.0.0.1:9/a.txt', 'https://example.org/', 'ftp://example.org/a', 'data:text/plain,hello', 'DATA://text/plain,x',
    'php://stdin', "file://$dir/a.txt", "compress.zlib://$dir/a.txt", "glob://$dir/*", 'expect://id', 'mine://x', "$dir/fifo", "$dir/to-fifo", '/dev/zero', '/dev/null', '/dev/stdin',
    "$dir/to-zero", "$dir/loop", $dir, "$dir/", '/', "$dir/socket", "$dir/none", "$dir/a.txt/", "$dir/a.txt\0.pdf", "\0", '', 'phar:', str_repeat('x/', 3000), "$dir/large.bin",
    '/proc/self/environ'];
$messages = [];
foreach ($paths as $path) {
    foreach (['attachments', 'inline'] as $field) {
        foreach (['bare' => $path, 'entry' => ['path' => $path, 'type' => 'text/plain', 'cid' => 'x']] as $way => $element) {
            try {
                $queue->enqueue([$field => [2 => $element]] + mail_fields());
                echo "$field took ", json_encode($path), " $way\n";
            } catch (MailQueue\MessageException $e) {
                must($e->field === "{$field}[2]", "$e->field is {$field}[2]");
                must(str_starts_with($e->getMessage(), "{$field}[2]: "), $e->getMessage());
                must(!preg_match('/[\x00-\x1f\x7f]/', $e->getMessage()), 'no control character');
                $messages[$path === '/dev/stdin' ? '/dev/zero' : $path] ??= preg_replace('{(x/){20,}}', '…', str_replace($dir, '%', $e->getMessage()));
            }
        }
    }
}
echo implode("\n", $messages), "\n";
echo count($queue->jobs()), " stored\n";

echo "what is fine:\n";
chdir($dir);
mkdir('phar:');
file_put_contents('phar:/x', 'a name like any other');
foreach (["$dir/a.txt", "$dir/to-a.txt", 'a.txt', './a.txt', "$dir/../" . basename($dir) . '/a.txt', './phar:/x'] as $path) {
    echo $queue->enqueue(['attachments' => [$path]] + mail_fields()) > 0 ? 'ok ' : '';
}
$before = count(scandir('/proc/self/fd'));
for ($i = 0; $i < 50; $i++) {
    $queue->enqueue(['attachments' => ["$dir/a.txt", 'b.txt' => "$dir/a.txt"], 'inline' => ["$dir/a.txt"], 'html' => 'x'] + mail_fields());
    thrown(fn() => $queue->enqueue(['attachments' => ["$dir/a.txt", "$dir/none"]] + mail_fields()));
    thrown(fn() => $queue->enqueue(['attachments' => ["$dir/a.txt"], 'to' => 'nobody'] + mail_fields()));
    thrown(fn() => $queue->enqueue(['attachments' => ["$dir/a.txt", '/dev/null']] + mail_fields()));
    thrown(fn() => $queue->enqueue(['attachments' => ["$dir/a.txt"]] + mail_fields(), priority: 1000));
}
echo "\n", count(scandir('/proc/self/fd')) - $before, " descriptors left open\n";
?>
--EXPECT--
attachments[2]: phar://x.phar/a.txt: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: phar://%/a.txt: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: http://127.0.0.1:9/a.txt: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: https://example.org/: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: ftp://example.org/a: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: data:text/plain,hello: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: DATA://text/plain,x: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: php://stdin: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: file://%/a.txt: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: compress.zlib://%/a.txt: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: glob://%/*: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: expect://id: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: mine://x: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: %/fifo: only regular files can be attached, not a directory, a device, a pipe or a socket
attachments[2]: %/to-fifo: only regular files can be attached, not a directory, a device, a pipe or a socket
attachments[2]: /dev/zero: only regular files can be attached, not a directory, a device, a pipe or a socket
attachments[2]: /dev/null: only regular files can be attached, not a directory, a device, a pipe or a socket
attachments[2]: %/to-zero: only regular files can be attached, not a directory, a device, a pipe or a socket
attachments[2]: %/loop: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: %: only regular files can be attached, not a directory, a device, a pipe or a socket
attachments[2]: %/: only regular files can be attached, not a directory, a device, a pipe or a socket
attachments[2]: /: only regular files can be attached, not a directory, a device, a pipe or a socket
attachments[2]: %/socket: only regular files can be attached, not a directory, a device, a pipe or a socket
attachments[2]: %/none: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: %/a.txt/: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: the path has a NUL; give a content as ['data' => …]
attachments[2]: the path has a NUL; give a content as ['data' => …]
attachments[2]: the path is empty
attachments[2]: phar:: No such file or directory; give the path of a local file that exists, or ['stream' => fopen(…)], or a content as ['data' => …]
attachments[2]: …: Invalid argument
attachments[2]: %/large.bin: it has 26214401 bytes, at most 26214400 are allowed for a message (mailqueue.max_message_size)
attachments[2]: its size is not the 0 bytes that it had before; do not write to the file while it is being attached
0 stored
what is fine:
ok ok ok ok ok ok 
0 descriptors left open
