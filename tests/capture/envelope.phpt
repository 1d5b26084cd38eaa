--TEST--
mail(), captured: the envelope is that of sendmail -t -i followed by the fifth argument
--EXTENSIONS--
mailqueue
mbstring
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/capture.inc';

// Seen to fail with each of: -r, -F or a value in the next word forgotten, quotes left in words,
// the first -f instead of the last, recipients of the parameters left out, Sender not looked at.

const TO = 'ann@example.net';
const FROM = 'From: Club <club@example.org>';

/** The envelope's sender and recipients, the From that was added, or the error. */
function envelopes(array $calls, array $settings = []): void
{
    $calls = array_map(fn($arguments) => ['mail', [TO, 'x', 'y', ...$arguments]], $calls);
    $local = posix_getpwuid(posix_geteuid())['name'] . '@';
    foreach (called($calls, true, $settings) as $name => $result) {
        $queued = $result['queued'];
        echo "$name: ";
        if ($queued === null) {
            // Other tests check the error's text: here the field is enough.
            $said = preg_replace('/(was not queued[^:]*: [\w-]+): .*/', '$1', implode(' ', $result['said']));
            echo json_encode($result['result']), " $said\n";
            continue;
        }
        $text = "<$queued[from]> " . implode(' ', $queued['to']);
        $headers = explode("\r\n\r\n", $queued['message'])[0];
        if (!str_contains($headers, FROM)) {
            $text .= ' ' . implode(' ', preg_grep('/^(From|Sender):/', explode("\r\n", $headers)));
        }
        $text .= $queued['fields'] === null ? '' : " $queued[fields]";
        // The user's full name comes from passwd(5) or the environment.
        $text = preg_replace('/From: (?!"A|=\?)[^<]*</', 'From: <', str_replace($local, 'USER@', $text));
        echo preg_replace('/(?<=USER@|www@)[\w.-]+/', 'HOST', $text), "\n";
    }
}

envelopes([
    'From' => [FROM],
    'Sender' => [FROM . "\r\nSender: office@example.org"],
    'nothing' => [],
    'Sender alone' => ['Sender: office@example.org'],
    'Resent' => [FROM . "\r\nResent-From: r@example.org\r\nResent-To: s@example.net\r\nBcc: b@example.net"],
    'Cc and Bcc' => [FROM . "\r\nCc: \"C, C\" <c@example.net>, ann@example.net\r\nBcc: b@example.net,\r\n d@example.net"],
    'group' => [FROM . "\r\nCc: undisclosed-recipients:;"],
    'users of this host' => [FROM . "\r\nCc: www, Name <www>, \"W, W\" <www> , www (the server), <www>\r\nBcc: a.b@example.net,www"],
    'From: a user' => ['From: www (the server)'],
    'From: no address' => ['From: Our Club'],
    'From: two' => ['From: a@example.org, b@example.org'],
    'From: a bad one, Sender' => ["From: Our Club\r\nSender: s@example.org"],
    'old syntax' => ["From : a@example.org\r\nCc\t: c@example.net\r\nBcc  : b@example.net"],
    'Bcc after the headers' => [FROM . "\r\nThis is no header\r\nBcc: b@example.net"],
]);
echo "\n";
foreach ([
    '-fbounce@example.org', '-f bounce@example.org', "-f'bounce@example.org'", '-f "bounce@example.org"',
    '-r bounce@example.org', '-rbounce@example.org', '-oi -f bounce@example.org', '-t -i -fbounce@example.org',
    '-tif bounce@example.org', '-f <bounce@example.org>', '-f a@example.org -fb@example.org', "-fo'brien@example.org",
    "\t-f\t  bounce@example.org \t", "-fbounce@example.org\n", '-f bounce@münchen.example',
    '-f <>', "-f ''", '-f ""', '-f', '-fwww',
    '-F "A Name" -f bounce@example.org', '-f bounce@example.org -F Name', '-ODeliveryMode=b', '-O DeliveryMode=b', '-C/x -X /tmp/log -q -bm -N never -R hdrs -V id -p x -h 3 -L tag -B 8BITMIME',
    '-N success,failure -N delay -Rfull', '-N maybe -R all -V "a b"', '-N never,success -V id', '-N never',
    '-o i', '-d0-99 -v', '--from=x', '', ' ', '-',
    'more@example.net', 'more@example.net,two@example.net three@example.net', '-f bounce@example.org more@example.net', '-- -f@example.net', '-f bounce@example.org -- more@example.net',
    '-f www b@example.org', '-f "a b@example.org"', '-fa@b@example.org', '-f a@example.org;id', '-f $(id)@example.org', '-f `id`@example.org', "-fa@example.org\nmore@example.net", "-f a@example.org\\", 'root', '-f ' . str_repeat('x', 70000) . '@example.org',
] as $parameters) {
    $calls[json_encode(strlen($parameters) < 200 ? $parameters : substr($parameters, 0, 10), JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE)] = [FROM, $parameters];
}
envelopes($calls);
echo "\nrecipients of the command line\n";
envelopes([
    'beside Resent-To' => [FROM . "\r\nResent-From: r@example.org\r\nResent-To: s@example.net", 'more@example.net'],
    'beside Resent-From alone' => [FROM . "\r\nResent-From: r@example.org", 'more@example.net'],
    'a signed message' => [FROM . "\r\nDKIM-Signature: v=1; h=from\r\nCc: a@example.net", 'more@example.net'],
    'a signed Bcc' => [FROM . "\r\nDKIM-Signature: v=1; h=from:bcc", 'more@example.net ann@example.net'],
    'after a trace field' => ["Received: x\r\n" . FROM . "\r\nResent-To: r@example.org", 'more@example.net'],
    'a blank before the colon' => [FROM . "\r\nResent-To : r@example.org", 'more@example.net'],
    'after a CR' => [FROM . "\r\nX: y\rResent-To: r@example.org", 'more@example.net'],
    'after a line of text' => [FROM . "\r\nnocolon\r\nResent-To: r@example.org", 'more@example.net'],
    'two blocks' => [FROM . "\r\nResent-From: a@example.org\r\nResent-Bcc: r@example.org\r\nResent-From: b@example.org\r\nResent-Bcc: s@example.org",
        'more@example.net'],
    'a user of this host, signed' => ["From: root\r\nDKIM-Signature: v=1; h=from:to\r\nCc: root", ''],
]);
echo "\nwithout From\n";
envelopes([
    '-f' => ['', '-fbounce@example.org'], '-f <>' => ['', '-f <>'], '-fwww' => ['', '-fwww'],
    '-F' => ['', '-F "A. \"Name\"" -fbounce@example.org'], '-F Ä' => ['', '-F Ä -fbounce@example.org'],
]);
echo "\nsendmail_from\n";
envelopes(['From' => [FROM], 'nothing' => [], '-f' => ['', '-fbounce@example.org'], '-f <>' => ['', '-f <>']],
    ['sendmail_from' => 'ini@example.org']);
