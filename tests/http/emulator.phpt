--TEST--
ses+https://: aws-ses-v2-local takes what is sent, and has the message, its recipients and its attachment
--EXTENSIONS--
mailqueue
posix
pdo_sqlite
--SKIPIF--
<?php
require __DIR__ . '/../lib/servers.inc';
is_dir(MailQueueTest\build_directory() . '/ses/node_modules/aws-ses-v2-local') || die('skip aws-ses-v2-local is missing; tools/setup ses installs it');
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/../lib/delivery.inc';

$directory = temporary_directory('emulator');
$port = free_port();
$emulator = new Process(['node', build_directory() . '/ses/node_modules/aws-ses-v2-local/dist/cli.js', '--host', '127.0.0.1', '--port', (string) $port], $directory);
$emulator->until('the emulator', static fn(): bool => str_contains($emulator->output(), 'running at'));
$queue = new TestQueue();
$queue->ids['fields'] = $queue->queue->enqueue(['from' => 'Shöp <shop@example.com>', 'to' => 'Ann <a@example.org>', 'cc' => 'c@example.org',
    'bcc' => 'secret@example.net', 'subject' => 'Grüße', 'text' => "Hällo\n", 'html' => '<p>Hällo</p>',
    'attachments' => [['name' => 'a.bin', 'data' => "\0\1\2" . str_repeat('x', 100000)]]], 'fields');
$queue->add('raw', ['d@example.org']);
$report = $queue->work("ses+https://KEY:SECRET@127.0.0.1:$port?region=eu-west-1&tls=none", connections: 3);
echo "$report->end, $report->sent sent, $report->reason\n";
$store = json_decode(file_get_contents("http://127.0.0.1:$port/store"), true);
usort($store['emails'], static fn(array $a, array $b): int => $a['subject'] <=> $b['subject']);
foreach ($store['emails'] as $mail) {
    echo "$mail[from]: $mail[subject]; to ", implode(', ', $mail['destination']['to']), '; cc ', implode(', ', $mail['destination']['cc']),
        '; bcc ', count($mail['destination']['bcc']), '; ', json_encode($mail['body']['text'], JSON_UNESCAPED_UNICODE);
    foreach ($mail['attachments'] as $attachment) {
        $same = base64_decode($attachment['content']) === "\0\1\2" . str_repeat('x', 100000);
        echo "; $attachment[filename]", $same ? ' whole' : ' broken';
    }
    echo "\n";
}
echo str_contains(json_encode($store), 'secret@') ? "Bcc leaks\n" : '';
?>
--EXPECT--
empty, 2 sent, 
"Shöp" <shop@example.com>: Grüße; to "Ann" <a@example.org>; cc c@example.org; bcc 0; "Hällo\n"; a.bin whole
"Sender" <sender@example.com>: Test raw; to somebody@example.org; cc ; bcc 0; "Hello,\n\nthis is a test.\n"
