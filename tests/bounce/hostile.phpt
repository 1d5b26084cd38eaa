--TEST--
Forged, old and foreign tokens, a bounce of 50 MB, 1,000 parts within each other, broken encodings: nothing changes, and nothing fails
--EXTENSIONS--
mailqueue
pdo_sqlite
--INI--
memory_limit=64M
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
require __DIR__ . '/messages.inc';
require dirname(__DIR__, 2) . '/web/autoload.php';
use MailQueue\Cli\Bounce\Reader;
use MailQueue\Cli\Bounce\Recorder;

$path = database();
$queue = new MailQueue($path);
$to = 'ann@example.net';
$sender = sender_to($queue, $to);
$token = substr($sender, 8, 32);
$reader = new Reader($queue);
$read = function (string $sender, string $to = 'ann@example.net') use ($reader): string {
    $reading = $reader->read(postfix($sender, $to, '5.1.1', '550 5.1.1 user unknown'));
    return $reading->events === [] ? $reading->what : 'about ' . json_encode($reading->events[0]->address);
};
echo "-- tokens\n";
echo $read($sender), "\n", $read(strtoupper($sender)), "\n", $read("SRS0=aB1c=XY=example.org=$sender"), "\n", $read("x$token@example.com"), "\n";
$secret = $queue->config('mailSuppressionKey');
$now = time();
must(made_token($queue, $secret, $to, $now) === $token || made_token($queue, $secret, $to, $now - 60) === $token, 'the test makes the same token');
foreach (['29 days' => $now - 29 * 86400, '31 days' => $now - 31 * 86400, '1970' => 0] as $age => $time) {
    echo "$age: ", $read('bounces+' . made_token($queue, $secret, $to, $time) . '@example.org'), "\n";
}
echo 'another version: ', $read('bounces+' . made_token($queue, $secret, $to, $now, "\x02") . '@example.org'), "\n";
$other = new MailQueue(database());
echo 'another database: ', $read(sender_to($other, $to)), "\n";
echo 'many: ', $read('bounces+many@example.org'), "\n";
$forged = 0;
for ($i = 0; $i < 32; $i++) {
    foreach (['a', 'z', '7'] as $digit) {
        $changed = substr_replace($token, $digit, $i, 1);
        $forged += $changed !== $token && str_starts_with($read("bounces+$changed@example.org"), 'about') ? 1 : 0;
    }
}
echo "$forged of 96 changed tokens are good\n";
echo 'a stranger: ', $read($sender, 'stranger@example.com'), "\n";
$queue->campaign('x')->setMessage(['from' => 'a@example.org', 'subject' => 'x', 'text' => 'x']);
$queue->campaign('x')->add(['Ann@example.net', 'bea@example.net']);
echo 'a recipient of a campaign: ', $read($sender, 'stranger@example.com'), "\n";
(new Recorder($queue))->record($reader->read(postfix($sender, 'victim@example.com', '5.1.1', '550 5.1.1 user unknown'))->events[0]);
echo count($queue->suppression('victim@example.com')), ' ', count($queue->suppression($to)), "\n";

