--TEST--
A relay that allows fewer sessions gets fewer, and all again later; one that throttles is paused for the time that it names: nothing is lost, and no attempt counts
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

/** The events about the number of sessions, without the replies. */
function told(TestQueue $queue): string
{
    $told = array_filter($queue->events, static fn(array $event): bool => $event['event'] === 'relay_sessions');
    return implode('; ', array_map(static fn(array $event): string => strtok($event['reply'], ':'), $told));
}

function attempts(TestQueue $queue): int
{
    return count(array_filter($queue->events, static fn(array $event): bool => in_array($event['event'], ['try_later', 'uncertain', 'parked'], true)));
}

$queue = static function (int $mails): TestQueue {
    $queue = new TestQueue();
    for ($i = 1; $i <= $mails; $i++) {
        $queue->add("t$i", ["a@d$i.example.org"]);
    }
    return $queue;
};

// Five sessions at a time, and all eight from the hundredth mail on.
$rules = ['at the connect' => 'at connect open=6- reply="421 4.7.0 too many connections"',
    'at MAIL' => 'at mail open=6- reply="432 4.3.2 Concurrent connections limit exceeded"',
    'at the dot' => 'at dot open=6- reply="432 4.3.2 Concurrent connections limit exceeded"'];
foreach ($rules as $where => $rule) {
    $sink = new Sink($rule, ['--delay-dot-ms', '50']);
    $limited = $queue(1200);
    $sent = 0;
    $report = $limited->work("smtp://127.0.0.1:$sink->port?pipelining=1", connections: 8, onEvent: static function (array $event) use ($limited, $sink, &$sent): void {
        $limited->events[] = $event;
        if ($event['event'] === 'sent' && ++$sent === 100) {
            $sink->rules('');
        }
    });
    $told = preg_replace('/^\d of/', 'N of', told($limited));
    echo "$where: $report->end, $report->sent sent, ", attempts($limited), " attempts failed: $told\n";
    count(array_unique(array_column($sink->accepted(), 'test'))) === 1200 || print("NOT: each mail has arrived\n");
    count($sink->accepted()) === 1200 || print("NOT: and once\n");
}

// Throttled: from the start, and after ten mails.
$throttle = 'reply="450 4.7.1 try again in 30 seconds"';
foreach (["at mail $throttle", "at rcpt $throttle", "at mail after=10 $throttle", "at rcpt after=10 $throttle"] as $rule) {
    $sink = new Sink($rule);
    $throttled = $queue(40);
    $report = $throttled->work("smtp://127.0.0.1:$sink->port?pipelining=1", connections: 1);
    $wait = $report->resumeAt - time();
    echo "$rule: $report->end, $report->sent sent, ", attempts($throttled), ' attempts failed, ', $wait > 20 && $wait <= 30 ? 'paused for 30 s' : "paused for $wait s", "\n";
    $sink->rules('');
    $throttled->timePasses();
    $report = $throttled->work("smtp://127.0.0.1:$sink->port", connections: 2);
    count($sink->accepted()) === 40 || print("NOT: all mail arrives\n");
}
?>
--EXPECT--
at the connect: empty, 1200 sent, 0 attempts failed: N of 8 sessions; all 8 sessions again
at MAIL: empty, 1200 sent, 0 attempts failed: N of 8 sessions; all 8 sessions again
at the dot: empty, 1200 sent, 0 attempts failed: N of 8 sessions; all 8 sessions again
at mail reply="450 4.7.1 try again in 30 seconds": relay, 0 sent, 0 attempts failed, paused for 30 s
at rcpt reply="450 4.7.1 try again in 30 seconds": relay, 0 sent, 0 attempts failed, paused for 30 s
at mail after=10 reply="450 4.7.1 try again in 30 seconds": relay, 10 sent, 0 attempts failed, paused for 30 s
at rcpt after=10 reply="450 4.7.1 try again in 30 seconds": relay, 10 sent, 3 attempts failed, paused for 30 s
