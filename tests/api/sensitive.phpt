--TEST--
Stack traces contain neither the database nor the transport
--EXTENSIONS--
mailqueue
--SKIPIF--
<?php if (PHP_VERSION_ID < 80200) die('skip SensitiveParameter came with PHP 8.2'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
ini_set('zend.exception_ignore_args', '0');
$queue = new MailQueue(database());
$secret = 's3cret';
foreach ([
    fn() => new MailQueue("mysql:hots=x;password=$secret"),
    fn() => new MailQueue("$secret:memory:\0"),
    fn() => MailQueue\Internal::describe("pgsql:host=x;password=$secret", 1),
    fn() => MailQueue\Internal::tables("pgsql:hots=x;password=$secret\0"),
    fn() => MailQueue\Internal::connect("$secret:memory:"),
    fn() => $queue->runWorker("smtp://me:$secret@localhost?nonsense=1", log: ''),
    fn() => $queue->runWorker("nonsense://me:$secret@localhost", log: ''),
    fn() => $queue->runWorker("smtp://me:$secret@localhost:99999", log: ''),
    fn() => $queue->runWorker("smtp://me:$secret%00@localhost", log: ''),
] as $call) {
    try {
        $call();
        echo "nothing thrown\n";
    } catch (Throwable $e) {
        $arguments = array_merge(...array_column($e->getTrace(), 'args'));
        echo get_class($e), ': ', count(array_filter($arguments, fn($a) => $a instanceof SensitiveParameterValue)),
            str_contains($e->getTraceAsString(), $secret) ? ' and the secret in the trace' : '',
            str_contains($e->getMessage(), $secret) ? " and the secret in the text: {$e->getMessage()}" : '', "\n";
    }
}
?>
--EXPECT--
MailQueue\Exception: 1
ValueError: 1
ArgumentCountError: 1
ValueError: 1
ValueError: 1
ValueError: 1
ValueError: 1
ValueError: 1
ValueError: 1
