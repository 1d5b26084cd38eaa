--TEST--
mb_send_mail(), captured: the same results, warnings and bytes as mbstring's own
--EXTENSIONS--
mailqueue
mbstring
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/capture.inc';

// Seen to fail with each of: another indent of the subject, base64 without line ends, bytes over 127
// left in 7bit, the application's substitute character, the charset of a second parameter found.

const TO = 'ann@example.net';
const FROM = 'From: Club <club@example.org>';
const LANGUAGES = ['neutral', 'uni', 'Japanese', 'English', 'German', 'Korean', 'Russian', 'Ukrainian',
    'Turkish', 'Armenian', 'Simplified Chinese', 'Traditional Chinese'];

$texts = [
    'ASCII' => ['Hello', "Hello Ann\nBye\n"],
    'nothing' => ['', ''],
    'umlauts' => ['Schöne Grüße aus Köln', "Schöne Grüße\r\naus Köln €\r\n"],
    'Japanese' => ['日本語のとても長い件名がここにあって折り返される必要があります', "こんにちは、世界。\nカタカナ ｱｲｳ\n"],
    'Korean' => ['안녕하세요', "안녕하세요\n"],
    'Russian' => ['Привет, мир', "Привет\rмир\r"],
    'Chinese' => ['你好，世界', "你好 ~ 世界\n"],
    'emoji' => ['🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉', '👩‍👩‍👧‍👦'],
    'long' => [str_repeat('long and ünïcode ', 20), str_repeat('x', 900) . "\n" . str_repeat('ä', 300)],
    'base64 at its line ends' => ['x', str_repeat('y', 57)],
    'base64 one more' => ['x', str_repeat('y', 58)],
    'base64 two lines' => ['x', str_repeat('y', 114)],
    'not UTF-8' => ["Gr\xFC\xDFe", "Gr\xFC\xDFe"],
    'controls' => ["a\tb\x01c", "a\tb\x01c\n"],
    'subject over lines' => ["a\r\n b\r\n\tc", 'x'],
    'trailing white space' => ["Hello  ", "Hello \n \n"],
    'quoted looks' => ['=?UTF-8?B?w4Q=?= and (a) "b" = ? _', '='],
];
$calls = [];
foreach (LANGUAGES as $language) {
    foreach ($texts as $name => [$subject, $text]) {
        $calls["$language, $name"] = ['mb_send_mail', [TO, $subject, $text, FROM], 'language' => $language];
    }
    foreach ([0x25A1, 'none', 'long', 'entity'] as $substitute) {
        $calls["$language, substitute $substitute"] =
            ['mb_send_mail', [TO, '☃ and 日本', '☃ and ü 日本 🎉'], 'language' => $language, 'substitute' => $substitute];
    }
}
foreach (['SJIS', 'EUC-JP', 'ISO-8859-1', 'Windows-1252', 'UTF-16BE', 'ISO-2022-JP', 'ASCII'] as $encoding) {
    foreach (['neutral', 'Japanese', 'German'] as $language) {
        foreach (['umlauts', 'Japanese', 'ASCII'] as $name) {
            [$subject, $text] = mb_convert_encoding($texts[$name], $encoding, 'UTF-8');
            if ($encoding !== 'UTF-16BE') {
                $calls["$encoding as $language, $name"] =
                    ['mb_send_mail', [TO, $subject, $text, FROM], 'language' => $language, 'encoding' => $encoding];
            }
        }
    }
}
$types = ['text/plain', 'text/plain; charset=ISO-8859-1', 'text/plain;charset="ISO-8859-1"', 'text/plain; Charset = ISO-8859-15',
    'text/plain; charset=ISO-8859-1; format=flowed', 'text/plain; format=flowed; charset=ISO-8859-1', 'text/plain; charset="utf-8"; x=y',
    "text/plain;\r\n charset=ISO-8859-1", "text/plain;\n charset=ISO-8859-1", "text/plain; charset=ISO-8859-1\r\n ; x=y", 'text/plain; charset=none',
    'text/plain; charset=', 'text/plain;', 'text/plain; ', 'text/plain; charset', 'text/html; charset=ISO-2022-JP', 'text/plain; charset=UTF-16', 'text/plain; charset=Shift_JIS',
    'text/plain; charset=US-ASCII', 'multipart/mixed; boundary=b; charset=x'];
