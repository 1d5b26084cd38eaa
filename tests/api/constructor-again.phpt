--TEST--
MailQueue::__construct() called again: a failed one leaves nothing behind, a second is an Error
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';

/* An error handler gets the object before its arguments are read, so PHP code can hold an object
 * that was never constructed. */
function unconstructed(): MailQueue
{
    $seen = null;
    set_error_handler(function () use (&$seen): never {
        foreach (debug_backtrace() as $frame) {
            $seen ??= ($frame['object'] ?? null) instanceof MailQueue ? $frame['object'] : null;
        }
        throw new LogicException('stop');
    });
    echo 'seen: ', thrown(fn() => eval('new MailQueue("unused.db", busyTimeout: 5.5);')), "\n";
    restore_error_handler();
    return $seen;
}

$path = database();
$queue = unconstructed();
echo thrown(fn() => $queue->stats()), "\n", thrown(fn() => $queue->enqueue()), "\n";

echo "failed:\n";
echo thrown(fn() => $queue->__construct('', orphanCheck: 'a.b')), "\n";
echo thrown(fn() => $queue->__construct(':memory:', orphanCheck: 'registrations.number')), "\n";
echo thrown(fn() => $queue->__construct("$path/missing.db", journal: 'wal'), $path), "\n";
echo thrown(fn() => $queue->stats()), "\n";

echo "then good:\n";
$queue->__construct($path);
/* The failed call's orphan check is forgotten: the job does not count as an orphan. */
$queue->enqueue(null, 'r1');
echo count($queue->claim()), " claimed\n";
echo thrown(fn() => $queue->__construct("$path.other")), "\n";
echo $queue->stats()->sending, ' sending', file_exists("$path.other") ? ', and another file' : '', "\n";
?>
--EXPECTF--
seen: LogicException: stop
Error: The MailQueue object was not constructed
Error: The MailQueue object was not constructed
failed:
ValueError: MailQueue::__construct(): Argument #1 ($database) must be the path of an SQLite file, which other processes can open too: an empty path, ":memory:" and URIs cannot be used
ValueError: MailQueue::__construct(): Argument #1 ($database) must be the path of an SQLite file, which other processes can open too: an empty path, ":memory:" and URIs cannot be used
MailQueue\DatabaseException [cantopen]: %s
Error: The MailQueue object was not constructed
then good:
1 claimed
Error: The MailQueue object is constructed already
1 sending
