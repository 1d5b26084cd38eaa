--TEST--
mb_send_mail(), captured: the same results and bytes as mbstring's own, except where mbstring misreads its arguments
--EXTENSIONS--
mailqueue
mbstring
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/capture.inc';

// Seen to fail with each of: another indent of the subject, base64 without line ends, bytes over 127
// in what says 7bit, a charset of a second parameter or after a fold not found.

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
}
foreach (['neutral', 'uni'] as $language) { // which can encode every character
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
    'text/plain; charset="utf-8"; x=y', 'text/plain; charset=', 'text/plain;', 'text/plain; ', 'text/plain; charset',
    'text/html; charset=ISO-2022-JP', 'text/plain; charset=Shift_JIS', 'text/plain; charset=US-ASCII', null];
$transfers = [null, 'base64', 'BASE64', '7bit', '8bit', 'binary', 'quoted-printable', 'x', "7\r\n bit"];
/** The lines of these header fields. */
$lines = function (?string $type, ?string $transfer, ?string $version): string {
    $fields = ['Content-Type' => $type, 'MIME-Version' => $version, 'content-transfer-encoding' => $transfer];
    $lines = [FROM];
    foreach (array_filter($fields, fn($value) => $value !== null) as $name => $value) {
        $lines[] = "$name: $value";
    }
    return implode("\r\n", $lines);
};
foreach ($types as $type) {
    foreach ($transfers as $transfer) {
        foreach ([null, '1.0'] as $version) {
            $text = $transfer === '7bit' ? "Koeln\nx" : "Köln ☃\nx";
            $calls['fields ' . json_encode([$type, $transfer, $version])] =
                ['mb_send_mail', [TO, 'Köln', $text, $lines($type, $transfer, $version)], 'language' => 'German'];
        }
    }
}
$headers = [
    'none' => '', 'null' => null, 'space' => " \r\n", 'array' => ['From' => 'a@example.org', 'Content-Type' => 'text/html; charset=ISO-8859-1'],
    'empty array' => [], 'LF' => FROM . "\nContent-Type: text/html; charset=ISO-8859-1\nX-A: b",
    'empty value' => "X-A:\r\nMIME-Version:\r\nX-B: c", 'no space' => "X-A:b\r\nMIME-Version:1.0", 'twice' => "Content-Type: text/html\r\nContent-Type: text/plain; charset=ISO-8859-1",
    'controls' => "X-A: \x01\r\nContent-Type: text/html",
    'case' => "CONTENT-TYPE: TEXT/HTML; CHARSET=iso-8859-1\r\ncontent-Transfer-encoding: 8BIT",
    'folded before' => "X-A: b\r\n c\r\nContent-Type: text/html; charset=ISO-8859-1", 
    'tabs' => "X-A:\tb\r\n\tc\r\nContent-Type:\ttext/html;\tcharset=ISO-8859-1", 'two CRs' => "X-A: b\r\r\nC: d", 'empty line' => "X-A: b\r\n\r\nC: d",
    'bad line first' => ": x\r\nA: b", 'CR in it' => "X-A: b\rc: d\r\nMIME-Version: 1.0",
];
foreach ($headers as $name => $value) {
    foreach (['neutral', 'German', 'Japanese'] as $language) {
        $text = $language === 'Japanese' ? 'Koeln' : 'Köln';
        $calls["headers: $name, $language"] = ['mb_send_mail', [TO, 'Köln', $text, $value], 'language' => $language];
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

echo "-- better than mbstring's\n";
/** The mail as a recipient reads it. */
$read = function (?array $queued): string {
    if ($queued === null) {
        return 'nothing';
    }
    [$fields, $body] = fields_of($queued['message']);
    $fields = array_column($fields, 1, 0);
    $type = preg_replace('/\s+/', ' ', $fields['content-type']);
    $transfer = preg_replace('/^.*:\s*/', '', $fields['content-transfer-encoding']);
    $charset = preg_match('/charset\s*=\s*"?([^\s";]+)/i', $type, $match) ? $match[1] : 'UTF-8';
    $body = strcasecmp($transfer, 'base64') === 0 ? base64_decode($body) : $body;
    $text = in_array(strtolower($charset), array_map('strtolower', mb_list_encodings()), true) ? mb_convert_encoding($body, 'UTF-8', $charset) : $body;
    return mb_decode_mimeheader($fields['subject']) . " | $type | $transfer | " . trim($text);
};
$calls = [];
foreach (['none', 'long', 'entity'] as $substitute) { // the application's choice, for the text too
    $calls["substitute $substitute"] = ['mb_send_mail', [TO, 'x', '☃ and ü 日本', FROM], 'language' => 'German', 'substitute' => $substitute];
}
foreach (['text/plain; charset=ISO-8859-1; format=flowed', 'text/plain; format=flowed; charset=ISO-8859-1', "text/plain;\r\n charset=ISO-8859-1",
    "text/plain;\n charset=ISO-8859-1", "text/plain; charset=ISO-8859-1\r\n ; x=y", 'text/plain; charset=none',
    'multipart/mixed; boundary=b; charset=x', 'text/plain; charset=UTF-16'] as $type) {
    $calls[$type] = ['mb_send_mail', [TO, 'Köln', 'Köln', $lines($type, null, '1.0')], 'language' => 'neutral'];
}
$calls['7bit, which it is not'] = ['mb_send_mail', [TO, 'Köln', 'Köln', $lines(null, '7bit', null)], 'language' => 'German'];
$html = 'Content-Type: text/html; charset=ISO-8859-1';
foreach (['the language is 7bit' => $html, 'CR' => FROM . "\r$html\rX-A: b", 'last value empty' => "X-A: b\r\nMIME-Version:",
    'folded version' => "MIME-Version:\r\n 1.0\r\n$html", 'white folds' => "X-A: b\r\n \r\n$html"] as $name => $value) {
    $calls[$name] = ['mb_send_mail', [TO, 'Köln', 'Köln', $value], 'language' => 'Japanese'];
}
foreach (called($calls, true) as $name => $result) {
    echo json_encode($name), ': ', $read($result['queued']), implode(' ', ['', ...$result['said']]), "\n";
}
?>
--EXPECT--
566 calls
all the same
with mail.mixed_lf_and_crlf and mail.add_x_header
all the same
-- better than mbstring's
"substitute none": Subject: x | Content-Type: text/plain; charset=ISO-8859-15 | 8bit | and ü
"substitute long": Subject: x | Content-Type: text/plain; charset=ISO-8859-15 | 8bit | U+2603 and ü U+65E5U+672C
"substitute entity": Subject: x | Content-Type: text/plain; charset=ISO-8859-15 | 8bit | &#x2603; and ü &#x65E5;&#x672C;
"text\/plain; charset=ISO-8859-1; format=flowed": Subject: Köln | Content-Type: text/plain; charset=ISO-8859-1; format=flowed | BASE64 | Köln
"text\/plain; format=flowed; charset=ISO-8859-1": Subject: Köln | Content-Type: text/plain; format=flowed; charset=ISO-8859-1 | BASE64 | Köln
"text\/plain;\r\n charset=ISO-8859-1": Subject: Köln | Content-Type: text/plain; charset=ISO-8859-1 | BASE64 | Köln
"text\/plain;\n charset=ISO-8859-1": Subject: Köln | Content-Type: text/plain; charset=ISO-8859-1 | BASE64 | Köln
"text\/plain; charset=ISO-8859-1\r\n ; x=y": Subject: Köln | Content-Type: text/plain; charset=ISO-8859-1 ; x=y | BASE64 | Köln
"text\/plain; charset=none": Subject: Köln | Content-Type: text/plain; charset=none | BASE64 | Köln
"multipart\/mixed; boundary=b; charset=x": Subject: Köln | Content-Type: multipart/mixed; boundary=b; charset=x | BASE64 | Köln
"text\/plain; charset=UTF-16": Subject: Köln | Content-Type: text/plain; charset=UTF-16 | BASE64 | Köln
"7bit, which it is not": Subject: Köln | Content-Type: text/plain; charset=ISO-8859-15 | 7bit | Köln
"the language is 7bit": Subject: Köln | Content-Type: text/html; charset=ISO-8859-1 | BASE64 | Köln
"CR": Subject: Köln | Content-Type: text/html; charset=ISO-8859-1 | BASE64 | Köln
"last value empty": Subject: K?ln | Content-Type: text/plain; charset=ISO-2022-JP | 7bit | K?ln
"folded version": Subject: Köln | Content-Type: text/html; charset=ISO-8859-1 | BASE64 | Köln
"white folds": Subject: Köln | Content-Type: text/html; charset=ISO-8859-1 | BASE64 | Köln
