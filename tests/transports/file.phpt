--TEST--
file://: a Maildir, one file per mail with its envelope, and unusable directories
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/programs.inc';

$directory = temporary_directory('file');
$box = "$directory/the box%";
$dsn = 'file://' . str_replace('%2F', '/', rawurlencode($box));
$queue = new TestQueue();
$bodies = [".\n..\n.\n", "From here\n", "no end", str_repeat("0123456789 abcdef\n", 100000)];
foreach ($bodies as $i => $body) {
    $queue->add("f$i", ["a$i@example.org", "b$i@example.org"], message("f$i", $body));
    $stored["f$i"] = $queue->queue->job($queue->ids["f$i"])->message;
}
$queue->queue->enqueue(['from' => 'me@example.com', 'to' => 'to@example.org', 'subject' => 'x',
    'text' => "x\n"], envelopeFrom: '', recipients: ['hidden@example.org']);
$report = $queue->work($dsn);
echo "$report->end $report->sent to $report->recipients\n";

$same = 0;
foreach (glob("$box/new/*") as $file) {
    [$before, $message] = preg_split('/(?=^(?:From|Message-ID|Date|MIME-Version|Subject): )/m',
        file_get_contents($file), 2);
    if (preg_match('/^X-Test-Id: (.*)$/m', $message, $test)) {
        $same += $message === str_replace("\r\n", "\n", $stored[$test[1]])
            && $before === "Return-Path: <sender@example.com>\n" . implode(array_map(
            fn($to) => "X-Envelope-To: $to\n", $queue->recipients[$test[1]]));
    } else {
        echo $before;
    }
}
echo "$same as stored; ", count(glob("$box/tmp/*")), " left behind\n";
printf("%o %o\n", fileperms("$box/new") & 0777, fileperms(glob("$box/new/*")[0]) & 0777);

echo "-- the test redirect\n";
$queue->queue->setConfig('mailRedirectTo', 'tester@example.net');
$queue->add('r1', ['somebody@example.org']);
array_map(unlink(...), glob("$box/new/*"));
$queue->work($dsn);
echo strstr(file_get_contents(glob("$box/new/*")[0]), 'Subject', true);
$queue->queue->setConfig('mailRedirectTo', null);

echo "-- gone while it works\n";
foreach (['g1', 'g2', 'g3'] as $test) {
    $queue->add($test, ['a@example.org']);
}
// The first event comes after the first commit: by then the directory is gone.
$report = $queue->work($dsn, connections: 1, batch: 1, onEvent: function () use ($box): void {
    remove_tree($box);
});
echo "$report->end: ", str_replace($directory, '%', $report->reason), "\n";
echo array_count_values($queue->states())['pending 0'] > 0 ? "no attempt is counted\n" : '';

echo "-- cannot be used\n";
touch("$directory/plain");
foreach (['file://relative/x', "file://$directory/plain", "file://$directory/no/such",
    "file://$directory/x?mode=1"] as $dsn) {
    try {
        $queue->work($dsn);
    } catch (\ValueError $e) {
        echo str_replace($directory, '%', $e->getMessage()), "\n";
    }
}
?>
--EXPECT--
empty 5 to 9
Return-Path: <>
X-Envelope-To: hidden@example.org
4 as stored; 0 left behind
700 600
-- the test redirect
Return-Path: <sender@example.com>
X-Envelope-To: tester@example.net
X-Original-To: somebody@example.org
From: Sender <sender@example.com>
To: somebody@example.org
-- gone while it works
relay: %/the box%: cannot create a file: No such file or directory
no attempt is counted
-- cannot be used
MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: file:// takes a directory of this host; write file:///directory with three slashes, and "#" in it as %23
MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: file://%/plain cannot be used: Not a directory; give a directory that this user may write to, or one that can be created in such a directory
MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: file://%/no/such cannot be used: No such file or directory; give a directory that this user may write to, or one that can be created in such a directory
MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: unknown option "mode"; file:// has none
