--TEST--
mailqueue bounces, when the connection is lost at any point: each bounce is recorded once and none is lost; servers that lie
--EXTENSIONS--
mailqueue
openssl
pdo_sqlite
posix
--SKIPIF--
<?php
namespace MailQueueTest;
require __DIR__ . '/mailbox.inc';
echo Dovecot::missing(mailbox: true);
?>
--FILE--
<?php
require __DIR__ . '/mailbox.inc';

use MailQueueTest\Certificates;
use MailQueueTest\Dovecot;

const N = 6;
$app = database();
$queue = new MailQueue($app);
$environment = ['MAILQUEUE_DATABASE' => $app];
$certificates = new Certificates();
$names = fn(string $prefix): array => array_map(fn(int $i): string => "$prefix$i@example.net", range(1, N));
/** How often each address bounced. */
$counts = fn(string $prefix): array => array_map(fn(string $one): int => count(MailQueue\Internal::select($queue,
    'SELECT event FROM {!} WHERE hash = ?1', [MailQueue\Internal::addressHash($queue, $one)])), $names($prefix));
$read = function (int $port, string $scheme, string ...$options) use (&$environment): array {
    $environment['MAILQUEUE_MAILBOX'] = "$scheme://b%40example.org:geheim@127.0.0.1:$port";
    return cli(['bounces', ...$options], $environment);
};

foreach (['imap' => ['--move', 'Done'], 'pop3' => ['--delete']] as $scheme => $options) {
    $dovecot = new Dovecot(['b@example.org' => 'geheim'], mailbox: $certificates->issue());
    $dovecot->folder('Done');
    $proxy = new CutProxy($dovecot->ports[$scheme]);
    $dovecot->deliver(...bounces_to($queue, ...$names($scheme)));
    $codes = [];
    for ($limit = 100; $limit < 40000; $limit += $limit < 3000 ? 700 : 1900) {
        $before = $counts($scheme);
        $proxy->limit($limit);
        [$code, , $errors] = $read($proxy->port, $scheme, ...$options);
        $codes[$code] = ($codes[$code] ?? 0) + 1;
        $after = $counts($scheme);
        must(max($after) <= 1 && array_sum($after) >= array_sum($before), "$scheme, cut after $limit: once each");
        must(count($dovecot->messages()) >= N - array_sum($after), "$scheme, cut after $limit: none is gone that is not recorded");
        must($code === 0 || ($code === 75 && str_contains($errors, 'closed the connection')), "$scheme, cut after $limit: $code $errors");
        if ($code === 0 && $dovecot->messages() === []) {
            break;
        }
    }
    must(isset($codes[75]) && isset($codes[0]), 'cut, and then not');
    echo "$scheme: ", implode(' ', $counts($scheme)), ', left ', count($dovecot->messages()), ', moved ', count($dovecot->messages('Done')), "\n";
}

echo "-- the database fails in the middle\n";
$dovecot = new Dovecot(['b@example.org' => 'geheim'], mailbox: $certificates->issue());
$dovecot->deliver(...bounces_to($queue, ...$names('db')));
[$middle] = MailQueue\Internal::select($queue, 'SELECT 1'); // opened
$pdo = new PDO("sqlite:$app");
$pdo->exec('CREATE TRIGGER full BEFORE INSERT ON mail_bounce WHEN (SELECT COUNT(*) FROM mail_bounce) >= ' . (2 * N + 3) . " BEGIN SELECT RAISE(ABORT, 'no room'); END");
foreach (['imap', 'pop3'] as $scheme) {
    [$code, , $errors] = $read($dovecot->ports[$scheme], $scheme, '--delete');
    echo "$code ", str_contains($errors, 'no room') ? 'no room' : $errors, ', recorded ', array_sum($counts('db')), ', left ', count($dovecot->messages()), "\n";
}
$pdo->exec('DROP TRIGGER full');
[$code, $out] = $read($dovecot->ports['pop3'], 'pop3', '--delete');
echo "$code $out", implode(' ', $counts('db')), "\n";

