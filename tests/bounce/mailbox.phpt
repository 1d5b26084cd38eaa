--TEST--
mailqueue bounces on Dovecot, by IMAP and POP3 with and without TLS: what is recorded is kept, deleted or moved, other mail stays; logins, folders, certificates; large mail
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

$password = 'ge h"e\\i m%ä@';
$certificates = new Certificates();
$dovecot = new Dovecot(['b@example.org' => $password], mailbox: $certificates->issue());
$app = database();
$queue = new MailQueue($app);
$file = temp_directory() . '/password';
file_put_contents($file, "$password\n");
chmod($file, 0600);
$environment = ['MAILQUEUE_DATABASE' => $app, 'MAILQUEUE_MAILBOX_PASSWORD_FILE' => $file];
$url = fn(string $scheme, string $rest = '', ?Dovecot $of = null): string => "$scheme://b%40example.org@localhost:" . ($of ?? $dovecot)->ports[$scheme] . $rest;
$run = function (string $mailbox, string ...$options) use (&$environment, &$dovecot): void {
    [$code, $out, $errors] = cli(['bounces', $mailbox, ...$options], $environment);
    echo "$code: ", preg_replace(['/:\d{4,5}\b/', '/ \([\d.]+ [^)]*secs\)/'], [':PORT', ''], str_replace($environment['MAILQUEUE_MAILBOX_PASSWORD_FILE'] ?? '?', '%', trim("$out$errors"))), "\n";
};
$left = fn(string $folder = '', ?Dovecot $of = null): string => implode(' ', array_map(function (string $file): string {
    $text = file_get_contents($file);
    return preg_match('/^Final-Recipient: rfc822; (\w+)/m', $text, $match) ? $match[1] : (preg_match('/^Subject: (.*)$/m', $text, $match) ? "\"$match[1]\"" : '?');
}, ($of ?? $dovecot)->messages($folder)));
$suppressed = fn(): string => implode(' ', array_map(fn(array $one): string => strstr($one['address'], '@', true), $queue->suppressions(1000)));
$other = "From: ann@example.net\nTo: b@example.org\nSubject: Hello\n\nHow are you?\n";
$ca = "?cafile=$certificates->ca";

echo "-- IMAP, kept\n";
$dovecot->deliver(...bounces_to($queue, 'a1@example.net', 'a2@example.net'), ...[$other]);
$run($url('imaps', $ca), '--limit', '2');
$run($url('imaps', $ca), '--json');
$run($url('imaps', $ca));
echo $left(), ' | ', $suppressed(), ' | ', implode(' ', array_map(fn(string $one): string => preg_replace('/.*(?=\/(cur|new))|\/.*:/', '', $one), $dovecot->messages())), "\n";

echo "-- deleted, moved\n";
$dovecot->deliver(...bounces_to($queue, 'd1@example.net', 'd2@example.net'), ...[str_replace('Hello', 'Other', $other)]);
$run($url('imap', "$ca&tls=required"), '--delete');
echo $left(), "\n";
$dovecot->deliver(...bounces_to($queue, 'm1@example.net'));
$run($url('imaps', $ca), '--move', 'Rückläufer & Co');
echo $left(), ' | ', $suppressed(), "\n";
$dovecot->folder('R&APw-ckl&AOQ-ufer &- Co');
$run($url('imaps', $ca), '--move', 'Rückläufer & Co');
echo $left(), ' | ', $left('R&APw-ckl&AOQ-ufer &- Co'), "\n";
$run($url('imaps', '/R%C3%BCckl%C3%A4ufer%20&%20Co' . $ca), '--delete');
$run($url('imaps', "/Nothing$ca"));

