--TEST--
doctor --relay: each step up to the login with its cure and an exit code, against real servers; no mail goes, no password is shown
--EXTENSIONS--
mailqueue
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/servers.inc'; die(MailQueueTest\Aiosmtpd::missing()); ?>
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
require __DIR__ . '/../lib/servers.inc';
require __DIR__ . '/../lib/certificates.inc';
use MailQueueTest\{Aiosmtpd, Certificates, Sink};

$certificates = new Certificates();
$ca = 'cafile=' . rawurlencode($certificates->ca);
$show = function (string $what, string $transport, string ...$more) use ($certificates): string {
    [$code, $out, $errors] = cli(['doctor', '--relay', ...$more], ['MAILQUEUE_TRANSPORT' => $transport]);
    $all = $out . $errors;
    preg_match('/secret|wrong-one|c2VjcmV0|d3Jvbmct/', $all) && print("A SECRET IS SHOWN: $all\n");
    // libcurl has two timers for a silent server. Which one ends first is chance.
    $all = preg_replace(['/Operation timed out after \d+ milliseconds with 0 bytes received/', '/port \d+/', '/(:\/\/[^\s:]*:)\d+/', '/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/', '/encrypted with TLS.*/', '/after \d+ ms/', '/that is in .*/', '/OpenSSL\/[^:]*: error:\w+:/'],
        ['server response timeout', 'port N', '$1N', 'TIME', 'encrypted with TLS…', 'after N ms', 'that is in …', 'OpenSSL: '], $all);
    echo "--- $what: $code\n", str_replace($certificates->ca, 'ca.pem', $all);
    return $out;
};
$login = ['user' => 'usr', 'password' => 'secret'];
$tls = "tls=required&$ca";

$server = new Aiosmtpd($certificates->issue() + $login);
$show('STARTTLS and login', "smtp://usr:secret@localhost:$server->port?$tls");
$show('a wrong password', "smtp://usr:wrong-one@localhost:$server->port?$tls");
$show('no user', "smtp://localhost:$server->port?$tls");
$show('verify_peer=0', "smtp://localhost:$server->port?tls=required&verify_peer=0");
$show('smtps:// to a port of STARTTLS', "smtps://localhost:$server->port?$ca");
$cases = ['of another host' => $certificates->issue('DNS:other.example.org'), 'ended' => $certificates->issue(from: '20250101000000Z', until: gmdate('YmdHis\Z', time() - 3600)),
    'not valid yet' => $certificates->issue(from: gmdate('YmdHis\Z', time() + 3600)), 'nearly ended' => $certificates->issue(from: '20250101000000Z', until: gmdate('YmdHis\Z', time() + 86390)), 'self-signed' => $certificates->selfSigned()];
