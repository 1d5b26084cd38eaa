--TEST--
A relay that is slow to answer the dot: a time limit waits for the reply, a signal abandons it and says so
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

// Seen to fail with the grace period after a time limit: every run cut off what waited.
$sink = new Sink('at dot delay-ms=3000');
$queue = new TestQueue();
for ($i = 1; $i <= 5; $i++) {
    $queue->add("t$i", ["a$i@example.org"]);
}
$dsn = "smtp://127.0.0.1:$sink->port";
for ($run = 1; $run <= 10 && $queue->queue->jobs() !== []; $run++) {
    $queue->waitsAreOver();
    $queue->work($dsn, connections: 5, timeLimit: 1, grace: 1);
}
echo count($sink->counts()), ' mails, at most ', max($sink->counts()), " each\n";
echo implode(' ', $queue->states()), "\n";

// The run that cron started gets SIGTERM, and the reply comes after the grace period.
$queue->add('cut', ['cut@example.org']);
$php = getenv('TEST_PHP_EXECUTABLE') ?: PHP_BINARY;
$process = proc_open(['sh', '-c', "exec $php " . getenv('TEST_PHP_EXTRA_ARGS') . ' '
    . escapeshellarg(dirname(__DIR__, 2) . '/bin/mailqueue') . ' work --quiet --grace 0'],
    [['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes, null,
    ['MAILQUEUE_TRANSPORT' => $dsn, 'MAILQUEUE_DATABASE' => $queue->path,
        'MAIL_QUEUE_LOG' => "$queue->path.log"] + getenv());
while (!isset($sink->counts()['cut cut@example.org'])) { // it is accepted before the reply comes
    usleep(20000);
}
proc_terminate($process, SIGTERM);
echo stream_get_contents($pipes[1]), stream_get_contents($pipes[2]);
echo 'exit ', proc_close($process), "\n";
preg_match('/"end=signal .*?"/', file_get_contents("$queue->path.log"), $end);
echo $end[0] ?? '', "\n", $queue->state('cut'), "\n";
?>
--EXPECT--
5 mails, at most 1 each
gone gone gone gone gone
mailqueue: 0 sent, 1 uncertain, 1 cut off after their dot (they may arrive twice); stopped by a signal.
exit 0
"end=signal claimed=1 uncertain=1 cut_off=1"
failed 1 uncertain 1
