--TEST--
mail.log has the same lines whether a mail is captured or not
--EXTENSIONS--
mailqueue
mbstring
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/capture.inc';

// Seen to fail with the line left out, with its line ends kept, and with the headers written that
// PHP adds itself.

const TO = 'ann@example.net';
const FROM = 'From: Club <club@example.org>';
$calls = [
    'plain' => ['mail', [TO, 'Hello', "Hello Ann\n", FROM]],
    'folds' => ['mail', ["ann@example.net,\r\n bob@example.net", "a\r\n b", 'y', FROM . "\r\nX-A: b\n c"]],
    'folds, no headers' => ['mail', ["ann@example.net,\r\n bob@example.net", "a\r\n b", 'y']],
    'malformed' => ['mail', [TO, 'x', 'y', "X-A: b\r\n\r\nX-B: c"]],
    'wrong' => ['mail', [TO, 'x', "y\0"]],
    'mb_send_mail' => ['mb_send_mail', [TO, 'Grüße', 'Grüße', FROM]],
    'array' => ['mail', [TO, 'x', 'y', ['From' => 'a@example.org', 'X' => ['b', 'c']]]],
];
$write = function (bool $captured, array $settings) use ($calls): string {
    $log = temp_directory() . '/mail.log';
    $results = called($calls, $captured, $settings + ['mail.log' => $log]);
    must(count(array_filter(array_column($results, $captured ? 'queued' : 'sent'))) === 5, 'five mails');
    return preg_replace('/^\[\d\d-\w{3}-\d{4} \d\d:\d\d:\d\d [\w\/+:]+\]/m', '[time]', file_get_contents($log));
};
$php = $write(false, ['mail.add_x_header' => 1]);
echo $php;
foreach (['fail', 'send'] as $policy) {
    $ours = $write(true, ['mail.add_x_header' => 1, 'mailqueue.capture_failure' => $policy]);
    echo "$policy: ", $ours === $php ? "the same\n" : $ours;
}

/* A log that cannot be written does not prevent sending, and is reported. */
foreach ([false, true] as $captured) {
    $result = called(['plain' => $calls['plain']], $captured, ['mail.log' => '/nowhere/mail.log'])['plain'];
    $said = str_replace('mail(/nowhere/mail.log)', 'mail()', $result['said']); // before PHP 8.6
    echo json_encode([$result['result'], $said, (bool) ($result['queued'] ?? $result['sent'])], JSON_UNESCAPED_SLASHES), "\n";
}

/* An error handler may throw: before the mail is stored, as PHP's own function does, not after. */
$code = 'set_error_handler(function ($level, $text) { throw new ErrorException($text, 0, $level); });
    try { var_dump(mail("ann@example.net", "x", "y", "From: club@example.org")); } catch (ErrorException $e) { echo "thrown\n"; }
    echo MailQueue::default()->stats()->pending, " queued\n";';
foreach (['fail', 'send'] as $policy) {
    echo "$policy: ", output_of($code, ['mailqueue.capture_mail' => 1, 'mailqueue.capture_failure' => $policy,
        'mailqueue.database' => database(), 'mail.log' => '/nowhere/mail.log']);
}
?>
--EXPECT--
[time] mail() on [Command line code:38]: To: ann@example.net -- Headers: From: Club <club@example.org> -- Subject: Hello
[time] mail() on [Command line code:38]: To: ann@example.net,   bob@example.net -- Headers: From: Club <club@example.org>  X-A: b  c -- Subject: a   b
[time] mail() on [Command line code:38]: To: ann@example.net,
 bob@example.net -- Headers:  -- Subject: a
 b
[time] mail() on [Command line code:38]: To: ann@example.net -- Headers: X-A: b    X-B: c -- Subject: x
[time] mail() on [Command line code:38]: To: ann@example.net -- Headers: From: Club <club@example.org>  MIME-Version: 1.0  Content-Type: text/plain; charset=UTF-8  Content-Transfer-Encoding: BASE64 -- Subject: =?UTF-8?B?R3LDvMOfZQ==?=
[time] mail() on [Command line code:38]: To: ann@example.net -- Headers: From: a@example.org  X: b  X: c -- Subject: x
fail: the same
send: the same
[true,["2 mail(): Failed to open stream: No such file or directory"],true]
[true,["2 mail(): Failed to open stream: No such file or directory"],true]
fail: thrown
0 queued
send: bool(true)
1 queued
