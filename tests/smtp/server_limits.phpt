--TEST--
A relay that allows 50 connections where 80 are wanted, or 20 mails a connection: all mail arrives
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

$mails = [];
for ($i = 1; $i <= 400; $i++) {
    $mails["t$i"] = ["a$i@example.org"];
}
$eighty = ['mails' => $mails, 'options' => ['connections' => 80, 'batch' => 400]];
check_cases([
    'connections: 421 as greeting' => [
        'sink' => ['--max-connections', '50', '--delay-dot-ms', '100']] + $eighty,
    'connections: closed without a word' => [
        'script' => "at accept connection=51- close\nat dot delay-ms=100"] + $eighty,
    'connections: 554 as greeting' => [
        'script' => "at connect connection=51- reply=\"554 5.3.2 too many\"\nat dot delay-ms=100"]
        + $eighty,
    'mails a connection: 421' => ['sink' => ['--max-mails-per-connection', '20'],
        'connections' => 20] + ['mails' => $mails],
    'mails a connection: closed after the 250' => ['script' => 'at dot conn-nth=20 then=close',
    'mails' => $mails,
        'dsn' => '?max_mails=20', 'connections' => 20],
    'mails a connection: ours' => ['dsn' => '?max_mails=20', 'mails' => $mails,
        'connections' => 20],
    'both' => [
        'sink' => ['--max-connections', '50', '--max-mails-per-connection', '20', '--delay-dot-ms',
        '5-20']] + $eighty,
]);

// The pool kept to the server's limit instead of connecting again and again. Seen to fail with the
// pool's shrinking taken out: more than 10,000 connects.
$sink = new Sink('', ['--max-connections', '50', '--delay-dot-ms', '100']);
$queue = new TestQueue();
foreach ($mails as $test => $to) {
    $queue->add($test, $to);
}
$report = $queue->work("smtp://127.0.0.1:$sink->port", connections: 80, batch: 400);
$connects = preg_match_all('/^\* connect/m', $sink->transcript());
echo "$report->end, $report->sent sent, ", count(array_unique(array_column($sink->accepted(),
    'connection'))), " sessions\n";
echo $connects <= 200 ? "few connects\n" : "$connects connects\n";
?>
--EXPECT--
all as expected
empty, 400 sent, 50 sessions
few connects
