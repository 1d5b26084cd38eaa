--TEST--
Faults at the greeting and EHLO: no attempt is counted, the relay is paused, nothing is lost
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

// The relay is out of order: after three failed connects in a row the run ends, and the mails wait
// as if they had not been tried.
const DOWN = ['mails' => ['t1' => ['a@example.org'], 't2' => ['b@example.org']], 'end' => 'relay',
    'jobs' => ['t1' => 'pending 0', 't2' => 'pending 0'], 'accepted' => [], 'connections' => 3,
    'absent' => '/^< MAIL/m'];
// One failed connect, then one that works: as if nothing had happened.
const ONCE = ['mails' => DOWN['mails'], 'connections' => 2];

$cases = [];
foreach (['CONNECT' => 'connect', 'EHLO' => 'ehlo'] as $name => $stage) {
    // A server that refuses EHLO may know HELO (RFC 5321, section 3.2), so both are answered.
    $rules = static fn(string $what): string => "at $stage $what\n"
        . ($stage === 'ehlo' ? "at helo $what\n" : '');
    $cases += [
        "$name: 4xx" => ['script' => $rules('reply="450 4.3.2 not now"'), 'reason' => '/450/']
            + DOWN,
        "$name: 5xx" => ['script' => $rules('reply="554 5.3.2 never"'), 'reason' => '/554/'] + DOWN,
        "$name: 421" => ['script' => $rules('reply="421 4.3.2 down"'), 'reason' => '/421/'] + DOWN,
        "$name: disconnect" => ['script' => $rules('close'), 'reason' => '/./'] + DOWN,
        "$name: reset" => ['script' => $rules('reset'), 'reason' => '/./'] + DOWN,
        "$name: silence" => ['script' => $rules('stall'), 'dsn' => '?connect_timeout=2',
            'reason' => '/./', 'connections' => null] + DOWN,
        "$name: 421 once" => ['script' => "at $stage times=1 reply=\"421 4.3.2 busy\""] + ONCE,
        "$name: disconnect once" => ['script' => "at $stage times=1 close"] + ONCE,
        "$name: reset once" => ['script' => "at $stage times=1 reset"] + ONCE,
    ];
}
$cases += [
    'CONNECT: accepted and closed at once' => ['script' => 'at accept close'] + DOWN,
    'EHLO refused, HELO taken' => ['script' => 'at ehlo reply="502 5.5.1 what"',
        'mails' => DOWN['mails'],
        'connections' => 1, 'absent' => '/^< MAIL.*(SIZE|BODY)/m'],
    'EHLO refused, HELO taken, and a login is set' => ['script' => 'at ehlo reply="502 5.5.1 what"',
        'login' => 'u:p@', 'reason' => '/login/', 'connections' => 1] + DOWN,
];
check_cases($cases);
?>
--EXPECT--
all as expected