echo "-- without MOVE and UIDPLUS\n";
$old = new Dovecot(['b@example.org' => 'geheim'], mailbox: $certificates->issue('DNS:elsewhere.example'), capabilities: 'IMAP4rev1');
$old->folder('Done');
$old->deliver(...bounces_to($queue, 'o1@example.net'), ...[$other]);
file_put_contents($file, 'geheim');
$run($url('imap', '', $old), '--move', 'Done');
$run($url('imap', '', $old), '--delete');
echo preg_replace('/:2,\w*T\b/', '', $left('Done', $old)), ' ', count(preg_grep('/T\w*$/', $old->messages())), " marked as deleted\n";
$old->deliver(...bounces_to($queue, 'o2@example.net'));
$run($url('pop3', '', $old), '--delete');
file_put_contents($file, $password);

echo "-- POP3\n";
$dovecot->deliver(...bounces_to($queue, 'p1@example.net', 'p2@example.net'));
$run($url('pop3s', $ca));
$run($url('pop3s', $ca), '--delete');
echo $left(), "\n";
$dovecot->deliver(...bounces_to($queue, 'p3@example.net'));
$run($url('pop3', "$ca&tls=required"), '--delete');
$run($url('pop3'), '--keep');
echo $left(), ' | ', $suppressed(), "\n";

echo "-- 50 MB\n";
[$bounce] = bounces_to($queue, 'large@example.net');
$dovecot->deliver(str_replace('Content-Type: text/plain; charset=utf-8', "X-Large: x\nContent-Type: text/plain; charset=utf-8", $bounce) . str_repeat(str_repeat('x', 76) . "\n", 680000));
foreach (['imap', 'pop3'] as $scheme) {
    $proxy = new CutProxy($dovecot->ports[$scheme]);
    $run("$scheme://b%40example.org@127.0.0.1:$proxy->port", '--limit', '1');
    $octets = $proxy->passed(0);
    echo $scheme, $octets > 200000 && $octets < 400000 ? ' read as far as needed' : " read $octets", "\n";
}

echo "-- logins and certificates\n";
$run($url('imaps'));
$run($url('pop3s'));
$run($url('imap', '?tls=required'));
$run($url('imaps', '?verify_peer=0'));
$run($url('imaps', $ca, $old));
file_put_contents($file, 'wrong');
$run($url('imaps', $ca));
$run($url('pop3s', $ca));
chmod($file, 0644);
$run($url('imaps', $ca));
unset($environment['MAILQUEUE_MAILBOX_PASSWORD_FILE']);
$run($url('imaps', $ca));
$run(str_replace('@localhost', ':secret@localhost', $url('imaps', $ca)));
$environment['MAILQUEUE_MAILBOX'] = str_replace('@localhost', ':' . rawurlencode($password) . '@localhost', $url('imaps', $ca));
[$code, $out, $errors] = cli(['bounces'], $environment);
echo "$code: $out$errors";
$environment = ['MAILQUEUE_MAILBOX_PASSWORD_FILE' => $file] + $environment;
chmod($file, 0600);
$run("imap://b%40example.org@127.0.0.1:" . MailQueueTest\closed_port());