envelopes(['bad' => []], ['sendmail_from' => 'a b@example.org']);
echo "\nmail.force_extra_parameters\n";
envelopes(['forced' => [FROM, '-fbounce@example.org more@example.net'], 'alone' => [FROM]], ['mail.force_extra_parameters' => '-f forced@example.org']);
echo "\nsendmail_path\n";
$path = "/usr/bin/env catchmail -a acco\\ unt -f 'path@example.org' --smtp-port 25 -t -i";
envelopes(['path' => [FROM], 'and -f' => [FROM, '-fbounce@example.org']], ['sendmail_path' => $path]);
echo "\ntwo fields where there may be one\n";
$headers = FROM . "\r\nTo: Ann <ann@example.net>\r\nBcc: b@example.net\r\nSubject: z\r\nTo: c@example.net";
foreach (['' => $headers, 'signed ' => "$headers\r\nDKIM-Signature: v=1; h=from"] as $name => $with) {
    $queued = called(['two' => ['mail', [TO, 'x', 'y', $with]]], true)['two']['queued'];
    [$head] = explode("\r\n\r\n", $queued['message']);
    echo $name, implode(' ', $queued['to']), "\n", implode("\n", preg_grep('/^(To|Bcc|Subject|\s)/', explode("\r\n", $head))), "\n";
}
?>
--EXPECT--
From: <club@example.org> ann@example.net
Sender: <office@example.org> ann@example.net
nothing: <USER@HOST> ann@example.net From: <USER@HOST>
Sender alone: <office@example.org> ann@example.net From: <USER@HOST> Sender: office@example.org
Resent: <r@example.org> s@example.net
Cc and Bcc: <club@example.org> ann@example.net c@example.net b@example.net d@example.net
group: <club@example.org> ann@example.net
users of this host: <club@example.org> ann@example.net www@HOST a.b@example.net
From: a user: <www@HOST> ann@example.net From: www@HOST (the server)
From: no address: <USER@HOST> ann@example.net From: Our Club
From: two: <a@example.org> ann@example.net From: a@example.org, b@example.org
From: a bad one, Sender: <s@example.org> ann@example.net From: Our Club Sender: s@example.org
old syntax: <a@example.org> ann@example.net c@example.net b@example.net From: a@example.org
Bcc after the headers: <club@example.org> ann@example.net