$transfers = [null, 'base64', 'BASE64', '7bit', '8bit', 'binary', 'quoted-printable', 'x', "7\r\n bit"];
foreach ([...$types, null] as $type) {
    foreach ($type === null || $type === $types[1] ? $transfers : $transfers + [] as $transfer) {
        foreach ([null, '1.0'] as $version) {
            $lines = [FROM];
            $type === null || $lines[] = "Content-Type: $type";
            $version === null || $lines[] = "MIME-Version: $version";
            $transfer === null || $lines[] = "content-transfer-encoding: $transfer";
            $calls['fields ' . json_encode([$type, $transfer, $version])] =
                ['mb_send_mail', [TO, 'Köln', "Köln ☃\nx", implode("\r\n", $lines)], 'language' => 'German'];
        }
    }
}
$headers = [
    'none' => '', 'null' => null, 'space' => " \r\n", 'array' => ['From' => 'a@example.org', 'Content-Type' => 'text/html; charset=ISO-8859-1'],
    'empty array' => [], 'LF' => FROM . "\nContent-Type: text/html; charset=ISO-8859-1\nX-A: b",
    'CR' => FROM . "\rContent-Type: text/html; charset=ISO-8859-1\rX-A: b", 'empty value' => "X-A:\r\nMIME-Version:\r\nX-B: c",
    'last value empty' => "X-A: b\r\nMIME-Version:", 'no space' => "X-A:b\r\nMIME-Version:1.0", 'twice' => "Content-Type: text/html\r\nContent-Type: text/plain; charset=ISO-8859-1",
    'folded version' => "MIME-Version:\r\n 1.0\r\nContent-Type: text/plain; charset=ISO-8859-1", 'colons' => "X-A: b: c: d\r\nContent-Type: text/html; charset=ISO-8859-1: x", 'controls' => "X-A: \x01\r\nContent-Type: text/html",
    'case' => "CONTENT-TYPE: TEXT/HTML; CHARSET=iso-8859-1\r\ncontent-Transfer-encoding: 8BIT",
    'folded before' => "X-A: b\r\n c\r\nContent-Type: text/html; charset=ISO-8859-1", 'white folds' => "X-A: b\r\n \r\nContent-Type: text/html; charset=ISO-8859-1",
    'tabs' => "X-A:\tb\r\n\tc\r\nContent-Type:\ttext/html;\tcharset=ISO-8859-1", 'two CRs' => "X-A: b\r\r\nC: d", 'empty line' => "X-A: b\r\n\r\nC: d",
    'bad line first' => ": x\r\nA: b", 'CR in it' => "X-A: b\rc: d\r\nMIME-Version: 1.0",
];
foreach ($headers as $name => $value) {
    foreach (['neutral', 'German', 'Japanese'] as $language) {
        $calls["headers: $name, $language"] = ['mb_send_mail', [TO, 'Köln', 'Köln', $value], 'language' => $language];
    }
}
foreach ([[], ['a'], [[], 'b', 'c'], ["a\0", 'b', 'c'], [TO, "b\0", 'c'], [TO, 'b', "c\0"], [TO, 'b', 'c', "d\0e"], [TO, 'b', 'c', '', "e\0"],
    [TO, 'b', 'c', '', null], [TO, 'b', 'c', '', []], [TO, null, null], [TO, 'b', 'c', ['To' => 'x']], [TO, 'b', 'c', ['X' => "a\nb"]],
    ["$" . TO . " \r\n", 'b', 'c'], ["a@example.net,\x01b@example.net,\r\n c@example.net", 'b', 'c', FROM, '-fx@example.org']] as $i => $arguments) {
    $calls["arguments $i"] = ['mb_send_mail', $arguments];
}
echo count($calls), " calls\n";
compare($calls);
echo "with mail.mixed_lf_and_crlf and mail.add_x_header\n";
$calls = array_filter($calls, fn($name) => preg_match('/^(neutral|German|Japanese|headers: [^b])/', $name), ARRAY_FILTER_USE_KEY);
compare($calls, ['mail.add_x_header' => 1, 'mail.mixed_lf_and_crlf' => 1]);
?>
--EXPECT--
765 calls
all the same
with mail.mixed_lf_and_crlf and mail.add_x_header
all the same
