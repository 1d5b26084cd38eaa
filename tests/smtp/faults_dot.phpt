--TEST--
Faults in the message and at its end: a reply is definite, no reply is uncertain
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';
require dirname(__DIR__) . '/lib/certificates.inc';

const TWO = ['mails' => ['t1' => ['a@example.org'], 't2' => ['b@example.org']]];
const OTHER_ONLY = ['accepted' => ['t2 b@example.org']] + TWO;
const LATER = ['jobs' => ['t1' => 'failed 1'], 'connections' => 1] + OTHER_ONLY;
const REFUSED = ['jobs' => ['t1' => 'parked 1 for refused refused a@example.org'],
    'connections' => 1] + OTHER_ONLY;
// One connection: t3's envelope is after the dot of t2, whose reply takes its time.
const BEHIND = ['mails' => ['t1' => ['a@example.org'], 't2' => ['b@example.org'],
    't3' => ['c@example.org'],
    't4' => ['d@example.org']], 'connections' => 2];
const ONE = ['mails' => ['t1' => ['a@example.org']], 'jobs' => ['t1' => 'failed 1'],
    'accepted' => [], 'connections' => 1];
const TROUBLE = ['end' => 'relay', 'jobs' => ['t1' => 'pending 0', 't2' => 'pending 0'],
    'accepted' => []] + TWO;
// It is unknown whether t1 was accepted; here it was not. Seen to fail with such an attempt
// settled as failed.
const UNCERTAIN = ['jobs' => ['t1' => 'failed 1 uncertain 1'], 'uncertain' => 1,
    'connections' => 2] + OTHER_ONLY;
// More than the buffers of two sockets hold: the dot does not leave before the server reads.
define(__NAMESPACE__ . '\BIG', ['message' => str_repeat("a line of text\n", 500000),
    'sink' => ['--receive-buffer', '4096']]);
$hold = ['options' => ['onUncertain' => \MailQueue\OnUncertain::Hold]];

