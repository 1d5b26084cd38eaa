--TEST--
OAuth2: many processes refresh once; client secrets and certificates; what broken and hostile servers answer
--EXTENSIONS--
posix
pcntl
openssl
pdo_sqlite
--SKIPIF--
<?php
namespace MailQueueTest;
require __DIR__ . '/oauth.inc';
echo OAuthServer::missing();
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/oauth.inc';
require dirname(__DIR__) . '/lib/certificates.inc';

use MailQueue\Internal;

function token(string $account): string
{
    try {
        Internal::oauthToken($account);
        return 'a token';
    } catch (\Throwable $e) {
        return get_class($e) . ': ' . $e->getMessage();
    }
}

$keys = temporary_directory('keys');
$server = new OAuthServer(['certificates' => [
    ['rsa-client', certificate("$keys/rsa.pem", OPENSSL_KEYTYPE_RSA), 'RS256'],
    ['ec-client', certificate("$keys/ec.pem", OPENSSL_KEYTYPE_EC), 'ES256'],
]]);
// What a proxy would be asked, nobody answers: the environment's is not used.
foreach (['http_proxy', 'https_proxy', 'all_proxy'] as $name) {
    putenv("$name=http://127.0.0.1:" . closed_port());
}

echo "-- 8 processes, one refresh\n";
$server->account('main', -1);
$server->do('settings', ['fault' => 'slow', 'faults' => -1, 'delay' => 500]);
$children = [];
for ($i = 0; $i < 8; $i++) {
    $child = pcntl_fork();
    if ($child === 0) {
        $said = token('main');
        fwrite(STDOUT, $said === 'a token' ? '' : "$said\n");
        posix_kill(getmypid(), SIGKILL); // no cleanup of the test's own
    }
    $children[] = $child;
}
array_map(fn($child) => pcntl_waitpid($child, $status), $children);
echo json_encode($server->counts()), "\n";
$server->do('settings', ['fault' => null]);

echo "-- a refresh token that is rotated, and one that is not\n";
foreach ([true, false] as $rotates) {
    $server->do('settings', ['rotate' => $rotates]);
    $server->account('main');
    $before = $server->read('main');
    echo token('main'), "\n";
    $after = $server->read('main');
    var_dump($before['refresh_token'] !== $after['refresh_token']);
    $server->write('main', ['expires_at' => 1] + $after);
    echo token('main'), "\n";
}

echo "-- clients\n";
$server->account('main', null, ['client_secret' => 'conf s3cret:+&=', 'client_auth' => 'basic'], 'confidential');
echo token('main'), "\n";
$service = ['provider' => 'generic', 'grant' => 'client_credentials', 'scope' => 'mail',
    'token_endpoint' => "$server->issuer/token"];
$server->write('service', $service + ['client_id' => 'service', 'client_secret' => 'service-s3cret']);
echo token('service'), "\n";
$server->write('bad', $service + ['client_id' => 'service', 'client_secret' => 'wr0ng']);
echo token('bad'), "\n";
foreach (['rsa', 'ec'] as $kind) {
    $server->write($kind, $service + ['client_id' => "$kind-client", 'certificate' => "$keys/$kind.pem"]);
    echo "$kind: ", token($kind), "\n";
}
$server->write('crossed', $service + ['client_id' => 'ec-client', 'certificate' => "$keys/rsa.pem"]);
echo token('crossed'), "\n";
chmod("$keys/ec.pem", 0644);
$server->write('ec', ['expires_at' => 1] + $server->read('ec'));
echo str_replace($keys, 'KEYS', token('ec')), "\n";

echo "-- faults\n";
$other = new OAuthServer();
putenv("MAILQUEUE_ACCOUNTS=$server->accounts");
$server->account('main');
$kept = $server->read('main');
$server->do('settings', ['target' => "$other->issuer/token", 'secret' => $kept['refresh_token'], 'faults' => -1]);
foreach (['huge', 'redirect', 'text', 'down', 'control', 'echo'] as $fault) {
    $server->do('settings', ['fault' => $fault]);
    echo "$fault: ", token('main'), "\n";
}
var_dump($other->counts() === [], $server->read('main') === $kept);
$server->do('settings', ['fault' => null]);
echo token('main'), "\n";

echo "-- nobody listens; a certificate that is not trusted\n";
$endpoint = 'http://127.0.0.1:' . closed_port() . '/token';
$server->write('main', ['token_endpoint' => $endpoint] + $kept);
echo preg_replace('/port \d+.*/', 'port …', token('main')), "\n";
$certificates = new Certificates();
foreach (['DNS:localhost,IP:127.0.0.1', 'DNS:other.example'] as $names) {
    $secure = new OAuthServer(['tls' => $certificates->issue($names)]);
    putenv("MAILQUEUE_ACCOUNTS=$secure->accounts");
    $secure->account('main');
    echo token('main'), "\n";
    $secure->write('main', ['cafile' => $certificates->ca] + $secure->read('main'));
    echo token('main'), "\n";
}
putenv("MAILQUEUE_ACCOUNTS=$server->accounts");
echo "-- bad accounts\n";
$server->write('main', ['token_endpoint' => 'http://id.example/token'] + $kept);
echo token('main'), "\n";
chmod($server->path('main'), 0644);
echo str_replace($server->accounts, 'DIR', token('main')), "\n";
echo str_replace($server->accounts, 'DIR', token('mian')), "\n";
?>
--EXPECT--
-- 8 processes, one refresh
{"refresh_token 200":1}
-- a refresh token that is rotated, and one that is not
a token
bool(true)
a token
a token
bool(false)
a token
-- clients
a token
a token
MailQueue\TransportException: account bad: renew the client secret or the certificate, and log in again: mailqueue login generic --account bad (the client is refused: invalid_client: client authentication failed)
rsa: a token
ec: a token
MailQueue\TransportException: account crossed: renew the client secret or the certificate, and log in again: mailqueue login generic --account crossed (the client is refused: invalid_client: client authentication failed)
MailQueue\TransportException: account: the certificate file KEYS/ec.pem can be read by all users; chmod it to 0600 or 0640
-- faults
huge: MailQueue\TransportException: account main: no token came: the answer is longer than 64 KiB
redirect: MailQueue\TransportException: account main: no token came: the token endpoint answers HTTP 307
text: MailQueue\TransportException: account main: no token came: the token endpoint answers HTTP 200 without a token that can be used
down: MailQueue\TransportException: account main: no token came: the token endpoint answers HTTP 503
control: MailQueue\TransportException: account main: no token came: the token endpoint answers HTTP 200 without a token that can be used
echo: MailQueue\TransportException: account main: log in again: mailqueue login generic --account main (the refresh token has ended, was revoked or belongs to another client: invalid_grant)
bool(true)
bool(true)
a token
-- nobody listens; a certificate that is not trusted
MailQueue\TransportException: account main: no token came: Failed to connect to 127.0.0.1 port …
MailQueue\TransportException: account main: no token came: SSL certificate problem: unable to get local issuer certificate
a token
MailQueue\TransportException: account main: no token came: SSL certificate problem: unable to get local issuer certificate
MailQueue\TransportException: account main: no token came: SSL: no alternative certificate subject name matches target host name '127.0.0.1'
-- bad accounts
MailQueue\Exception: account main: the endpoint http://id.example/token must begin with https://, because secrets go there; http:// is for loopback only
MailQueue\Exception: account main: other users can read or write DIR/main.json (mode 0644); its tokens may be known to them: chmod it to 0600, and log in again
MailQueue\Exception: account mian: DIR/mian.json: No such file or directory; mailqueue accounts lists those that there are, mailqueue login makes one
