--TEST--
mail(), captured: the same results, errors and bytes as PHP's own
--EXTENSIONS--
mailqueue
mbstring
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/capture.inc';

// Seen to fail with each of: control characters left in to and subject, folds not kept, the headers
// not trimmed, CR no line end in headers, the last line end left out.

const TO = 'ann@example.net';
const FROM = 'From: Club <club@example.org>';

$calls = [
    'plain' => ['mail', [TO, 'Hello', "Hello Ann\nBye\n", FROM]],
    'without headers' => ['mail', [TO, 'Hello', 'Hello']],
    'empty subject and text' => ['mail', [TO, '', '', FROM]],
    'to: several' => ['mail', ["ann@example.net, \"Bob, B.\" <bob@example.net>,\r\n carl@example.net", 'x', 'y', FROM]],
    'to: none, but Bcc' => ['mail', ['', 'x', 'y', FROM . "\r\nBcc: ann@example.net,\r\n bob@example.net"]],
    'encoded words' => ['mail', ['=?UTF-8?B?w4RubmU=?= <ann@example.net>', '=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=', 'y', FROM]],
    'UTF-8 in the text' => ['mail', [TO, 'x', "Schöne Grüße\n", FROM]], // in headers: message/repair.phpt
    'long lines' => ['mail', [TO, str_repeat('long subject ', 40), str_repeat('x', 998) . "\n" . str_repeat('y', 998), FROM]],
    'dots' => ['mail', [TO, 'x', ".\n..\n.x\r\n.\r\n", FROM]],
    'named arguments' => ['mail', ['to' => TO, 'subject' => 's', 'message' => 'm', 'additional_headers' => ['From' => 'a@example.org']]],
    'numbers' => ['mail', [TO, 12, 3.5, FROM]],
    'array' => ['mail', [TO, 'x', 'y', ['From' => 'Club <club@example.org>', 'Cc' => 'c@example.net', 'bcc' => 'd@example.net', 'X-Many' => ['a', 'b'], 'X-Fold' => "a\r\n b\n\tc"]]],
    'empty array' => ['mail', [TO, 'x', 'y', []]],
    'empty headers' => ['mail', [TO, 'x', 'y', " \r\n \t\0\v"]],
    'headers end' => ['mail', [TO, 'x', 'y', FROM . "\r\nX-A: b \r\n\r\n"]],
    'Bcc in three spellings' => ['mail', [TO, 'x', 'y', "BCC: a@example.net\r\nbcc: b@example.net\r\n" . FROM . "\r\nBcc:\r\n c@example.net,\r\n\td@example.net"]],
    'MIME' => ['mail', [TO, 'x', "--b\r\n\r\ntext\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>\r\n--b--", FROM . "\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative;\r\n boundary=b"]],
    'own Date and Message-ID' => ['mail', [TO, 'x', 'y', FROM . "\r\nDate: Sat, 21 Nov 2026 10:00:00 +0100\r\nMessage-ID: <a@example.org>"]],
    'Sender, no From' => ['mail', [TO, 'x', 'y', 'Sender: s@example.org']],
];
foreach (["\r\n", "\n", "\r"] as $headers_end) {
    foreach (["\r\n", "\n", "\r", "\r\n|\n", "\n\r"] as $body_end) {
        $text = implode($body_end, ['one', 'two', '', 'four', '']);
        $headers = implode($headers_end, [FROM, 'Bcc: b@example.net', 'X-Folded: a', ' b', 'X-Last: c']);
        $calls['lines: ' . json_encode([$headers_end, $body_end])] = ['mail', [TO, 'x', $text, $headers]];
    }
}
foreach (range(0, 32) + [33 => 127, 128, 160, 255] as $code) {
    $c = chr($code);
    $calls["byte $code in the text"] = ['mail', [TO, 'x', "a{$c}b", FROM]];
    if (!in_array($code, [10, 13, 128, 160, 255])) {
        $calls["byte $code in the headers"] = ['mail', [TO, 'x', 'y', FROM . "\r\nX-A: {$c}a{$c}b$c"]];
    }
    $calls["byte $code begins the headers"] = ['mail', [TO, 'x', 'y', "{$c}X-A: b"]];
    if ($code < 128) {
        $calls["byte $code in an array"] = ['mail', [TO, 'x', 'y', ['From' => 'a@example.org', 'X-A' => "{$c}a{$c}b$c"]]];
    }
    $calls["byte $code in a name"] = ['mail', [TO, 'x', 'y', ['From' => 'a@example.org', "X{$c}A" => 'b']]];
    $calls["byte $code in the parameters"] = ['mail', [TO, 'x', 'y', FROM, "-fa@example.org -X{$c}a"]];
    if ($code < 128) {
        $calls["byte $code in to"] = ['mail', ["a@example.net,{$c} b@example.net$c", 'x', 'y', FROM]];
        $calls["byte $code in the subject"] = ['mail', [TO, "{$c}a{$c}{$c}b{$c} c$c", 'y', FROM]];
    }
}
foreach (["a\r\n b", "a\r\n\tb \r\n  \t c", "a\r\nb", "a\r\n", "a\n b", "a\r b", "\r\n a", "a\r\n \r\n b", " a ", "a \0"] as $i => $text) {
    $calls["fold $i in the subject"] = ['mail', [TO, $text, 'y', FROM]];
    $calls["fold $i in to"] = ['mail', [str_replace(['a', 'b', 'c'], ['a@example.net,', 'b@example.net,', 'c@example.net'], $text), 'x', 'y', FROM]];
    if ($text !== "a\r\nb") {
        $calls["fold $i in the headers"] = ['mail', [TO, 'x', 'y', FROM . "\r\nX-A: $text\r\nX-B: c"]];
    }
}
// Arguments that PHP refuses.
foreach (["X-A: b\r\n\r\nX-C: d", "X-A: b\n\nX-C: d", "X-A: b\n\rX-C: d", "X-A: b\r\rX-C: d", "\r\nX-A: b", " X-A: b", ': b', "X-A: b\r\n\n\r\nc"] as $i => $headers) {
    $calls["refused headers $i"] = ['mail', [TO, 'x', 'y', $headers]];
}
$wrong = [
    ['a'], ['a', 'b'], [[], 'b', 'c'], ['a', [], 'c'], ['a', 'b', []], ['a', 'b', 'c', 1.5, []], [new stdClass, 'b', 'c'],
    ["a\0", 'b', 'c'], ['a', "b\0", 'c'], ['a', 'b', "c\0"], ['a', 'b', 'c', "d\0e"], ['a', 'b', 'c', '', "e\0"],
    ['a', 'b', 'c', new stdClass], ['a', 'b', 'c', '', null], [TO, null, null, null, null], ['a', 'b', 'c', '', '', 'f'],
    ['a', 'b', 'c', ['x']], ['a', 'b', 'c', ['To' => 'x']], ['a', 'b', 'c', ['Subject' => 'x']], ['a', 'b', 'c', ['X' => 1]],
    ['a', 'b', 'c', ['From' => ['x']]], ['a', 'b', 'c', ['X' => ['k' => 'v']]], ['a', 'b', 'c', ['X' => [1]]], ['a', 'b', 'c', ['X' => null]],
    ['a', 'b', 'c', ['X' => "a\r\nBcc: x"]], ['a', 'b', 'c', ['X' => "a\nb"]], ['a', 'b', 'c', ['X' => "a\rb"]], ['a', 'b', 'c', ['X' => "a\0b"]],
    ['a', 'b', 'c', ['X Y' => 'b']], ['a', 'b', 'c', ['X:' => 'b']], ['a', 'b', 'c', ['Bcc' => ['a', 'b']]], ['nobody' => 'a'],
];
foreach ($wrong as $i => $arguments) {
    if (isset($arguments[0]) && $arguments[0] === 'a') {
        $arguments[0] = TO;
    }
    $calls["wrong arguments $i"] = ['mail', $arguments];
}
echo count($calls), " calls\n";
compare($calls);
echo "with mail.add_x_header and mail.mixed_lf_and_crlf\n";
// With a line of its own before them, PHP does not check how the headers begin; the queue does.
unset($calls['refused headers 6']);
$calls = array_filter($calls, fn($name) => !str_ends_with($name, 'begins the headers'), ARRAY_FILTER_USE_KEY);
compare($calls, ['mail.add_x_header' => 1, 'mail.mixed_lf_and_crlf' => 1]);
?>
--EXPECT--
385 calls
all the same
with mail.add_x_header and mail.mixed_lf_and_crlf
all the same