foreach ($cases as $what => $files) {
    $server = new Aiosmtpd($files + $login);
    $show("a certificate $what", "smtp://usr:secret@localhost:$server->port?$tls");
}
$sink = fn(string $rules, string ...$more): Sink => new Sink($rules, ['--auth', 'usr:secret', ...$more]);
$files = $cases['of another host'];
$other = $sink('', '--smtps', '--cert', $files['cert'], '--key', $files['key']);
$show('smtps:// and a certificate of another host', "smtps://usr:secret@localhost:$other->port?$ca");
must(!str_contains($other->transcript(), '< AUTH'), 'no login goes to a server whose certificate is not accepted');
$show('smtp:// to a port of smtps://', "smtp://localhost:$other->port?connect_timeout=2");
$server = new Aiosmtpd();
$show('no STARTTLS', "smtp://usr:secret@localhost:$server->port?tls=required");
$show('no login offered', "smtp://usr:secret@localhost:$server->port");
$show('nothing wanted', "smtp://localhost:$server->port");
must($server->mails() === [] && $server->asked() === [], 'no mail is sent');
$show('a closed port', 'smtp://127.0.0.1:1');
$show('no such host', 'smtp://relay.invalid:587');
$silent = stream_socket_server('tcp://127.0.0.1:0');
$show('a silent server', 'smtp://' . stream_socket_get_name($silent, false) . '?connect_timeout=1');
$show('LMTP to a silent server', 'lmtp://' . stream_socket_get_name($silent, false) . '?connect_timeout=1');
$show('LMTP to a server of SMTP', "lmtp://localhost:$server->port");
$show('LMTP to a closed port', 'lmtp://127.0.0.1:1');
$show('refused at once', 'smtp://localhost:' . $sink('at connect reply="554 5.7.1 no service here"')->port);
$echo = $sink('at auth reply="535 5.7.8 not AHVzcgBzZWNyZXQ= or secret"');
$show('a relay that repeats the login', "smtp://usr:secret@localhost:$echo->port");
foreach (['null://null', 'sendmail://default', 'file:///tmp/mail', 'smtp://localhost:x', 'bogus'] as $transport) {
    $show($transport, $transport);
}
$show('no option', 'null://null', '--from', 'shop@example.org');
$json = json_decode($show('JSON', "smtp://localhost:$server->port", '--json'), true);
echo count($json), ' ', implode(' ', array_keys($json[0])), "\n";
?>
--EXPECT--
--- STARTTLS and login: 0
ok    relay: smtp://localhost:N: connected (127.0.0.1) port N
ok    relay: EHLO: it offers SIZE 33554432, 8BITMIME, SMTPUTF8, AUTH LOGIN PLAIN, HELP
ok    relay: encrypted with TLS…
ok    relay: the certificate for localhost, 127.0.0.1, by CN = Test CA, until TIME
ok    relay: logged in as usr
--- a wrong password: 1
ok    relay: smtp://localhost:N: connected (127.0.0.1) port N
ok    relay: EHLO: it offers SIZE 33554432, 8BITMIME, SMTPUTF8, AUTH LOGIN PLAIN, HELP
ok    relay: encrypted with TLS…
ok    relay: the certificate for localhost, 127.0.0.1, by CN = Test CA, until TIME
look  relay: Login denied; it said: 535 5.7.8 Authentication credentials invalid
      Check user and password in the transport (with : / @ ? # percent-encoded). Many providers want a password for applications here.
--- no user: 0
ok    relay: smtp://localhost:N: connected (127.0.0.1) port N
ok    relay: EHLO: it offers SIZE 33554432, 8BITMIME, SMTPUTF8, AUTH LOGIN PLAIN, HELP
ok    relay: encrypted with TLS…
ok    relay: the certificate for localhost, 127.0.0.1, by CN = Test CA, until TIME
ok    relay: no login: the transport names no user; the relay offers LOGIN PLAIN
--- verify_peer=0: 0
ok    relay: smtp://localhost:N: connected (127.0.0.1) port N
ok    relay: EHLO: it offers SIZE 33554432, 8BITMIME, SMTPUTF8, AUTH LOGIN PLAIN, HELP
ok    relay: encrypted with TLS…
ok    relay: the certificate is not checked: verify_peer=0
ok    relay: no login: the transport names no user; the relay offers LOGIN PLAIN
--- smtps:// to a port of STARTTLS: 1
ok    relay: smtps://localhost:N: connected (127.0.0.1) port N
look  relay: no encryption: OpenSSL: SSL routines::wrong version number
      This port does not begin with TLS: write smtp://, which uses STARTTLS.
--- a certificate of another host: 1
ok    relay: smtp://localhost:N: connected (127.0.0.1) port N
ok    relay: EHLO: it offers SIZE 33554432, 8BITMIME, SMTPUTF8, STARTTLS, HELP
look  relay: the certificate for other.example.org, by CN = Test CA, until TIME is not accepted: SSL: no alternative certificate subject name matches target host name 'localhost'
      Write one of its names in the transport: other.example.org.
--- a certificate ended: 1
ok    relay: smtp://localhost:N: connected (127.0.0.1) port N
ok    relay: EHLO: it offers SIZE 33554432, 8BITMIME, SMTPUTF8, STARTTLS, HELP
look  relay: the certificate for localhost, 127.0.0.1, by CN = Test CA, until TIME is not accepted: SSL certificate problem: certificate has expired
      It has ended: the relay's operator must renew it.
--- a certificate not valid yet: 1
ok    relay: smtp://localhost:N: connected (127.0.0.1) port N
ok    relay: EHLO: it offers SIZE 33554432, 8BITMIME, SMTPUTF8, STARTTLS, HELP
look  relay: the certificate for localhost, 127.0.0.1, by CN = Test CA, until TIME is not accepted: SSL certificate problem: certificate is not yet valid
      Check this host's clock (timedatectl).
--- a certificate nearly ended: 1
ok    relay: smtp://localhost:N: connected (127.0.0.1) port N
ok    relay: EHLO: it offers SIZE 33554432, 8BITMIME, SMTPUTF8, AUTH LOGIN PLAIN, HELP
ok    relay: encrypted with TLS…
look  relay: the certificate for localhost, 127.0.0.1, by CN = Test CA, until TIME; that is in …
      The relay's operator must renew it. When it has ended, no mail goes.
ok    relay: logged in as usr
--- a certificate self-signed: 1
ok    relay: smtp://localhost:N: connected (127.0.0.1) port N
ok    relay: EHLO: it offers SIZE 33554432, 8BITMIME, SMTPUTF8, STARTTLS, HELP
look  relay: the certificate for localhost, 127.0.0.1, by CN = localhost, until TIME is not accepted: SSL certificate problem: self-signed certificate
      If it is your own CA's, name that in the transport: ?cafile=/path/to/ca.pem. If not, somebody may be in the way: send no login.
--- smtps:// and a certificate of another host: 1
ok    relay: smtps://localhost:N: connected (127.0.0.1) port N
look  relay: the certificate for other.example.org, by CN = Test CA, until TIME is not accepted: SSL: no alternative certificate subject name matches target host name 'localhost'
      Write one of its names in the transport: other.example.org.
--- smtp:// to a port of smtps://: 1
ok    relay: smtp://localhost:N: connected (127.0.0.1) port N
look  relay: no greeting came: server response timeout
      A server that expects TLS at once (usually on port N) says nothing to smtp://: write smtps://. Otherwise look at the server.
--- no STARTTLS: 1
ok    relay: smtp://localhost:N: connected (127.0.0.1) port N
ok    relay: EHLO: it offers SIZE 33554432, 8BITMIME, SMTPUTF8, HELP
look  relay: no encryption: STARTTLS not supported.
      Take a port with TLS (smtps:// and 465), or ask the operator. Only if nobody else is on the way to the relay: add ?tls=none to the transport.
--- no login offered: 1
ok    relay: smtp://localhost:N: connected (127.0.0.1) port N
ok    relay: EHLO: it offers SIZE 33554432, 8BITMIME, SMTPUTF8, HELP
ok    relay: not encrypted: it is on this host
look  relay: the relay offers no login that can be used, but user and password are set
      Take the relay's port for clients: 587 with smtp://, or 465 with smtps://. Or remove user and password, if the relay knows this host.
--- nothing wanted: 0
ok    relay: smtp://localhost:N: connected (127.0.0.1) port N
ok    relay: EHLO: it offers SIZE 33554432, 8BITMIME, SMTPUTF8, HELP
ok    relay: not encrypted: it is on this host
ok    relay: no login: the transport names no user
--- a closed port: 1
look  relay: smtp://127.0.0.1:N: Failed to connect to 127.0.0.1 port N after N ms: Couldn't connect to server
      Nothing listens on port N there. Take the port that the relay's operator names: 587 with smtp://, or 465 with smtps://.
--- no such host: 1
look  relay: smtp://relay.invalid:N: Could not resolve host: relay.invalid
      Check the name relay.invalid in the transport, and this host's /etc/resolv.conf.
--- a silent server: 1
ok    relay: smtp://127.0.0.1:N: connected (127.0.0.1) port N
look  relay: no greeting came: server response timeout
      A server that expects TLS at once (usually on port N) says nothing to smtp://: write smtps://. Otherwise look at the server.
--- LMTP to a silent server: 1
ok    relay: lmtp://127.0.0.1:N: connected (127.0.0.1) port N
look  relay: no greeting came: the relay did not greet in time
      A server that speaks SMTP there wants smtp:// in the transport. Otherwise look at the server.
--- LMTP to a server of SMTP: 1
ok    relay: lmtp://localhost:N: connected (127.0.0.1) port N
look  relay: it refuses this host: 500 Error: command "LHLO" not recognized
      A server that speaks SMTP there wants smtp:// in the transport. Otherwise look at the server.
--- LMTP to a closed port: 1
look  relay: lmtp://127.0.0.1:N: Failed to connect to 127.0.0.1 port N after N ms: Couldn't connect to server
      Start the LMTP server, or correct its address in the transport.
--- refused at once: 1
ok    relay: smtp://localhost:N: connected (127.0.0.1) port N
look  relay: it refuses this host: Got unexpected smtp-server response: 554; it said: 554 5.7.1 no service here
      Its words say why. Ask the operator to admit this host, or name this host with ?ehlo=NAME in the transport.
--- a relay that repeats the login: 1
ok    relay: smtp://localhost:N: connected (127.0.0.1) port N
ok    relay: EHLO: it offers PIPELINING, SIZE 67108864, AUTH PLAIN LOGIN, ENHANCEDSTATUSCODES, 8BITMIME, SMTPUTF8
ok    relay: not encrypted: it is on this host
look  relay: Login denied; it said: 535 5.7.8 not *** or ***
      Check user and password in the transport (with : / @ ? # percent-encoded). Many providers want a password for applications here.
--- null://null: 0
ok    relay: null:// has no relay: it throws mail away
--- sendmail://default: 0
ok    relay: sendmail:// hands mail to a program of this host: it knows the relay, and is not asked
--- file:///tmp/mail: 0
ok    relay: file:// has no relay: it writes into a directory
--- smtp://localhost:x: 1
look  relay: the transport cannot be used: transport: what follows :// must be host, host:port or user:password@host:port, without path or fragment; the port is 1 to 65535, IPv6 is [2001:db8::1], non-ASCII hosts are A-labels (xn--...); in user and password write : / @ ? # % as %3A %2F %40 %3F %23 %25
      mailqueue doctor says how a transport is written.
--- bogus: 1
look  relay: the transport cannot be used: transport: it does not begin with a scheme that is known; write smtp://user:password@host:587, smtps://user:password@host:465, lmtp:///run/dovecot/lmtp, sendmail://default, file:///directory, null://null, or a mail API's ses+https://, mailgun+https://, microsoftgraph+https:// or gmail+https://
      mailqueue doctor says how a transport is written.
--- no option: 64
mailqueue: --from and --selector need --dns.
--- JSON: 0
[
    {
        "ok": true,
        "what": "relay: smtp://localhost:N: connected (127.0.0.1) port N",
        "cure": "",
        "run": null
    },
    {
        "ok": true,
        "what": "relay: EHLO: it offers SIZE 33554432, 8BITMIME, SMTPUTF8, HELP",
        "cure": "",
        "run": null
    },
    {
        "ok": true,
        "what": "relay: not encrypted: it is on this host",
        "cure": "",
        "run": null
    },
    {
        "ok": true,
        "what": "relay: no login: the transport names no user",
        "cure": "",
        "run": null
    }
]
4 ok what cure run