echo "-- forms\n";
$bounce = postfix($sender, $to, '5.1.1', '550 5.1.1 user unknown');
$nested = "Content-Type: text/plain\n\n550 5.1.1 user unknown";
for ($i = 0; $i < 1000; $i++) {
    $nested = "Content-Type: multipart/mixed; boundary=\"b$i\"\n\n--b$i\n$nested\n--b$i--\n";
}
$deep = "From: MAILER-DAEMON\nTo: $sender\nSubject: Undelivered mail\n$nested";
$cases = [
    'empty' => '', 'a line' => "\n", 'no headers' => "\n\n$bounce", 'NUL' => str_repeat("\0", 1000), 'binary' => random_bytes(200_000),
    '1,000 parts within each other' => $deep,
    'multipart/report within itself' => "Content-Type: multipart/report; boundary=b\nTo: $sender\n\n" . str_repeat("--b\nContent-Type: multipart/report; boundary=b\n\n", 5000),
    '50,000 parts' => "Content-Type: multipart/report; boundary=b\nTo: $sender\n\n" . str_repeat("--b\n\n", 50_000),
    '100,000 groups' => "Content-Type: message/delivery-status\nTo: $sender\n\n" . str_repeat("x: y\n\n", 40_000),
    'a long boundary' => 'Content-Type: multipart/report; boundary="' . str_repeat('(b|c)*', 30_000) . "\"\nTo: $sender\n\n--x\n",
    'a long header' => "To: $sender\nX-Failed-Recipients: " . str_repeat("a@b.example,\n ", 20_000) . "\n\nx",
    'a long line' => "To: $sender\nFrom: MAILER-DAEMON\nSubject: failure notice\n\n" . str_repeat('5.1.1 a@b 550 ', 18_000),
    'addresses' => "To: $sender\nFrom: MAILER-DAEMON\nSubject: failure notice\n\n" . str_repeat('a@', 120_000),
    'broken base64' => "To: $sender\nFrom: MAILER-DAEMON\nSubject: failure notice\nContent-Transfer-Encoding: base64\n\n=====%%%%" . str_repeat('=', 1000),
    'broken quoted-printable' => "To: $sender\nFrom: MAILER-DAEMON\nSubject: failure notice\nContent-Transfer-Encoding: quoted-printable\n\n=5=5=\n=ZZ=",
    'an unknown charset' => "To: $sender\nFrom: MAILER-DAEMON\nSubject: =?klingon?Q?=FF?= failure notice\nContent-Type: text/plain; charset=klingon\n\n\xFF\xFE",
    'UTF-16' => "To: $sender\nFrom: MAILER-DAEMON\nSubject: failure notice\nContent-Type: text/plain; charset=utf-16\n\n\xFF\xFEx\0",
    'control characters' => str_replace('550 5.1.1', "550 5.1.1 \x1b[31m\u{202e}", $bounce),
];
foreach ($cases as $name => $message) {
    $begin = hrtime(true);
    $reading = $reader->read($message);
    $event = $reading->events[0] ?? null;
    $ms = (hrtime(true) - $begin) / 1e6;
    echo "$name: $reading->what", $event === null ? '' : ", {$event->kind->value}", $name === 'control characters' ? ": $event->text" : '', $ms < 5000 ? '' : ' SLOW', "\n";
    $event === null || (new Recorder($queue))->record($event);
}

echo "-- 50 MB through the pipe\n";
$process = proc_open(cli_command(['bounce', '--json', '--database', $path]), [['pipe', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes);
$large = postfix(sender_to($queue, 'bea@example.net'), 'bea@example.net', '5.1.1', '550 5.1.1 user unknown');
@fwrite($pipes[0], $large);
for ($i = 0; $i < 50 && @fwrite($pipes[0], str_repeat("0123456789abcdef", 65536)); $i++);
fclose($pipes[0]);
$result = json_decode(stream_get_contents($pipes[1]), true);
echo proc_close($process), ' ', $result['events'][0]['kind'], ' ', $result['events'][0]['outcome'], ' after ', $i < 50 ? 'its beginning' : 'all', "\n";
?>
--EXPECT--
-- tokens
about "ann@example.net"
about "ann@example.net"
about "ann@example.net"
about "ann@example.net"
29 days: about "ann@example.net"
31 days: a bounce, without a token that proves whom it is about
1970: a bounce, without a token that proves whom it is about
another version: a bounce, without a token that proves whom it is about
another database: a bounce, without a token that proves whom it is about
many: a bounce, without a token that proves whom it is about
0 of 96 changed tokens are good
a stranger: about null
a recipient of a campaign: about "Ann@example.net"
0 1
-- forms
empty: not a report
a line: not a report
no headers: not a report
NUL: not a report
binary: not a report
1,000 parts within each other: not a report
multipart/report within itself: not a report
50,000 parts: not a report
100,000 groups: not a report
a long boundary: not a report
a long header: not a report
a long line: a bounce, hard
addresses: a bounce, unknown
broken base64: not a report
broken quoted-printable: a bounce, unknown
an unknown charset: a bounce, unknown
UTF-16: a bounce, unknown
control characters: a bounce, hard: 550 5.1.1 [31m? user unknown
-- 50 MB through the pipe
0 hard suppressed after its beginning