$cases = [
    'dot: 451' => ['script' => 'at dot testid=t1 reply="451 4.3.0 later"'] + LATER,
    'dot: denied, others get through' => ['script' => 'at dot testid=t1 reply="554 5.7.1 spam"']
        + LATER,
    'dot: mailbox full' => ['script' => 'at dot testid=t1 reply="552 5.2.2 full"'] + LATER,
    'dot: bad content' => ['script' => 'at dot testid=t1 reply="554 5.6.0 bad"'] + REFUSED,
    'dot: message too big' => ['script' => 'at dot testid=t1 reply="552 5.3.4 too big"'] + REFUSED,
    // A complete reply is definite, whatever follows it: the mail was not accepted. But the relay
    // ends the session, so the reply may not be about this mail: no attempt counts.
    'dot: 421' => ['script' => 'at dot testid=t1 reply="421 4.4.2 enough"', 'connections' => 2,
        'jobs' => ['t1' => 'pending 0']] + LATER,
    'dot: 451 and closed' => ['script' => 'at dot testid=t1 reply="451 4.3.0 later" then=close']
        + ONE,
    'dot: 451 and reset' => ['script' => 'at dot testid=t1 reply="451 4.3.0 later" then=reset']
        + ONE,
    'dot: 250 and closed' => ['script' => 'at dot testid=t1 then=close', 'jobs' => [],
        'accepted' => ['t1 a@example.org']] + ONE,
    'dot: 250 and reset' => ['script' => 'at dot testid=t1 then=reset', 'jobs' => [],
        'accepted' => ['t1 a@example.org']] + ONE,
    'dot: the system takes no mail' => ['script' => 'at dot reply="421 4.3.2 shutting down"',
        'reason' => '/421/'] + TROUBLE,
    'dot: system full' => ['script' => 'at dot reply="452 4.3.1 full"', 'reason' => '/452/']
        + TROUBLE,
    "dot: sender's quota" => ['script' => 'at dot reply="550 5.4.5 Daily sending limit exceeded"',
        'reason' => '/550/'] + TROUBLE,
    'dot: not understood, once' => ['script' => 'at dot times=1 reply="500 5.5.1 what"',
        'connections' => null] + TWO,

    'dot: disconnect' => ['script' => 'at dot testid=t1 close'] + UNCERTAIN,
    'dot: reset' => ['script' => 'at dot testid=t1 reset'] + UNCERTAIN,
    'dot: half a reply' => ['script' => 'at dot testid=t1 partial=2 accept=0'] + UNCERTAIN,
    'dot: a reply without an end' => [
        'script' => 'at dot testid=t1 raw="250 2.0.0 ok" then=close accept=0'] + UNCERTAIN,
    'dot: first line of two' => [
        'script' => 'at dot testid=t1 raw="250-2.0.0 ok\r\n" then=close accept=0'] + UNCERTAIN,
    'dot: silence' => ['script' => 'at dot testid=t1 stall', 'dsn' => '?final_timeout=2']
        + UNCERTAIN,
    'dot: disconnect, hold' => ['script' => 'at dot testid=t1 close',
        'jobs' => ['t1' => 'parked 1 uncertain 1 for uncertain']] + $hold + UNCERTAIN,
    'dot: disconnect, sent again' => ['script' => 'at dot testid=t1 times=1 close', 'runs' => 2,
        'uncertain' => 1, 'connections' => 3] + TWO,
    // The one case in which a mail arrives twice; it is counted.
    'dot: taken, then disconnect, sent again' => [
        'script' => 'at dot testid=t1 times=1 close accept=1', 'runs' => 2,
        'accepted' => ['t1 a@example.org', 't1 a@example.org', 't2 b@example.org'],
        'uncertain' => 1, 'connections' => 3] + TWO,
    'dot: taken, then disconnect, hold' => ['script' => 'at dot testid=t1 close accept=1',
        'runs' => 2,
        'jobs' => ['t1' => 'parked 1 uncertain 1 for uncertain'],
        'accepted' => ['t1 a@example.org', 't2 b@example.org'],
        'connections' => 2] + $hold + UNCERTAIN,

    // The 250 came, then the connection died with the next envelope unanswered. That mail's body
    // is not out, so it goes back and is sent once, with no attempt counted. Seen to fail with the
    // mail after the dot treated like any mail whose MAIL had left.
    'dot: 250, then reset' => ['script' => 'at dot nth=2 delay-ms=250 then=reset then-delay-ms=30']
        + BEHIND,
    'dot: 250, then closed' => [
        'script' => 'at dot nth=2 delay-ms=250 then=close then-delay-ms=30'] + BEHIND,
    // The next MAIL may cross the end of the connection; then the mail is sent again over another
    // one.
    'dot: closed after each 250, without a 421' => ['script' => 'at dot then=close',
        'connections' => null] + BEHIND,
    'dot: 250, then 421 to the next envelope' => [
        'script' => "at dot nth=2 delay-ms=250\nat mail nth=3 reply=\"421 4.3.2 enough\""] + BEHIND,
    'dot: 451, then reset' => [
        'script' => 'at dot nth=2 delay-ms=250 reply="451 4.3.0 no" then=reset then-delay-ms=30',
        'jobs' => ['t2' => 'failed 1'], 'accepted' => ['t1 a@example.org', 't3 c@example.org',
            't4 d@example.org']] + BEHIND,
    'dot: no reply, and the next envelope is after it' => [
        'script' => 'at dot nth=2 delay-ms=250 stall',
        'dsn' => '?final_timeout=2', 'jobs' => ['t2' => 'failed 1 uncertain 1'], 'uncertain' => 1,
        'accepted' => ['t1 a@example.org', 't3 c@example.org', 't4 d@example.org']] + BEHIND,
    'dot: reset, and the next envelope is after it' => [
        'script' => 'at dot nth=2 delay-ms=250 reset',
        'jobs' => ['t2' => 'failed 1 uncertain 1'], 'uncertain' => 1,
        'accepted' => ['t1 a@example.org', 't3 c@example.org', 't4 d@example.org']] + BEHIND,
    'dot: two recipients, one answer for both' => [
        'script' => 'at dot testid=t1 times=1 reply="451 4.3.0 later"',
        'mails' => ['t1' => ['a@example.org', 'b@example.org']], 'jobs' => ['t1' => 'failed 1'],
        'accepted' => []],
    'dot: uncertain for those in it alone' => [
        'script' => "at rcpt match=b@* times=1 reply=\"550 5.1.1 no\"\nat dot times=1 close",
        'mails' => ['t1' => ['a@example.org', 'b@example.org']], 'uncertain' => 1,
        'jobs' => ['t1' => 'failed 1 uncertain 1 refused b@example.org left a@example.org'],
        'accepted' => []],

    // A final reply before the dot decides the mail, and we close the session: the relay would
    // take the rest of the message for commands.
    'body: 552 in its middle' => [
        'script' => 'at body bytes=1000 times=1 reply="552 5.3.4 too big" then=close',
        'connections' => 2] + BIG + REFUSED,
    'body: 451 in its middle' => [
        'script' => 'at body bytes=1000 times=1 reply="451 4.3.0 no" then=close',
        'connections' => 2] + BIG + LATER,
    'body: 421 in its middle' => ['script' => 'at body bytes=1000 times=1 reply="421 4.3.2 no"',
        'connections' => 2] + BIG + TWO,
    // drop: a server that closed only its own side would read on, and get the dot.
    'body: disconnect' => ['script' => 'at body bytes=1000 times=1 drop', 'connections' => 2]
        + BIG + LATER,
    'body: reset' => ['script' => 'at body bytes=1000 times=1 reset', 'connections' => 2] + BIG
        + LATER,
    'body: not read any more' => ['script' => 'at body bytes=1000 times=1 stop-reading',
        'dsn' => '?block_timeout=2', 'connections' => 2] + BIG + LATER,
];

// The same over TLS, where a failed write must be repeated with the same bytes.
$certificates = new Certificates();
$server = $certificates->issue();
$cases['body: not read any more, TLS'] = ['sink' => ['--receive-buffer', '4096', '--cert',
    $server['cert'], '--key', $server['key']],
    'dsn' => "?block_timeout=2&tls=required&cafile=$certificates->ca"]
    + $cases['body: not read any more'];
$cases['body: read slowly, TLS'] = ['script' => '', 'message' => str_repeat("a line of text\n",
    100000),
    'sink' => ['--receive-buffer', '4096', '--cert', $server['cert'], '--key', $server['key']],
    'dsn' => "?tls=required&cafile=$certificates->ca"] + TWO;

// 421 to a session that waits two seconds for the next token: another session is opened.
$cases['idle: 421'] = [
    'script' => 'at idle after-ms=100 mails=1- times=1 reply="421 4.4.2 idle too long"',
    'config' => ['mailMaxPerHour' => 1800, 'mailBurst' => 1], 'connections' => 2] + TWO;
$cases['idle: disconnect'] = ['script' => 'at idle after-ms=100 mails=1- times=1 close']
    + $cases['idle: 421'];
check_cases($cases);
?>
--EXPECT--
all as expected
