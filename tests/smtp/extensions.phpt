--TEST--
Servers without PIPELINING, 8BITMIME, SMTPUTF8, SIZE: a message that they cannot take is converted, or refused before MAIL
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

function try_one(string $name, array $options, string $message, array $to = ['a@example.org'],
    string $script = ''): void
{
    $sink = new Sink($script, $options);
    $queue = new TestQueue();
    $queue->add('t1', $to, $message);
    // The mail after it shows that only the first one was affected.
    $queue->add('t2', ['other@example.org']);
    $report = $queue->work("smtp://127.0.0.1:$sink->port");
    $sink->stop();
    $job = $queue->queue->job($queue->ids['t1']);
    echo "-- $name: $report->end, t1 {$queue->state('t1')}, t2 {$queue->state('t2')}\n";
    if ($job?->refused) {
        echo '   ', implode("\n   ", array_unique($job->refused)), "\n";
    }
    preg_match_all('/^< ((?:MAIL|RCPT|DATA|BDAT).*)/m', $sink->transcript(), $commands);
    foreach ($commands[1] as $command) {
        if (!str_contains($command, 'other@') && $command !== 'DATA') {
            echo "   $command\n";
        }
    }
    foreach ($sink->violations() as $violation) {
        [, , , $kind, $detail] = explode("\t", $violation);
        // The sink requires BODY=8BITMIME for every 8-bit message; in header fields SMTPUTF8
        // allows 8 bit (RFC 6531, section 3.6).
        if ($kind !== '8bit' || !str_contains($name, 'UTF-8 header')) {
            echo "   $kind: $detail\n";
        }
    }
    foreach ($queue->lost($sink->counts()) as $lost) {
        echo "   lost $lost\n";
    }
}

$plain = message('t1');
$eightBit = message('t1', "Grüße\n");
// Bytes over 127 stay only where encoded words are not allowed.
$utf8Id = fn(string $message) => str_replace('Subject: Test t1', 'In-Reply-To: ü.', $message);
$utf8Header = $utf8Id($plain);
$big = message('t1', str_repeat(str_repeat('x', 70) . "\n", 100));

try_one('all offered, plain', [], $plain);
try_one('all offered, 8 bit', [], $eightBit);
try_one('all offered, UTF-8 header', [], $utf8Header);
try_one('all offered, UTF-8 header and 8 bit', [], $utf8Id($eightBit));
try_one('all offered, UTF-8 address', [], $plain, ['jürgen@example.org', 'a@example.org']);
try_one('no pipelining', ['--no-pipelining'], $plain, ['a@example.org', 'b@example.org']);
try_one('no 8BITMIME, plain', ['--no-8bitmime'], $plain);
try_one('no 8BITMIME, 8 bit', ['--no-8bitmime'], $eightBit);
try_one('no SMTPUTF8, UTF-8 header', ['--no-smtputf8'], $utf8Header);
try_one('no SMTPUTF8, UTF-8 address', ['--no-smtputf8'], $plain, ['jürgen@example.org']);
try_one('no SMTPUTF8, one UTF-8 address of two', ['--no-smtputf8'], $plain,
    ['jürgen@example.org', 'a@example.org']);
try_one('no SIZE', ['--no-size'], $big);
try_one('SIZE 100000', ['--size', '100000'], $big);
try_one('SIZE 5000', ['--size', '5000'], $big);
try_one('SIZE 0, which sets no limit', ['--size', '0'], $big);
try_one('nothing but HELO', [], $plain, ['a@example.org', 'b@example.org'],
    'at ehlo reply="502 5.5.1 what"');
try_one('nothing but HELO, 8 bit', [], $eightBit, ['a@example.org'],
    'at ehlo reply="502 5.5.1 what"');
// Extensions that are offered but then rejected: the mail is sent again without them, and so are
// the next ones.
try_one('parameters refused', [], $plain, ['a@example.org'],
    'at mail connection=1 reply="555 5.5.4 parameters"');
try_one('pipelining offered, and not meant', [], $plain, ['a@example.org', 'b@example.org'],
    'at mail connection=1 reply="503 5.5.1 Improper use of SMTP command pipelining"');
?>
--EXPECT--
-- all offered, plain: empty, t1 gone, t2 gone
   MAIL FROM:<sender@example.com> SIZE=192
   RCPT TO:<a@example.org>
   MAIL FROM:<sender@example.com> SIZE=192
-- all offered, 8 bit: empty, t1 gone, t2 gone
   MAIL FROM:<sender@example.com> SIZE=174 BODY=8BITMIME
   RCPT TO:<a@example.org>
   MAIL FROM:<sender@example.com> SIZE=192
