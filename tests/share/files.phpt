--TEST--
share/ has the manual and the completions that tools/share makes; man and mandoc find no fault in the manual
--EXTENSIONS--
mailqueue
--SKIPIF--
<?php
require __DIR__ . '/../lib/servers.inc';
echo MailQueueTest\missing('/usr/bin/man', '/usr/bin/mandoc');
?>
--FILE--
<?php
$root = dirname(__DIR__, 2);
require "$root/tools/share.d/files.php";

foreach (MailQueue\Tools\shared_files() as $path => $text) {
    echo "$path: ", $text === file_get_contents("$root/$path") ? 'the same' : 'tools/share writes it', "\n";
}
foreach (glob("$root/share/man/man*/*") as $page) {
    $pages[] = escapeshellarg($page);
    echo shell_exec('env -u LD_PRELOAD LC_ALL=C.UTF-8 MANROFFSEQ= MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z ' . end($pages) . ' 2>&1 >/dev/null');
}
echo shell_exec('env -u LD_PRELOAD mandoc -T lint ' . implode(' ', $pages) . ' 2>&1');
$manual = shell_exec('env -u LD_PRELOAD LC_ALL=C.UTF-8 MANWIDTH=80 man -E UTF-8 -P cat -l ' . implode(' ', $pages) . ' 2>/dev/null');
foreach ([...array_keys(MailQueue\Cli\Commands::ALL), ...array_keys(MailQueue::configKeys()), ...array_keys(ini_get_all('mailqueue', false)), 'MAILQUEUE_TRANSPORT', 'DISPATCH_BATCH'] as $name) {
    preg_match('/^ +(mailqueue )?' . preg_quote($name, '/') . '\b/m', $manual) || print("the manual has no $name\n");
}
?>
--EXPECT--
share/man/man1/mailqueue.1: the same
share/man/man5/mailqueue.5: the same
share/bash-completion/completions/mailqueue: the same
share/zsh/site-functions/_mailqueue: the same
share/fish/vendor_completions.d/mailqueue.fish: the same
