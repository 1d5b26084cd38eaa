--TEST--
Attachments: open_basedir applies, wherever links lead
--EXTENSIONS--
mailqueue
posix
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$inside = temp_directory();
$outside = temp_directory();
file_put_contents("$inside/a.txt", 'inside');
file_put_contents("$outside/secret.txt", 'outside');
mkdir("$inside/sub");
symlink("$inside/a.txt", "$inside/sub/to-inside.txt");
symlink("$outside/secret.txt", "$inside/to-file.txt");
symlink($outside, "$inside/to-directory");
symlink("$inside/to-directory", "$inside/to-link");
symlink("$outside/none", "$inside/to-nothing");
mkdir("$inside-more");
file_put_contents("$inside-more/b.txt", 'begins with the same name');

/* open_basedir can only be narrowed, so a separate process gets the restriction. */
$other = new Other(<<<'PHP'
    [, $inside, $outside] = $argv;
    $queue = new MailQueue("$inside/mail.db");
    chdir($outside);
    ini_set('open_basedir', "$inside/");
    foreach (["$inside/a.txt", "$inside/sub/to-inside.txt", "$inside/sub/../a.txt"] as $path) {
        echo $queue->enqueue(['attachments' => [$path]] + mail_fields()), ' ';
    }
    echo "\n";
    foreach (["$outside/secret.txt", "$outside/none", 'secret.txt', './secret.txt', "$inside/../" . basename($outside) . '/secret.txt', "$inside/to-file.txt", "$inside/to-directory/secret.txt",
        "$inside/to-link/secret.txt", "$inside/to-nothing", "$inside-more/b.txt", '/etc/passwd', "$inside/sub/../../" . basename($outside) . '/secret.txt'] as $path) {
        foreach ([$path, ['path' => $path], new SplFileInfo($path)] as $element) {
            $said[thrown(fn() => $queue->enqueue(['inline' => ['x' => $element]] + mail_fields()), $path)] = true;
        }
    }
    echo implode("\n", array_keys($said)), "\n", count($queue->jobs()), " stored\n";
    PHP, $inside, $outside);
echo $other->end()[0];

/* A directory that switches between a link and a real directory all the time. */
mkdir("$outside/swapped");
file_put_contents("$outside/swapped/x.txt", 'outside');
mkdir("$inside/real");
file_put_contents("$inside/real/x.txt", 'inside');
mkdir("$inside/one");
rename("$inside/real", "$inside/one/swapped");
mkdir("$inside/two");
symlink("$outside/swapped", "$inside/two/swapped");
$swapper = new Other(<<<'PHP'
    [, $inside] = $argv;
    echo "swaps\n";
    stream_set_blocking(STDIN, false);
    while (fgets(STDIN) === false) { // until it is told to end
        rename("$inside/one/swapped", "$inside/swapped");
        rename("$inside/swapped", "$inside/one/swapped");
        rename("$inside/two/swapped", "$inside/swapped");
        rename("$inside/swapped", "$inside/two/swapped");
    }
    PHP, $inside);
$swapper->line();
$reader = new Other(<<<'PHP'
    [, $inside] = $argv;
    $queue = new MailQueue("$inside/race.db", durability: 'normal');
    ini_set('open_basedir', $inside);
    $tried = $taken = $leaked = 0;
    $end = microtime(true) + 100;
    for (; $tried < 3000 || ($taken < 100 && microtime(true) < $end); $tried++) {
        clearstatcache(true);
        try {
            $id = $queue->enqueue(['attachments' => [['path' => "$inside/swapped/x.txt", 'type' => 'text/plain']]] + mail_fields());
            $taken++;
            $leaked += preg_match('/outside|' . base64_encode('outside') . '/', $queue->job($id)->message);
        } catch (MailQueue\MessageException $e) {
        }
    }
    echo $taken < 100 ? "only $taken taken of $tried\n" : '', "$leaked leaked\n";
    PHP, $inside);
echo $reader->end()[0];
$swapper->tell('end');
$swapper->end();
remove_tree("$inside-more");
?>
--EXPECT--
1 2 3 
MailQueue\MessageException [inline[x]]: inline[x]: %: open_basedir does not allow this file; add its directory, or attach another file
3 stored
0 leaked