echo "-- servers that lie\n";
[$full] = bounces_to($queue, 'full@example.net');
$scripts = [
    'no STARTTLS' => ['imap', '?tls=required', "* OK hi\r\n", 'line', "* CAPABILITY IMAP4rev1\r\nA1 OK\r\n"],
    'no STLS' => ['pop3', '?tls=required', "+OK hi\r\n", 'line', "+OK\r\nUSER\r\n.\r\n"],
    'words before TLS' => ['imap', '?tls=required', "* OK hi\r\n", 'line', "* CAPABILITY IMAP4rev1 STARTTLS\r\nA1 OK\r\n", 'line', "A2 OK\r\n* CAPABILITY AUTH=PLAIN\r\nA3 OK\r\n"],
    'words before TLS, POP3' => ['pop3', '?tls=required', "+OK hi\r\n", 'line', "+OK\r\nSTLS\r\n.\r\n", 'line', "+OK\r\n+OK\r\nUSER\r\n.\r\n"],
    'logged in before TLS' => ['imap', '?tls=required', "* PREAUTH hi\r\n"],
    'BYE' => ['imap', '', "* BYE no\r\n"],
    'busy' => ['pop3', '', "-ERR no\r\n"],
    'another protocol' => ['imap', '', "220 smtp\r\n"],
    'a literal of 9 GB' => ['imap', '', "* OK hi\r\n", 'line', "* CAPABILITY IMAP4rev1 {9999999999}\r\n"],
    'no tag' => ['imap', '', "* OK hi\r\n", 'line', "B1 OK\r\n"],
    'no login' => ['imap', '', "* OK hi\r\n", 'line', "* CAPABILITY IMAP4rev1 LOGINDISABLED\r\nA1 OK\r\n"],
    'refused' => ['imap', '', "* OK hi\r\n", 'line', "* CAPABILITY IMAP4rev1\r\nA1 OK\r\n", 'line', "A2 NO [PRIVACYREQUIRED] \e[31mTLS\r\n"],
    'asks for the password again' => ['imap', '', "* OK hi\r\n", 'line', "* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\nA1 OK\r\n", 'line', "+\r\n", 'line', "+\r\n", 'line', "+\r\n", 'line', "A2 NO no\r\n"],
    'another message than asked for' => ['imap', '', "* OK hi\r\n", 'line', "* CAPABILITY IMAP4rev1\r\nA1 OK\r\n", 'line', "A2 OK\r\n", 'line', "* CAPABILITY IMAP4rev1\r\nA3 OK\r\n", 'line',
        "A4 OK\r\n", 'line', "* SEARCH 7\r\nA5 OK\r\n", 'line', "* 1 FETCH (UID 8 BODY[]<0> {3}\r\nabc)\r\n* 2 EXPUNGE\r\nA6 OK\r\n", 'line'],
    'a full folder' => ['imap', '', "* OK hi\r\n", 'line', "* CAPABILITY IMAP4rev1\r\nA1 OK\r\n", 'line', "A2 OK\r\n", 'line', "* CAPABILITY IMAP4rev1\r\nA3 OK\r\n", 'line', "A4 OK\r\n", 'line',
        "A5 OK\r\n", 'line', "* SEARCH 7\r\nA6 OK\r\n", 'line', '* 1 FETCH (UID 7 BODY[]<0> {' . strlen($full) . "}\r\n$full)\r\nA7 OK\r\n", 'line', "A8 NO [OVERQUOTA] full\r\n", 'line'],
    'one message that it cannot give' => ['imap', '', "* OK hi\r\n", 'line', "* CAPABILITY IMAP4rev1\r\nA1 OK\r\n", 'line', "A2 OK\r\n", 'line', "* CAPABILITY IMAP4rev1\r\nA3 OK\r\n", 'line',
        "A4 OK\r\n", 'line', "* SEARCH 7\r\n* SEARCH 8\r\n* SEARCH\r\nA5 OK\r\n", 'line', "A6 NO [SERVERBUG] damaged\r\n", 'line', "* 1 FETCH (UID 7 BODY[]<0> {14}\r\nSubject: x\r\n\r\n)\r\nA7 OK\r\n", 'line'],
];
foreach ($scripts as $what => [$scheme, $query]) {
    $environment['MAILQUEUE_MAILBOX'] = "$scheme://b:geheim@127.0.0.1:" . scripted(...array_slice($scripts[$what], 2)) . "/$query";
    [$code, $out, $errors] = cli(['bounces', ...$what === 'a full folder' ? ['--move', 'Done'] : []], $environment);
    must(!str_contains($errors, 'geheim') && !str_contains($errors, base64_encode("\0b\0geheim")), 'no password in errors');
    echo "$what: $code ", preg_replace('/:\d{4,5}\b/', ':PORT', $out . $errors);
}
echo count($queue->suppression('full@example.net')), "\n";
?>
--EXPECT--
imap: 1 1 1 1 1 1, left 0, moved 6
pop3: 1 1 1 1 1 1, left 0, moved 0
-- the database fails in the middle
78 no room, recorded 3, left 3
78 no room, recorded 3, left 3
0 3 looked at, 3 recorded, deleted: 3 hard; 3 suppressed.
1 1 1 1 1 1
-- servers that lie
no STARTTLS: 69 mailqueue: imap://127.0.0.1:PORT offers no TLS. Use imaps://, or allow a login in clear with ?tls=none.
no STLS: 69 mailqueue: pop3://127.0.0.1:PORT offers no TLS. Use pop3s://, or allow a login in clear with ?tls=none.
words before TLS: 75 mailqueue: imap://127.0.0.1:PORT speaks out of turn before TLS.
words before TLS, POP3: 75 mailqueue: pop3://127.0.0.1:PORT speaks out of turn before TLS.
logged in before TLS: 75 mailqueue: imap://127.0.0.1:PORT does not greet as IMAP does: * PREAUTH hi.
BYE: 75 mailqueue: imap://127.0.0.1:PORT does not greet as IMAP does: * BYE no.
busy: 75 mailqueue: pop3://127.0.0.1:PORT does not greet as POP3 does: -ERR no.
another protocol: 75 mailqueue: imap://127.0.0.1:PORT does not greet as IMAP does: 220 smtp.
a literal of 9 GB: 75 mailqueue: imap://127.0.0.1:PORT sends more than was asked for.
no tag: 75 mailqueue: imap://127.0.0.1:PORT does not speak IMAP.
no login: 69 mailqueue: imap://127.0.0.1:PORT takes no password here: use imaps:// or ?tls=required.
refused: 77 mailqueue: imap://127.0.0.1:PORT refuses the login: NO [PRIVACYREQUIRED] ?[31mTLS. Check the user and the password.
asks for the password again: 77 mailqueue: imap://127.0.0.1:PORT refuses the login: NO no. Check the user and the password.
another message than asked for: 0 0 looked at, 0 recorded; 0 suppressed.
a full folder: 69 1 looked at, 1 recorded, moved: 1 hard; 1 suppressed.
mailqueue: imap://127.0.0.1:PORT refuses to move messages: NO [OVERQUOTA] full. What they report is recorded.
one message that it cannot give: 0 1 looked at, 0 recorded; 0 suppressed.
1