"-fbounce@example.org": <bounce@example.org> ann@example.net
"-f bounce@example.org": <bounce@example.org> ann@example.net
"-f'bounce@example.org'": <bounce@example.org> ann@example.net
"-f \"bounce@example.org\"": <bounce@example.org> ann@example.net
"-r bounce@example.org": <bounce@example.org> ann@example.net
"-rbounce@example.org": <bounce@example.org> ann@example.net
"-oi -f bounce@example.org": <bounce@example.org> ann@example.net
"-t -i -fbounce@example.org": <bounce@example.org> ann@example.net
"-tif bounce@example.org": <bounce@example.org> ann@example.net
"-f <bounce@example.org>": <bounce@example.org> ann@example.net
"-f a@example.org -fb@example.org": <b@example.org> ann@example.net
"-fo'brien@example.org": <o'brien@example.org> ann@example.net
"\t-f\t  bounce@example.org \t": <bounce@example.org> ann@example.net
"-fbounce@example.org\n": <bounce@example.org> ann@example.net
"-f bounce@münchen.example": <bounce@xn--mnchen-3ya.example> ann@example.net
"-f <>": <> ann@example.net
"-f ''": <> ann@example.net
"-f \"\"": <> ann@example.net
"-f": <club@example.org> ann@example.net
"-fwww": <www@HOST> ann@example.net
"-F \"A Name\" -f bounce@example.org": <bounce@example.org> ann@example.net
"-f bounce@example.org -F Name": <bounce@example.org> ann@example.net
"-ODeliveryMode=b": <club@example.org> ann@example.net
"-O DeliveryMode=b": <club@example.org> ann@example.net
"-C/x -X /tmp/log -q -bm -N never -R hdrs -V id -p x -h 3 -L tag -B 8BITMIME": <club@example.org> ann@example.net {"dsn":"NOTIFY=NEVER RET=HDRS ENVID=id"}
"-N success,failure -N delay -Rfull": <club@example.org> ann@example.net {"dsn":"NOTIFY=DELAY RET=FULL"}
"-N maybe -R all -V \"a b\"": <club@example.org> ann@example.net
"-N never,success -V id": <club@example.org> ann@example.net {"dsn":"ENVID=id"}
"-N never": <club@example.org> ann@example.net {"dsn":"NOTIFY=NEVER"}
"-o i": <club@example.org> ann@example.net
"-d0-99 -v": <club@example.org> ann@example.net
"--from=x": <club@example.org> ann@example.net
"": <club@example.org> ann@example.net
" ": <club@example.org> ann@example.net
"-": false 2 mail(): The mail was not queued: additional_params
"more@example.net": <club@example.org> ann@example.net more@example.net
"more@example.net,two@example.net three@example.net": <club@example.org> ann@example.net more@example.net two@example.net three@example.net
"-f bounce@example.org more@example.net": <bounce@example.org> ann@example.net more@example.net
"-- -f@example.net": false 2 mail(): The mail was not queued: additional_params
"-f bounce@example.org -- more@example.net": <bounce@example.org> ann@example.net more@example.net
"-f www b@example.org": <www@HOST> ann@example.net b@example.org
"-f \"a b@example.org\"": false 2 mail(): The mail was not queued: -f
"-fa@b@example.org": false 2 mail(): The mail was not queued: -f
"-f a@example.org;id": false 2 mail(): The mail was not queued: -f
"-f $(id)@example.org": false 2 mail(): The mail was not queued: -f
"-f `id`@example.org": <`id`@example.org> ann@example.net
"-fa@example.org\nmore@example.net": false 2 mail(): The mail was not queued: -f
"-f a@example.org\\": false 2 mail(): The mail was not queued: -f
"root": <club@example.org> ann@example.net USER@HOST
"-f xxxxxxx": false 2 mail(): The mail was not queued: -f

recipients of the command line
beside Resent-To: <r@example.org> s@example.net more@example.net
beside Resent-From alone: <r@example.org> ann@example.net more@example.net
a signed message: <club@example.org> ann@example.net a@example.net more@example.net
a signed Bcc: <club@example.org> ann@example.net more@example.net
after a trace field: <club@example.org> r@example.org more@example.net
a blank before the colon: <club@example.org> r@example.org more@example.net
after a CR: <club@example.org> r@example.org more@example.net
after a line of text: <club@example.org> ann@example.net more@example.net
two blocks: <a@example.org> r@example.org more@example.net
a user of this host, signed: <USER@HOST> ann@example.net USER@HOST From: root

without From
-f: <bounce@example.org> ann@example.net From: <bounce@example.org>
-f <>: <> ann@example.net From: <USER@HOST>
-fwww: <www@HOST> ann@example.net From: <www@HOST>
-F: <bounce@example.org> ann@example.net From: "A. \\Name\\" <bounce@example.org>
-F Ä: <bounce@example.org> ann@example.net From: =?utf-8?B?w4Q=?= <bounce@example.org>

sendmail_from
From: <club@example.org> ann@example.net
nothing: <ini@example.org> ann@example.net From: <ini@example.org>
-f: <bounce@example.org> ann@example.net From: <bounce@example.org>
-f <>: <> ann@example.net From: <ini@example.org>
bad: false 2 mail(): The mail was not queued: sendmail_from

mail.force_extra_parameters
forced: <forced@example.org> ann@example.net
alone: <forced@example.org> ann@example.net

sendmail_path
path: <path@example.org> ann@example.net
and -f: <bounce@example.org> ann@example.net

two fields where there may be one
ann@example.net b@example.net c@example.net
To: ann@example.net,
 Ann <ann@example.net>,
 c@example.net
Subject: x
signed ann@example.net b@example.net c@example.net
To: ann@example.net
Subject: x
To: Ann <ann@example.net>
Subject: z
To: c@example.net
