--TEST--
Messages that are objects: a script that ends in one of their methods stores nothing
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
/* A leak of request memory is normal after that; a leak of our own is not. */
putenv('LSAN_OPTIONS=print_suppressions=0:suppressions=' . __DIR__ . '/../lib/request.supp');
$path = database();
foreach (['exit', 'fatal'] as $how) {
    foreach (['toString', 'getTo', 'getBcc', 'getAddress', 'getFrom', 'getHeaders'] as $where) {
        $other = new Other(<<<'PHP'
            [, $path, $how, $where] = $argv;
            function stop(string $here): void
            {
                global $how, $where;
                if ($here === $where) {
                    echo "$how in $where: ";
                    $how === 'exit' ? exit(3) : trigger_error('end', E_USER_ERROR);
                }
            }
            final class Address { public function getAddress(): string { stop('getAddress'); return 'ann@example.net'; } }
            final class Mail
            {
                public function toString(): string { stop('toString'); return "From: a@example.org\nTo: b@example.org\n\n"; }
                public function getTo(): array { stop('getTo'); return ['bob@example.com', 'carl@example.net']; }
                public function getCc(): array { return []; }
                public function getBcc(): iterable { yield 'dora@example.net'; stop('getBcc'); yield new Address(); }
                public function getFrom(): string { stop('getFrom'); return 'me@example.org'; }
                public function getHeaders(): object { stop('getHeaders'); return $this; }
            }
            $queue = new MailQueue($path);
            register_shutdown_function(fn() => print(count($queue->jobs(limit: 1000)) . ' at the end'));
            ini_set('display_errors', '0');
            $queue->enqueueMany([['message' => new Mail()]]);
            echo 'not reached';
            PHP, $path, $how, $where);
        [$said, $code] = $other->end();
        echo "$said, exit code $code\n";
    }
}
?>
--EXPECT--
exit in toString: 0 at the end, exit code 3
exit in getTo: 0 at the end, exit code 3
exit in getBcc: 0 at the end, exit code 3
exit in getAddress: 0 at the end, exit code 3
exit in getFrom: 0 at the end, exit code 3
exit in getHeaders: 0 at the end, exit code 3
fatal in toString: 0 at the end, exit code 255
fatal in getTo: 0 at the end, exit code 255
fatal in getBcc: 0 at the end, exit code 255
fatal in getAddress: 0 at the end, exit code 255
fatal in getFrom: 0 at the end, exit code 255
fatal in getHeaders: 0 at the end, exit code 255
