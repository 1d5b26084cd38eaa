--TEST--
Faults at STARTTLS and AUTH: no attempt is counted, the relay is paused, nothing is lost
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';
require dirname(__DIR__) . '/lib/certificates.inc';

// The relay is out of order: after three failed connects in a row the run ends, and the mails wait
// as if they had not been tried.
const DOWN = ['mails' => ['t1' => ['a@example.org'], 't2' => ['b@example.org']], 'end' => 'relay',
    'jobs' => ['t1' => 'pending 0', 't2' => 'pending 0'], 'accepted' => [], 'connections' => 3,
    'absent' => '/^< MAIL/m'];

$cases = [];
// STARTTLS: without it the session does not continue, and there is no login. Certificates are in
// tls_*.phpt.
$certificates = new Certificates();
$server = $certificates->issue();
$tls = ['sink' => ['--cert', $server['cert'], '--key', $server['key'], '--auth', 'u:p'],
    'login' => 'u:p@',
    'dsn' => "?tls=required&cafile=$certificates->ca", 'absent' => '/^< (MAIL|AUTH)/m'];
foreach (['4xx' => 'reply="454 4.7.0 TLS not available"', '5xx' => 'reply="502 5.5.1 what"',
    '421' => 'reply="421 4.3.2 down"', 'disconnect' => 'close',
    'reset' => 'reset'] as $name => $what) {
    $cases["STARTTLS: $name"] = ['script' => "at starttls $what", 'connections' => null] + $tls
        + DOWN;
}
$cases += [
    'STARTTLS: silence' => ['script' => 'at starttls stall',
        'dsn' => "$tls[dsn]&connect_timeout=2",
        'reason' => '/./', 'connections' => null] + $tls + DOWN,
    'STARTTLS: EHLO refused, HELO taken' => ['script' => 'at ehlo reply="502 5.5.1 what"',
        'reason' => '/./',
        'connections' => null] + $tls + DOWN,
    'STARTTLS: disconnect once' => ['script' => 'at starttls times=1 close', 'absent' => '/^$./']
        + $tls + ['connections' => 2],
    'STARTTLS: 421 once' => ['script' => 'at starttls times=1 reply="421 4.3.2 busy"',
        'absent' => '/^$./']
        + $tls + ['connections' => null],
];

// AUTH: the login is wrong until a person corrects it. Seen to fail (not offered) with the check for a
// 235 taken out: libcurl goes on without a login where none is offered.
$auth = ['sink' => ['--auth', 'u:p'], 'login' => 'u:p@'];
$cases += [
    'AUTH: 535' => ['script' => 'at auth reply="535 5.7.8 wrong"', 'reason' => '/535|[Ll]ogin/',
        'connections' => 1] + $auth + DOWN,
    'AUTH: 454' => ['script' => 'at auth reply="454 4.7.0 not now"', 'connections' => null] + $auth
        + DOWN,
    'AUTH: 421' => ['script' => 'at auth reply="421 4.3.2 down"', 'connections' => null] + $auth
        + DOWN,
    'AUTH: 504 to the mechanism' => ['script' => 'at authcmd reply="504 5.5.4 no"',
        'connections' => null] + $auth + DOWN,
    'AUTH: disconnect' => ['script' => 'at auth close', 'connections' => null] + $auth + DOWN,
    'AUTH: reset' => ['script' => 'at auth reset', 'connections' => null] + $auth + DOWN,
    'AUTH: silence' => ['script' => 'at auth stall', 'dsn' => '?connect_timeout=2',
        'connections' => null] + $auth + DOWN,
    'AUTH: wrong password' => ['login' => 'u:q@', 'connections' => 1] + $auth + DOWN,
    'AUTH: not offered' => ['login' => 'u:p@', 'reason' => '/offers no login/', 'connections' => 1]
        + DOWN,
    'AUTH: no mechanism in common' => [
        'script' => 'at ehlo reply="250-mx.example\n250-AUTH GSSAPI NTLM\n250 SIZE"',
        'reason' => '/it offers GSSAPI NTLM; PLAIN, LOGIN and CRAM-MD5 are spoken/',
        'login' => 'u:p@', 'connections' => 1] + DOWN,
    // Without a bearer token, no login is possible.
    'AUTH: XOAUTH2 only' => ['sink' => ['--auth', 'u:p', '--auth-mechanisms', 'XOAUTH2'],
        'reason' => '/it offers XOAUTH2; PLAIN/', 'login' => 'u:p@', 'connections' => 1] + DOWN,
    'AUTH: one of those offered is spoken, in the old form' => ['sink' => ['--auth', 'u:p'],
        'script' => 'at ehlo reply="250-mx.example\n250-AUTH=GSSAPI PLAIN\n250 AUTH GSSAPI PLAIN"',
        'login' => 'u:p@', 'connections' => 1],
    'AUTH: disconnect once' => ['script' => 'at auth times=1 close'] + $auth + ['connections' => 2],
    'AUTH: after the relay recovers' => ['script' => 'at auth times=1 reply="535 5.7.8 wrong"',
        'runs' => 2]
        + $auth + ['mails' => DOWN['mails'], 'connections' => 2],
];
check_cases($cases);
?>
--EXPECT--
all as expected
