--TEST--
mail(), captured, stores the same as through sendmail_path = mailqueue sendmail
--EXTENSIONS--
mailqueue
mbstring
pdo_sqlite
posix
--FILE--
<?php
require __DIR__ . '/capture.inc';

// Seen to fail with: no domain for users of this host, From at another place, a blank before the
// colon kept, lines after one that is not a field taken for headers.

const TO = 'ann@example.net';
const FROM = 'From: Club <club@example.org>';
$calls = [
    'plain' => [TO, 'Hello', "Hello Ann\nBye\n", FROM],
    'nothing' => [TO, '', ''],
    'three Bcc' => ['', 'x', 'y', FROM . "\r\nBcc: a@example.net\nBCC:\r\n b@example.net,\r\n\tc@example.net\r\nX-A: b"],
    'array' => [TO, 'x', 'y', ['From' => 'a@example.org', 'X-Many' => ['b', 'c']]],
    'mixed lines' => [TO, 'x', "a\r\nb\nc\rd", FROM . "\nX-A: b\r\nX-B: c"],
    '-f' => [TO, 'x', 'y', FROM, '-fbounce@example.org'],
    '-f <>' => [TO, 'x', 'y', '', '-f <>'],
    '-f and -F' => [TO, 'x', 'y', '', '-fbounce@example.org -F "A. Name"'],
    '-F Ä' => [TO, 'x', 'y', '', '-F Äpfel'],
    '-fwww' => [TO, 'x', 'y', '', '-fwww'],
    'more recipients' => [TO, 'x', 'y', FROM, '-oi b@example.net,c@example.net ann@example.net www'],
    '-- and options' => [TO, 'x', 'y', FROM, '-N never -V id -- b@example.net'],
    '-R and more -N' => [TO, 'x', 'y', FROM, '-N success -R hdrs -N failure,DELAY -Va+b=c'],
    'quoted words' => [TO, 'x', 'y', FROM, "-f 'bounce@example.org' \"b@example.net\" o'brien@example.net"],
    'users' => ['www, Name <www>', 'x', 'y', "From: www (the server)\r\nCc: \"W, W\" <www>, undisclosed-recipients:;\r\nSender: s@example.org"],
    'From that is none' => [TO, 'x', 'y', 'From: Our Club'],
    'Sender, no From' => [TO, 'x', 'y', 'Sender: s@example.org'],
    'Resent' => [TO, 'x', 'y', FROM . "\r\nResent-From: r@example.org\r\nResent-Bcc: s@example.net"],
    'old syntax' => [TO, 'x', 'y', "From : a@example.org\r\nBcc\t: b@example.net"],
    'no field' => [TO, 'x', 'y', FROM . "\r\nno field\r\nBcc : b@example.net\r\nnor this"],
    'no field at once' => [TO, 'x', 'y', 'no field'],
    'UTF-8' => [TO, 'Grüße', "Schöne Grüße\n", FROM . "\r\nX-City: Köln"],
    'own Date and Message-ID' => [TO, 'x', 'y', FROM . "\r\nDate: Sat, 21 Nov 2026 10:00:00 +0100\r\nMessage-ID: <a@example.org>"],
    'IDN' => ['ann@münchen.example', 'x', 'y', FROM],
    'long line' => [TO, 'x', str_repeat('y', 999), FROM],
    'Latin-1' => [TO, "\xFC", 'y', FROM],
    // Refused.
    'no recipient' => ['', 'x', 'y', FROM],
    'bad recipient' => ['a@@example.net', 'x', 'y', FROM],
    'option for a recipient' => ['-oQ/tmp@example.net', 'x', 'y', FROM],
    'bad -f' => [TO, 'x', 'y', FROM, '-f a@'],
];
$calls = array_map(fn($arguments) => ['mail', $arguments], $calls);
// 8.6.0RC3 loses the fifth parameter here where mail.force_extra_parameters is unset.
$fifth = PHP_VERSION_ID < 80600 ? ['-fbounce@example.org'] : [];
$calls['mb_send_mail'] = ['mb_send_mail', [TO, 'Grüße', "Schöne Grüße\n", FROM, ...$fifth], 'language' => 'German'];

$program = array_map(fn($word) => str_contains($word, '{') ? $word : escapeshellarg($word),
    php_command(dirname(__DIR__, 2) . '/bin/mailqueue', 'sendmail', '--database={directory}/mail.db', '-t', '-i'));
$direct = called($calls, false, ['sendmail_path' => implode(' ', $program) . ' 2>/dev/null']);
$same = 0;
foreach (called($calls, true) as $name => $captured) {
    $rows = [$direct[$name], $captured];
    foreach ($rows as &$row) {
        $message = preg_replace(['/^Date: .*\r\n/m', '/^Message-ID: <\w{32}@.*\r\n/m'], '', $row['queued']['message'] ?? '');
        $message = preg_replace('/=\?utf-8\?/i', '=?UTF-8?', $message);
        $message = preg_replace('/\bwww@[\w.-]+/', 'www', $message); // mail() qualifies the headers too
        $row = ['result' => $row['result'], 'message' => $message] + ($row['queued'] ?? ['to' => []]);
        sort($row['to']);
    }
    $same += $rows[0] === $rows[1];
    echo $rows[0] === $rows[1] ? '' : "$name: " . json_encode($rows, JSON_INVALID_UTF8_SUBSTITUTE) . "\n";
}
echo "$same of ", count($calls), ", queued: ", count(array_filter(array_column($direct, 'queued'))), "\n";
?>
--EXPECT--
31 of 31, queued: 27
