--TEST--
STARTTLS stripped, commands injected after it: no mail, no login in clear text
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';
require dirname(__DIR__) . '/lib/certificates.inc';

// Seen to fail with CURLUSESSL_TRY in place of CURLUSESSL_ALL: where STARTTLS is not offered or
// refused, the login then goes out in clear.
$certificates = new Certificates();
$server = $certificates->issue();
$case = ['sink' => ['--cert', $server['cert'], '--key', $server['key'], '--auth', 'u:p',
    '--auth-mechanisms', 'PLAIN LOGIN'],
    'login' => 'u:secret@', 'dsn' => "?tls=required&cafile=$certificates->ca", 'end' => 'relay',
    'jobs' => [
        't1' => 'pending 0'], 'accepted' => [],
        'absent' => '/^< (AUTH|MAIL|(?!STARTTLS$)[A-Za-z0-9+\/]{4,}={0,2}$)/m'];
check_cases([
    'not offered' => ['script' => 'at ehlo tls=0 hide=STARTTLS', 'reason' => '/TLS|SSL/'] + $case,
    'not known at all' => ['sink' => ['--auth', 'u:p'], 'reason' => '/TLS|SSL/'] + $case,
    'EHLO refused' => ['script' => 'at ehlo tls=0 reply="502 5.5.1 what"', 'reason' => '/502/']
        + $case,
    'refused' => ['script' => 'at starttls reply="454 4.7.0 not now"', 'reason' => '/TLS|SSL/']
        + $case,
    // Clear text after the 220 would be taken for a reply within TLS (CVE-2021-22947).
    'a reply after the 220' => [
        'script' => 'at starttls reply="220 go" behind="250-mx\r\n250 AUTH PLAIN LOGIN\r\n"']
        + $case,
    'a login accepted after the 220' => [
        'script' => 'at starttls reply="220 go" '
            . 'behind="250-mx\r\n250 AUTH PLAIN\r\n334 \r\n235 2.7.0 in\r\n"'] + $case,
    'in the clear after the 220' => ['sink' => ['--auth', 'u:p'],
        'script' => 'at ehlo reply="250-mx\n250-AUTH PLAIN\n250 STARTTLS"' . "\n"
        . 'at any match=* reply="220 go"'] + $case,
    'smtps at a server without TLS' => ['scheme' => 'smtps', 'allow' => '/in a command/',
        'reason' => '/SSL|TLS/', 'sink' => ['--auth', 'u:p'],
        'dsn' => "?cafile=$certificates->ca&connect_timeout=2"] + $case,
    // A host name other than localhost gets no clear text unless the DSN asks for it (libcurl
    // connects *.localhost to loopback, RFC 6761).
    'another host, nothing said about TLS' => ['host' => 'mail.localhost',
        'sink' => ['--auth', 'u:p'], 'dsn' => null,
        'reason' => '/TLS|SSL/'] + $case,
    'another host, tls=none' => ['host' => 'mail.localhost', 'sink' => ['--auth', 'u:p'],
        'login' => 'u:p@', 'dsn' => '?tls=none',
        'end' => 'empty', 'jobs' => null, 'accepted' => null, 'absent' => null] + $case,
    // This one is correct.
    'as it should be' => ['login' => 'u:p@', 'end' => 'empty', 'jobs' => null, 'accepted' => null,
        'absent' => null] + $case,
]);
?>
--EXPECT--
all as expected
