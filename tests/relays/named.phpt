--TEST--
A mail names its relay: the argument relay, or the header X-MailQueue-Relay, which is never sent; a name that is unknown waits untouched, and doctor says so
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

$sinks = ['A' => new Sink('', ['--save', $saved = temporary_directory('saved')]), 'B' => new Sink('')];
$dsn = array_map(static fn(Sink $sink): string => "smtp://127.0.0.1:$sink->port", $sinks);
$map = ['Marketing' => $dsn['A'], 'default' => $dsn['B']];
$queue = new TestQueue();
$enqueue = static function (string $test, string $header = '', ?string $relay = null) use ($queue): void {
    $queue->ids[$test] = $queue->queue->enqueue($header . message($test), reference: $test,
        envelopeFrom: 'a@example.org', recipients: ["$test@example.net"], relay: $relay);
};
$enqueue('argument', relay: 'marketing');
$enqueue('header', "x-mailqueue-relay:\n marketing\n");
$enqueue('both', "X-MailQueue-Relay: other\nX-MailQueue-Relay: again\n", 'MARKETING');
$enqueue('none');
$queue->queue->enqueueMany([['message' => ['from' => 'a@example.org', 'to' => 'b@example.net', 'subject' => 'x', 'text' => 'x',
    'headers' => ['X-Test-Id' => 'fields', 'X-MailQueue-Relay' => 'marketing']]],
    ['reference' => 'composed', 'relay' => null], ['reference' => 'composed2', 'relay' => 'marketing']]);
foreach ($queue->queue->jobs() as $job) {
    echo json_encode([$job->reference, $job->relay]), "\n";
}
$compose = static fn(\MailQueue\Job $job) => "X-Test-Id: $job->reference\nX-MailQueue-Relay: marketing\n"
    . "From: a@example.org\nTo: b@example.net\nSubject: x\n\nx\n";
$report = $queue->work($dsn['B'], relays: $map, compose: $compose);
echo "$report->end, $report->sent sent\n";
foreach ($sinks as $name => $sink) {
    $tests = array_map(static fn($one) => strtok($one, ' '), array_keys($sink->counts()));
    sort($tests);
    echo "$name: ", implode(' ', $tests), "\n";
}
$headers = preg_grep('/relay:/i', array_map(file_get_contents(...), glob("$saved/*.eml")));
echo count($headers), ' of ', count(glob("$saved/*.eml")), " sent with the header\n";

echo "unknown:\n";
$enqueue('lost', relay: 'nobody');
$queue->events = [];
$report = $queue->work($dsn['B'], relays: $map);
echo count(array_keys(array_column($queue->events, 'event'), 'claimed')), " claimed\n";
$job = $queue->queue->job($queue->ids['lost']);
echo "$report->end, $report->sent sent, {$job->status->value}, $job->attempts attempts, in ",
    round(($job->nextAttemptAt - time()) / 60), " minutes: $job->lastError\n";
echo preg_match('/^look +(.*relay.*)$/m', command_line($queue, $dsn['B'], 'doctor')['output'], $match), " $match[1]\n";
$later = $queue->queue->enqueue(message('later'), sendAt: time() + 3600, recipients: ['later@example.net']);
preg_match('/^ +mailqueue (retry .*)$/m', command_line($queue, $dsn['B'], 'doctor')['output'], $cure);
echo command_line($queue, $dsn['B'], ...str_getcsv($cure[1], ' ', "'"))['output'];
echo $queue->queue->retryFailed([$later]), " brought forward that is to be sent later\n";
echo $queue->work($dsn['B'], relays: $map + ['nobody' => $dsn['A']])->sent, " sent after it was added\n";
foreach (['', "a\nb", str_repeat('x', 191)] as $bad) {
    try {
        $queue->queue->enqueue(message('bad'), envelopeFrom: '', recipients: ['a@example.org'], relay: $bad);
    } catch (\ValueError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
["argument","marketing"]
["header","marketing"]
["both","MARKETING"]
["none",null]
[null,"marketing"]
["composed",null]
["composed2","marketing"]
empty, 7 sent
A: argument both composed composed2 fields header
B: none
0 of 6 sent with the header
unknown:
0 claimed
empty, 0 sent, pending, 0 attempts, in 60 minutes: the mail names the relay "nobody", which the map of relays does not have; add it there (mailqueue work --relays)
1 1 waiting for a relay that the map of relays does not have: nobody
1 brought back.
0 brought forward that is to be sent later
1 sent after it was added
relay must have 1 to 190 octets, not 0
relay has the control character U+000A at octet 2; remove it
relay must have 1 to 190 octets, not 191
