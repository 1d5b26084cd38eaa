--TEST--
A relay that defers or denies every mail, at any command: nothing is parked, and all mail arrives when that ends
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

// Seen to fail with failed mails counted at once: all are parked after ten runs, and those with a
// refusal of RCPT after the first.
const MAILS = 30;
const RUNS = 11;

function check(string $stage, string $reply): void
{
    $sink = new Sink("at $stage reply=\"$reply\"");
    $queue = new TestQueue();
    for ($i = 1; $i <= MAILS; $i++) {
        $queue->add("t$i", ["a@d$i.example"]);
    }
    $dsn = "smtp://127.0.0.1:$sink->port";
    $ends = $pauses = [];
    for ($run = 1; $run <= RUNS; $run++) {
        $report = $queue->work($dsn, connections: 3);
        $ends[] = $report->end;
        $pauses[] = (int) round(($report->resumeAt - time()) / 30) * 30;
        $config = (string) $queue->queue->config('mailRelayPause');
        $queue->queue->setConfig('mailRelayPause', preg_replace('/"\d{10} /', '"1 ', $config)
            ?: null);
        $queue->waitsAreOver();
    }
    $states = implode(', ', array_unique($queue->states()));
    $connects = $sink->received('EHLO');
    $sink->rules('');
    $queue->work($dsn);
    $sent = count($sink->counts());
    $right = array_unique($ends) === ['relay'] && $states === 'pending 0' && $sent === MAILS
        && max($sink->counts()) === 1 && $queue->lost($sink->counts()) === []
        && $pauses === [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600, 3600];
    echo "$stage, $reply: ", $right ? 'ok' : implode(' ', $ends) . "; $states; $sent sent; "
        . implode(' ', $pauses) . '; ' . $report->reason, "\n";
}

foreach (['451 4.3.0 Temporary lookup failure', '451 4.3.5 Server configuration error'] as $reply) {
    foreach (['mail', 'rcpt', 'data', 'dot'] as $stage) {
        check($stage, $reply);
    }
}
check('rcpt', '451 Temporary local problem - please try later');
check('rcpt', '454 4.7.1 Relay access denied');
check('dot', '421 4.3.0 cannot write the queue file');
check('connect', '451 4.3.0 no');
foreach (['550 relay not permitted', '550 Please turn on SMTP Authentication',
    '550 rejected because your IP is in an RBL', '550 Relaying denied', '550 rejected', '550',
    "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)"] as $reply) {
    check('rcpt', $reply);
}

// Dead addresses are not a sign of trouble, however few other mails there are.
$mails = $jobs = [];
for ($i = 1; $i <= 5; $i++) {
    $mails["dead$i"] = ["a@d$i.example"];
    $jobs["dead$i"] = "parked 1 for refused refused a@d$i.example";
}
$case = ['script' => 'at rcpt reply="550 5.1.1 no"', 'mails' => $mails, 'jobs' => $jobs,
    'accepted' => []];
check_cases([
    'five dead addresses' => $case,
    'in words only' => ['script' => 'at rcpt reply="550 user unknown"'] + $case,
    // It is not known yet whose fault it is: the mail waits, and is not parked.
    'one refusal without a word' => ['script' => 'at rcpt reply="550 rejected"',
        'mails' => ['t1' => ['a@d1.example']], 'jobs' => ['t1' => 'failed 1'], 'accepted' => []],
    'that, and others get through' => ['script' => 'at rcpt match=bad@* reply="550 rejected"',
        'mails' => ['t1' => ['bad@d1.example'], 't2' => ['a@d2.example'], 't3' => ['a@d3.example']],
        'jobs' => ['t1' => 'parked 1 for refused refused bad@d1.example'],
        'accepted' => ['t2 a@d2.example', 't3 a@d3.example']],
]);
?>
--EXPECT--
mail, 451 4.3.0 Temporary lookup failure: ok
rcpt, 451 4.3.0 Temporary lookup failure: ok
data, 451 4.3.0 Temporary lookup failure: ok
dot, 451 4.3.0 Temporary lookup failure: ok
mail, 451 4.3.5 Server configuration error: ok
rcpt, 451 4.3.5 Server configuration error: ok
data, 451 4.3.5 Server configuration error: ok
dot, 451 4.3.5 Server configuration error: ok
rcpt, 451 Temporary local problem - please try later: ok
rcpt, 454 4.7.1 Relay access denied: ok
dot, 421 4.3.0 cannot write the queue file: ok
connect, 451 4.3.0 no: ok
rcpt, 550 relay not permitted: ok
rcpt, 550 Please turn on SMTP Authentication: ok
rcpt, 550 rejected because your IP is in an RBL: ok
rcpt, 550 Relaying denied: ok
rcpt, 550 rejected: ok
rcpt, 550: ok
rcpt, 553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1): ok
all as expected
