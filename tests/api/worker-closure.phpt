--TEST--
runWorker() with a Closure: its argument, and what returning and throwing mean
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
use MailQueue\{Job, RefusedException, TransportException};
function outcome(MailQueue $queue, Closure $transport, array $enqueue = []): void
{
    $id = $queue->enqueue(...$enqueue + ['message' => mail_fields()]);
    $report = $queue->runWorker($transport, log: '');
    $job = $queue->job($id);
    echo "$report->end: sent $report->sent tryLater $report->tryLater refused $report->refused parked $report->parked released $report->released; ",
        $job ? "{$job->status->name} attempts $job->attempts " . preg_replace('/\{closure(?:[^{}]|(?R))*\}/', '{closure}', json_encode([$job->lastError, $job->refused])) : 'gone', $report->reason === null ? '' : ", $report->reason", "\n";
    $queue->setConfig('mailRelayPause', null);
    $queue->delete([$id]);
}

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $work = fn(Closure $transport) => $queue->runWorker($transport, log: '', maxWorkers: 1);

    $queue->enqueue(mail_fields(text: "one\n.\ntwo\n"), 'r1', recipients: ['a@example.net', 'b@example.net'], envelopeFrom: 'me@example.org');
    $report = $work(function (Job $job, string $message, string $from, array $recipients): void {
        echo "$job->reference {$job->status->name} $job->attempts from $from to ", implode(' ', $recipients), "\n";
        must($message === $job->message, 'the message is the job\'s');
        must(str_contains($message, "\r\n\r\none\r\n.\r\ntwo\r\n"), 'no dot is doubled');
    });
    echo "$report->end sent $report->sent recipients $report->recipients\n";

    outcome($queue, fn() => null);
    outcome($queue, fn() => false);
    outcome($queue, fn() => throw new RefusedException('no such user', 550));
    outcome($queue, fn() => throw new TransportException('quota used up'));
    outcome($queue, fn() => throw new RuntimeException("odd\r\nthing \xff", 451));
    outcome($queue, fn() => throw new RuntimeException());
    outcome($queue, fn() => intdiv(1, 0));
    outcome($queue, fn(int $job) => null);
    outcome($queue, fn(Job $j, string $m, string $f, array $r, $fifth) => null);
    outcome($queue, fn() => throw new RuntimeException('for the last time'), ['maxAttempts' => 1]);

    echo "a destructor's exception:\n";
    outcome($queue, fn() => new class { public function __destruct() { throw new LogicException('too late'); } });

    echo "what it starts can see that its mail is on its way:\n";
    $depth = null;
    outcome($queue, function () use (&$depth): void { $depth = trim((string) shell_exec('echo $MAILQUEUE_TRANSPORT_DEPTH')); });
    echo "depth $depth, then ", json_encode(getenv('MAILQUEUE_TRANSPORT_DEPTH')), "\n";

    echo "redirected:\n";
    $queue->setConfig('mailRedirectTo', '@test.example');
    outcome($queue, function (Job $job, string $message, string $from, array $recipients): void {
        echo implode(' ', $recipients), ' ', implode(' ', $job->recipients), ' ', strtok($message, "\r"), ' ', $message === $job->message ? 'same' : 'different', "\n";
    });
    $queue->setConfig('mailRedirectTo', null);

    echo "trouble pauses it, also for the next run:\n";
    $queue->enqueue(mail_fields());
    $queue->enqueue(mail_fields());
    $calls = 0;
    $broken = function () use (&$calls): void { $calls++; throw new TransportException('login failed'); };
    $report = $work($broken);
    echo "$report->end ($report->reason) released $report->released, $calls call\n";
    $report = $work($broken);
    echo "$report->end ($report->reason) $calls call, pause ", $report->resumeAt - time() > 50 ? 'stands' : 'is over', "\n";
    echo $queue->stats()->pauseReason, ' ', $queue->stats()->pausedUntil === $report->resumeAt ? 'until then' : '', "\n";
});
?>
--EXPECT--
r1 Sending 1 from me@example.org to a@example.net b@example.net
empty sent 1 recipients 2
empty: sent 1 tryLater 0 refused 0 parked 0 released 0; gone
empty: sent 1 tryLater 0 refused 0 parked 0 released 0; gone
empty: sent 0 tryLater 0 refused 1 parked 1 released 0; Parked attempts 1 ["550 no such user",{"ann@example.net":"550 no such user"}]
relay: sent 0 tryLater 0 refused 0 parked 0 released 1; Pending attempts 0 [null,[]], quota used up
empty: sent 0 tryLater 1 refused 0 parked 0 released 0; Failed attempts 1 ["RuntimeException: odd??thing \ufffd",[]]
empty: sent 0 tryLater 1 refused 0 parked 0 released 0; Failed attempts 1 ["RuntimeException",[]]
empty: sent 0 tryLater 1 refused 0 parked 0 released 0; Failed attempts 1 ["DivisionByZeroError: Division by zero",[]]
empty: sent 0 tryLater 1 refused 0 parked 0 released 0; Failed attempts 1 ["TypeError: {closure}(): Argument #1 ($job) must be of type int, MailQueue\\Job given",[]]
empty: sent 0 tryLater 1 refused 0 parked 0 released 0; Failed attempts 1 ["ArgumentCountError: Too few arguments to function {closure}(), 4 passed and exactly 5 expected",[]]
empty: sent 0 tryLater 0 refused 0 parked 1 released 0; Parked attempts 1 ["RuntimeException: for the last time",[]]
a destructor's exception:
empty: sent 1 tryLater 0 refused 0 parked 0 released 0; gone
what it starts can see that its mail is on its way:
empty: sent 1 tryLater 0 refused 0 parked 0 released 0; gone
depth 1, then false
redirected:
ann@test.example ann@test.example X-Original-To: ann@example.net same
empty: sent 1 tryLater 0 refused 0 parked 0 released 0; gone
trouble pauses it, also for the next run:
relay (login failed) released 2, 1 call
relay (login failed) 1 call, pause stands
login failed until then
