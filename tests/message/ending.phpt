--TEST--
Array messages: a script that ends while a message is being read stores nothing
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
/* A leak of request memory is normal after that; a leak of our own is not. */
putenv('LSAN_OPTIONS=print_suppressions=0:suppressions=' . __DIR__ . '/../lib/request.supp');
$path = database();
foreach (['exit', 'fatal'] as $how) {
    $other = new Other(<<<'PHP'
        [, $path, $how] = $argv;
        final class Ending { public function __construct(private string $how) {} public function __toString(): string { echo "$this->how "; $this->how === 'exit' ? exit(3) : trigger_error('end', E_USER_ERROR); } }
        $queue = new MailQueue($path);
        register_shutdown_function(fn() => print(count($queue->jobs(limit: 1000)) . ' at the end'));
        ini_set('display_errors', '0');
        $queue->enqueue(['attachments' => ['/etc/passwd', ['data' => new Ending($how)]]] + mail_fields());
        echo 'not reached';
        PHP, $path, $how);
    [$said, $code] = $other->end();
    echo "$said, exit code $code\n";
}
?>
--EXPECT--
exit 0 at the end, exit code 3
fatal 0 at the end, exit code 255
