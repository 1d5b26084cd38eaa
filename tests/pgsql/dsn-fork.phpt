--TEST--
A DSN's connection and forked children: each gets its own, and a child never ends the parent's, however it exits
--EXTENSIONS--
mailqueue
pdo_pgsql
pcntl
--SKIPIF--
<?php require __DIR__ . '/../lib/pgsql.inc'; die(MailQueueTest\PostgreSQL::missing()); ?>
--FILE--
<?php
require __DIR__ . '/dsn.inc';
if (ran_without_leak_check(__FILE__)) {
    return;
}
if (getenv('TEST_DSN') === false) {
    /* The code that forks is in a separate process, because the end of this one stops the
     * server. */
    $server = new PasswordServer();
    $environment = ['TEST_DSN' => $server->dsn(), 'TEST_ROOT' => "pgsql:host=$server->directory;dbname=app;user=test",
        'PGUSER' => 'app', 'PGPASSWORD' => SECRET] + getenv();
    proc_close(proc_open(php_command(__FILE__), [1 => STDOUT, 2 => STDOUT], $pipes, null, $environment));
    return;
}
/**
 * The queue's sessions, by the server's process ids. A PDO that is kept open would not survive the
 * first child.
 */
$sessions = fn(): array => (new PDO(getenv('TEST_ROOT')))->query("SELECT pid FROM pg_stat_activity WHERE usename = 'app' ORDER BY backend_start")->fetchAll(PDO::FETCH_COLUMN);

final class Kept
{
    public static ?MailQueue $queue = null;
    public ?Kept $self = null;
    public ?MailQueue $mine = null;
}

function child(callable $code): void
{
    $pid = pcntl_fork();
    must($pid >= 0, 'fork');
    if ($pid === 0) {
        ob_start(); // its output is not part of the test
        $code();
        exit(0);
    }
    pcntl_waitpid($pid, $status);
    echo pcntl_wifexited($status) ? pcntl_wexitstatus($status) : 'signal ' . pcntl_wtermsig($status);
}

$queue = new MailQueue(getenv('TEST_DSN'));
$enqueue = fn(string $reference) => must($queue->enqueue(mail_fields(), reference: $reference) > 0, $reference);
$enqueue('first');
$queue->claim(); // more statements that would be deallocated
[$parents] = $sessions();
$ways = [
    'freed untouched' => function () use (&$queue, &$enqueue) { $queue = $enqueue = null; },
    'not freed' => fn() => null,
    'kept in a static' => function () use (&$queue) { Kept::$queue = $queue; },
    'in a cycle' => function () use (&$queue, &$enqueue) {
        $kept = new Kept();
        $kept->self = $kept;
        $kept->mine = $queue;
        $queue = $enqueue = $kept = null;
        gc_collect_cycles();
    },
    'used' => fn() => $enqueue('used'),
    'used twice, then freed' => function () use (&$queue, &$enqueue) {
        $enqueue('twice 1');
        $enqueue('twice 2');
        $queue = $enqueue = null;
    },
    'a fatal error' => function () {
        ini_set('display_errors', '0');
        trigger_error('end', E_USER_ERROR);
    },
    'exit in a function' => function () use ($queue) { exit($queue->stats()->pending > 0 ? 0 : 1); },
];
foreach ($ways as $name => $way) {
    echo "$name: ";
    child($way);
    $enqueue("parent after $name");
    must(wait_until(fn() => count($sessions()) === 1), "one session after $name");
    echo $sessions() === [$parents] ? ", the parent's is the same\n" : ", another session\n";
}
echo 'a grandchild: ';
child(fn() => child(fn() => $enqueue('grandchild')));
echo $sessions()[0] === $parents ? ", the same\n" : ", another\n";
echo 'at the same time: ';
$pids = [];
for ($i = 0; $i < 4; $i++) {
    if (($pids[] = pcntl_fork()) === 0) {
        for ($n = 0; $n < 50; $n++) {
            $enqueue("child $i.$n");
        }
        exit(0);
    }
}
for ($n = 0; $n < 50; $n++) {
    $enqueue("parent $n");
}
foreach ($pids as $pid) {
    pcntl_waitpid($pid, $status);
    echo $status;
}
echo ' ', $sessions()[0] === $parents ? 'the same' : 'another', "\n";
echo count($queue->jobs(limit: 1000)), ' mails, ', count($ways) + 1 + 3 + 1 + 250, " expected\n";
?>
--EXPECT--
freed untouched: 0, the parent's is the same
not freed: 0, the parent's is the same
kept in a static: 0, the parent's is the same
in a cycle: 0, the parent's is the same
used: 0, the parent's is the same
used twice, then freed: 0, the parent's is the same
a fatal error: 255, the parent's is the same
exit in a function: 0, the parent's is the same
a grandchild: 00, the same
at the same time: 0000 the same
263 mails, 263 expected