echo "-- words\n";
foreach (['imap://host', 'http://b@host', 'imaps://b@host/x?foo=1', 'imaps://b@host?tls=off', 'pop3://b@host/INBOX', 'imaps://b@host/a%0Db', 'imaps://b@ho st'] as $bad) {
    $run($bad);
}
$run($url('pop3'), '--move', 'Done');
$run($url('imap'), '--delete', '--keep');
?>
--EXPECT--
-- IMAP, kept
0: 2 looked at, 1 recorded: 1 hard; 1 suppressed.
0: {
    "messages": 1,
    "bounces": 1,
    "events": {
        "hard": 1
    },
    "known": 0,
    "suppressed": 1,
    "failed": 0
}
0: 0 looked at, 0 recorded; 0 suppressed.
a1 a2 "Hello" | a2 a1 | 2,a 2,a 2,a
-- deleted, moved
0: 3 looked at, 2 recorded, deleted: 2 hard; 2 suppressed.
a1 a2 "Hello" "Other"
78: mailqueue: The folder Rückläufer & Co of imaps://localhost:PORT cannot be used: NO Mailbox doesn't exist: Rückläufer & Co. Create it, or name another.
a1 a2 "Hello" "Other" m1 | a2 a1 d2 d1
0: 1 looked at, 1 recorded, moved: 1 hard; 1 suppressed.
a1 a2 "Hello" "Other" | m1
0: 1 looked at, 1 recorded, deleted: 1 hard (1 known); 0 suppressed.
78: mailqueue: The folder Nothing of imaps://localhost:PORT cannot be used: NO Mailbox doesn't exist: Nothing. Create it, or name another.
-- without MOVE and UIDPLUS
0: 2 looked at, 1 recorded, moved: 1 hard; 1 suppressed.
0: 0 looked at, 0 recorded, deleted; 0 suppressed.
o1 1 marked as deleted
0: 3 looked at, 2 recorded, deleted: 2 hard (1 known); 1 suppressed.
-- POP3
0: 6 looked at, 4 recorded: 4 hard (2 known); 2 suppressed.
0: 6 looked at, 4 recorded, deleted: 4 hard (4 known); 0 suppressed.
"Hello" "Other"
0: 3 looked at, 1 recorded, deleted: 1 hard; 1 suppressed.
0: 2 looked at, 0 recorded; 0 suppressed.
"Hello" "Other" | a2 a1 d2 d1 m1 o1 o2 p2 p1 p3
-- 50 MB
0: 1 looked at, 1 recorded: 1 hard; 1 suppressed.
imap read as far as needed
0: 1 looked at, 1 recorded: 1 hard (1 known); 0 suppressed.
pop3 read as far as needed
-- logins and certificates
75: mailqueue: imaps://localhost:PORT cannot be reached: certificate verify failed.
75: mailqueue: pop3s://localhost:PORT cannot be reached: certificate verify failed.
75: mailqueue: imap://localhost:PORT fails at TLS: certificate verify failed.
0: 0 looked at, 0 recorded; 0 suppressed.
75: mailqueue: imaps://localhost:PORT cannot be reached: Peer certificate subjectAltName did not match expected name `localhost'.
77: mailqueue: imaps://localhost:PORT refuses the login: NO [AUTHENTICATIONFAILED] Authentication failed. Check the user and the password.
77: mailqueue: pop3s://localhost:PORT refuses the login: [AUTH] Authentication failed. Check the user and the password.
78: mailqueue: MAILQUEUE_MAILBOX_PASSWORD_FILE: % can be read by other users: chmod 600.
78: mailqueue: There is no password. Set MAILQUEUE_MAILBOX_PASSWORD_FILE to a file of mode 0600 that has only the password in it, or MAILQUEUE_MAILBOX to the whole URL; or give --account.
64: mailqueue: No password in an argument: every user of this machine can read it there (ps). Set MAILQUEUE_MAILBOX_PASSWORD_FILE to a file of mode 0600, or MAILQUEUE_MAILBOX to the whole URL.
0: 0 looked at, 0 recorded; 0 suppressed.
75: mailqueue: imap://127.0.0.1:PORT cannot be reached: Connection refused.
-- words
64: mailqueue: The mailbox names no user: imaps://user@host; write an "@" in the name as %40.
64: mailqueue: The mailbox must be imaps://user@host/FOLDER, imap://, pop3s:// or pop3://; percent-encode : / @ ? # in it.
64: mailqueue: A mailbox has no option "foo"; it has tls, cafile, verify_peer.
64: mailqueue: tls must be auto, required or none.
64: mailqueue: POP3 has no folders: leave out the path of the URL.
64: mailqueue: User, password and folder of the mailbox must be UTF-8 without control characters.
64: mailqueue: The mailbox must be imaps://user@host/FOLDER, imap://, pop3s:// or pop3://; percent-encode : / @ ? # in it.
64: mailqueue: POP3 cannot move mail: give --delete or --keep.
64: mailqueue: Give one of --keep, --delete and --move.
