--TEST--
Certificates expired, of another host, self-signed; TLS 1.0: a clear reason, no login on the wire
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';
require dirname(__DIR__) . '/lib/certificates.inc';

// Seen to fail with the checks off, as the last case of each has them (verify_peer=0): mail and
// login then go to anybody.
$certificates = new Certificates();
$good = $certificates->issue();
$case = ['login' => 'u:p@', 'dsn' => "?tls=required&cafile=$certificates->ca", 'end' => 'relay',
    'jobs' => ['t1' => 'pending 0'], 'accepted' => [], 'absent' => '/^< (AUTH|MAIL)/m'];
$sink = static fn(array $certificate, string ...$more): array
    => ['--cert', $certificate['cert'], '--key', $certificate['key'], '--auth', 'u:p', ...$more];
$cases = [];
foreach (['STARTTLS' => 'smtp', 'smtps' => 'smtps'] as $name => $scheme) {
    $how = $scheme === 'smtps' ? ['--smtps'] : [];
    $dsn = $scheme === 'smtps' ? "?cafile=$certificates->ca" : $case['dsn'];
    $more = ['scheme' => $scheme, 'dsn' => $dsn] + $case;
    $cases += [
        "$name: good" => ['sink' => $sink($good, ...$how), 'end' => 'empty', 'jobs' => null,
        'accepted' => null, 'absent' => null] + $more,
        "$name: expired" => [
            'sink' => $sink($certificates->issue(until: gmdate('YmdHis\Z', time() - 3600)),
            ...$how),
            'reason' => '/expired/'] + $more,
        "$name: not valid yet" => [
            'sink' => $sink($certificates->issue(from: gmdate('YmdHis\Z', time() + 3600)), ...$how),
            'reason' => '/not yet valid/'] + $more,
        "$name: of another host" => [
            'sink' => $sink($certificates->issue('DNS:mail.example.org'), ...$how),
            'reason' => '/127\.0\.0\.1|name/'] + $more,
        "$name: self-signed" => ['sink' => $sink($certificates->selfSigned(), ...$how),
            'reason' => '/self.signed|certificate/'] + $more,
        "$name: by an unknown CA" => ['sink' => $sink($good, ...$how), 'reason' => '/certificate/',
            'dsn' => $scheme === 'smtps' ? null : '?tls=required'] + $more,
        "$name: TLS 1.0 only" => ['sink' => $sink($good, '--tls-version', '1.0', ...$how),
            'reason' => '/TLS|SSL|protocol|version/i'] + $more,
        "$name: TLS 1.1 only" => ['sink' => $sink($good, '--tls-version', '1.1', ...$how),
            'reason' => '/TLS|SSL|protocol|version/i'] + $more,
        "$name: TLS 1.2 only" => ['sink' => $sink($good, '--tls-version', '1.2', ...$how),
            'end' => 'empty', 'jobs' => null,
        'accepted' => null, 'absent' => null] + $more,
        "$name: self-signed, and verify_peer=0" => [
            'sink' => $sink($certificates->selfSigned(), ...$how), 'end' => 'empty',
        'jobs' => null, 'accepted' => null, 'absent' => null, 'dsn' => "$dsn&verify_peer=0"]
            + $more,
    ];
}
check_cases($cases);
?>
--EXPECT--
all as expected