-- all offered, UTF-8 header: empty, t1 gone, t2 gone
   MAIL FROM:<sender@example.com> SIZE=192 SMTPUTF8
   RCPT TO:<a@example.org>
   MAIL FROM:<sender@example.com> SIZE=192
-- all offered, UTF-8 header and 8 bit: empty, t1 gone, t2 gone
   MAIL FROM:<sender@example.com> SIZE=174 BODY=8BITMIME SMTPUTF8
   RCPT TO:<a@example.org>
   MAIL FROM:<sender@example.com> SIZE=192
-- all offered, UTF-8 address: empty, t1 gone, t2 gone
   MAIL FROM:<sender@example.com> SIZE=192 SMTPUTF8
   RCPT TO:<jürgen@example.org>
   RCPT TO:<a@example.org>
   MAIL FROM:<sender@example.com> SIZE=192
-- no pipelining: empty, t1 gone, t2 gone
   MAIL FROM:<sender@example.com> SIZE=192
   RCPT TO:<a@example.org>
   RCPT TO:<b@example.org>
   MAIL FROM:<sender@example.com> SIZE=192
-- no 8BITMIME, plain: empty, t1 gone, t2 gone
   MAIL FROM:<sender@example.com> SIZE=192
   RCPT TO:<a@example.org>
   MAIL FROM:<sender@example.com> SIZE=192
-- no 8BITMIME, 8 bit: empty, t1 gone, t2 gone
   MAIL FROM:<sender@example.com> SIZE=274
   RCPT TO:<a@example.org>
   MAIL FROM:<sender@example.com> SIZE=192
-- no SMTPUTF8, UTF-8 header: empty, t1 parked 1 for refused refused a@example.org, t2 gone
   5.6.7 the sender's address or a header is not ASCII, and the relay does not offer SMTPUTF8; not sent
   MAIL FROM:<sender@example.com> SIZE=192
-- no SMTPUTF8, UTF-8 address: empty, t1 parked 1 for refused refused jürgen@example.org, t2 gone
   5.6.7 the address is not ASCII, and the relay does not offer SMTPUTF8; not sent
   MAIL FROM:<sender@example.com> SIZE=192
-- no SMTPUTF8, one UTF-8 address of two: empty, t1 parked 1 for refused refused jürgen@example.org, t2 gone
   5.6.7 the address is not ASCII, and the relay does not offer SMTPUTF8; not sent
   MAIL FROM:<sender@example.com> SIZE=192
   RCPT TO:<a@example.org>
   MAIL FROM:<sender@example.com> SIZE=192
-- no SIZE: empty, t1 gone, t2 gone
   MAIL FROM:<sender@example.com>
   RCPT TO:<a@example.org>
   MAIL FROM:<sender@example.com>
-- SIZE 100000: empty, t1 gone, t2 gone
   MAIL FROM:<sender@example.com> SIZE=7365
   RCPT TO:<a@example.org>
   MAIL FROM:<sender@example.com> SIZE=192
-- SIZE 5000: empty, t1 parked 1 for refused refused a@example.org, t2 gone
   5.3.4 the message has 7365 bytes, the relay takes 5000; not sent
   MAIL FROM:<sender@example.com> SIZE=192
-- SIZE 0, which sets no limit: empty, t1 gone, t2 gone
   MAIL FROM:<sender@example.com> SIZE=7365
   RCPT TO:<a@example.org>
   MAIL FROM:<sender@example.com> SIZE=192
-- nothing but HELO: empty, t1 gone, t2 gone
   MAIL FROM:<sender@example.com>
   RCPT TO:<a@example.org>
   RCPT TO:<b@example.org>
   MAIL FROM:<sender@example.com>
-- nothing but HELO, 8 bit: empty, t1 gone, t2 gone
   MAIL FROM:<sender@example.com>
   RCPT TO:<a@example.org>
   MAIL FROM:<sender@example.com>
-- parameters refused: empty, t1 gone, t2 gone
   MAIL FROM:<sender@example.com> SIZE=192
   RCPT TO:<a@example.org>
   MAIL FROM:<sender@example.com>
   RCPT TO:<a@example.org>
   MAIL FROM:<sender@example.com>
-- pipelining offered, and not meant: empty, t1 gone, t2 gone
   MAIL FROM:<sender@example.com> SIZE=192
   RCPT TO:<a@example.org>
   RCPT TO:<b@example.org>
   MAIL FROM:<sender@example.com>
   RCPT TO:<a@example.org>
   RCPT TO:<b@example.org>
   MAIL FROM:<sender@example.com>
