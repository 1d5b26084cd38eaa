--TEST--
OAuth2: login by device code, browser and client credentials; accounts and logout; no secret is shown
--EXTENSIONS--
posix
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
require dirname(__DIR__) . '/lib/cli.inc';
require dirname(__DIR__) . '/lib/api.inc';

$keys = temporary_directory('keys');
$server = new OAuthServer(['certificates' => [['rsa-client', certificate("$keys/rsa.pem", OPENSSL_KEYTYPE_RSA), 'RS256']]]);
$environment = ['MAILQUEUE_ACCOUNTS' => "$server->accounts/new"];
$shown = '';

/** Starts a command; $says gets each line of its standard error. Prints how it ended. */
function login(array $words, ?callable $says = null, array $environment = [], string $input = '', array $starter = []): void
{
    global $shown;
    $process = proc_open([...$starter, ...cli_command($words)], [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes, temp_home(),
        $environment + $GLOBALS['environment'] + ['PATH' => getenv('PATH'), 'HOME' => temp_home()]
            + sanitizer_environment());
    fwrite($pipes[0], $input);
    fclose($pipes[0]);
    $errors = '';
    while (($line = fgets($pipes[2])) !== false) {
        $errors .= $line;
        $says === null || $says($line);
    }
    $output = stream_get_contents($pipes[1]);
    $shown .= $output . $errors;
    echo 'exit ', proc_close($process), "\n", preg_replace(['~\d{5}~', '~\d{4}-\d\d-\d\d \S+~', '~[A-Z]{4}-[A-Z]{4}~',
        '~(code_challenge|state)=[\w-]+~', '~(?<![:/])/\S*/accounts~', '~/\S*/rsa~', '~Write of \d+~'], ['PORT', 'TIME', 'CODE', '$1=…', 'DIR', 'rsa', 'Write of N'], $output . $errors);
}

$generic = ['login', 'generic', '--account', 'main', '--client-id', 'public', '--scope', 'openid offline_access mail',
    '--token-endpoint', "$server->issuer/token", '--device-endpoint', "$server->issuer/device/auth",
    '--authorization-endpoint', "$server->issuer/auth", '--revocation-endpoint', "$server->issuer/token/revocation"];
$approves = function (string $line, int $after = 0) use ($server): void {
    preg_match('/the code (\S+)\./', $line, $match)
        && $server->do('approve', ['code' => $match[1], 'user' => 'alice@example.org', 'after' => $after]);
};

echo "-- a code to enter\n";
login($generic, $approves);
$file = "$server->accounts/new/main.json";
echo decoct(fileperms($file)), ' ', decoct(fileperms(dirname($file))), ' ',
    implode(' ', array_keys(json_decode(file_get_contents($file), true))), "\n";
echo "-- again, with what the account has; the server is slow, then wants to be asked less often\n";
$started = microtime(true);
$server->do('settings', ['fault' => 'slow_down', 'faults' => 1]);
login(['login', 'generic', '--account', 'main'], $approves);
$server->do('settings', ['fault' => null]);
var_dump(microtime(true) - $started > 1 + 6);
echo "-- the user takes five seconds, and the server wants to be asked every two\n";
$asked = static fn(string $what): int => $server->counts()[$what] ?? 0;
$before = [$asked('device_code 400'), $asked('device_code 200')];
$server->do('settings', ['interval' => 2]);
login(['login', 'generic', '--account', 'main'], fn(string $line) => $approves($line, 5000));
$server->do('settings', ['interval' => 1]);
$pending = $asked('device_code 400') - $before[0];
echo $pending === 1 || $pending === 2 ? 'asked again' : "asked $pending times too early", ', ',
    $asked('device_code 200') - $before[1], " time with success\n";
echo "-- an answer of 10 MB, and one that the server is down: asked half as often from then on\n";
foreach (['huge', 'down'] as $fault) {
    $started = microtime(true);
    $server->do('settings', ['fault' => $fault, 'faults' => 1]);
    login(['login', 'generic', '--account', 'main'], $approves);
    $server->do('settings', ['fault' => null]);
    var_dump(microtime(true) - $started > 1 + 2);
}
echo $asked('fault 200'), ' ', $asked('fault 503'), "\n";
echo "-- denied\n";
$before = file_get_contents($file);
login(['login', 'generic', '--account', 'main'], fn(string $line) => preg_match('/the code (\S+)\./', $line, $match)
    && $server->do('deny', ['code' => $match[1]]));
var_dump(file_get_contents($file) === $before);
echo "-- a full disk\n";
login(['login', 'generic', '--account', 'main'], $approves, starter: ['sh', '-c', 'trap "" XFSZ; ulimit -f 1; exec "$@"', 'sh']);
var_dump(isset(json_decode(file_get_contents($file))->refresh_token));

echo "-- a browser\n";
$browses = function (string $line) use ($server): void {
    if (preg_match('~^ +(http\S+)$~', $line, $match)) {
        preg_match('~redirect_uri=([^&]+)~', $match[1], $to);
        $to = rawurldecode($to[1]);
        // Another program of this machine is not taken for the browser.
        echo file_get_contents("{$to}?code=evil&state=wrong", context: stream_context_create(['http'
            => ['ignore_errors' => true]])), ' ', $http_response_header[0], "\n";
        $directory = temporary_directory('browser');
        echo run(['curl', '-s', '-L', '-c', "$directory/jar", '-b', "$directory/jar", $match[1]]), "\n";
    }
};
login([...$generic, '--browser'], $browses);
var_dump(file_get_contents($file) !== $before);
$server->do('settings', ['denies' => true]);
login(['login', 'generic', '--account', 'main', '--browser'], $browses);
$server->do('settings', ['denies' => false]);

echo "-- a client with a secret\n";
login([...$generic, '--account', 'secret', '--client-id', 'confidential', '--secret'], $approves, [],
    "conf s3cret:+&=\n");
$service = ['login', 'generic', '--account', 'service', '--client-credentials', '--client-id', 'service',
    '--client-auth', 'post', '--scope', 'mail', '--token-endpoint', "$server->issuer/token"];
login($service);
login($service, null, ['MAILQUEUE_CLIENT_SECRET' => 'wr0ng-s3cret']);
login($service, null, ['MAILQUEUE_CLIENT_SECRET' => 'service-s3cret']);
echo "-- a certificate in place of a secret\n";
file_put_contents("$server->accounts/new/switch.json", json_encode(['provider' => 'generic', 'grant' => 'client_credentials',
    'token_endpoint' => "$server->issuer/token", 'client_id' => 'rsa-client', 'scope' => 'mail', 'client_auth' => 'post',
    'client_secret' => 'old-s3cret']));
chmod("$server->accounts/new/switch.json", 0600);
$switch = ['login', 'generic', '--account', 'switch', '--client-credentials', '--certificate', "$keys/rsa.pem"];
login($switch, null, ['MAILQUEUE_CLIENT_SECRET' => 'old-s3cret']);
login($switch);
var_dump(isset(json_decode(file_get_contents("$server->accounts/new/switch.json"))->client_secret));
login(['logout', 'switch', '--yes']);

echo "-- Google: the login that its documentation has for programs\n";
login(['login', 'google', '--account', 'g', '--client-id', 'x'], function (string $line): void {
    if (preg_match('~^ +(https://\S+)$~', $line, $match)) {
        parse_str(parse_url($match[1], PHP_URL_QUERY), $query);
        file_get_contents("$query[redirect_uri]?" . http_build_query(['state' => $query['state'], 'error' => 'access_denied']));
    }
});
echo "-- Microsoft: the shapes of its documentation\n";
$microsoft = new Api();
$tokens = static fn(string $access, string $refresh): array => ['status' => 200, 'body' => json_encode(['token_type' => 'Bearer',
    'scope' => 'https://outlook.office.com/SMTP.Send', 'expires_in' => 4000, 'ext_expires_in' => 4000, 'access_token' => $access,
    'refresh_token' => $refresh])];
$microsoft->answers(
    ['status' => 200, 'body' => json_encode(['user_code' => 'ABCD-EFGH', 'device_code' => 'device-s3cret',
        'verification_uri' => 'https://login.example/device', 'expires_in' => 900, 'interval' => 1, 'message' => 'Sign in.'])],
    ['status' => 400, 'body' => json_encode(['error' => 'authorization_pending', 'error_description' => 'AADSTS70016: wait',
        'error_codes' => [70016], 'timestamp' => '2026-11-26 10:00:00Z', 'trace_id' => '0f', 'correlation_id' => '0f',
        'error_uri' => 'https://login.example/error?code=70016'])],
    $tokens('access-s3cret-1', 'refresh-s3cret-1'),
    $tokens('access-s3cret-2', 'refresh-s3cret-2'),
);
login(['login', 'microsoft', '--account', 'm', '--client-id', 'x', '--device-endpoint', "http://127.0.0.1:$microsoft->port/devicecode",
    '--token-endpoint', "http://127.0.0.1:$microsoft->port/token"]);
foreach ($microsoft->requests() as $request) {
    echo "$request[method] $request[target] ", urldecode($request['body']), "\n";
}
$kept = json_decode(file_get_contents("$server->accounts/new/m.json"), true);
echo "$kept[access_token] $kept[refresh_token], for about an hour: ", json_encode(abs($kept['expires_at'] - time() - 4000) < 300), "\n";
unlink("$server->accounts/new/m.json");

echo "-- wrong words\n";
login(['login']);
login(['login', 'gogle']);
login(['login', 'google', '--account', 'a']);
login(['login', 'generic', '--account', '../a']);
login(['login', 'generic', '--account', 'a', '--client-id', 'x', '--scope', 'y', '--token-endpoint', 'http://id.example/',
    '--device-endpoint', 'http://id.example/']);
login([...$generic, '--account', 'a', '--client-id', 'nobody']);

echo "-- accounts; the server says when logins end\n";
$server->do('settings', ['ends' => 604799]);
login(['login', 'generic', '--account', 'main'], $approves);
$server->do('settings', ['ends' => null]);
login(['accounts']);
chmod($file, 0644);
login(['accounts', '--json']);
chmod($file, 0600);
$token = json_decode(file_get_contents($file))->refresh_token;
login(['logout', 'mian', '--yes']);
login(['logout', 'main']);
file_put_contents("$file.new", 'left by a process that was killed');
login(['logout', 'main', '--yes']);
echo implode(' ', glob("$file*")), "\n";
login(['logout', 'service', '--yes']);
login(['accounts']);

// The server has revoked the token, and nothing secret was shown.
$server->write('old', ['provider' => 'generic', 'grant' => 'refresh_token', 'client_id' => 'public',
    'token_endpoint' => "$server->issuer/token", 'refresh_token' => $token]);
putenv("MAILQUEUE_ACCOUNTS=$server->accounts");
try {
    \MailQueue\Internal::oauthToken('old');
} catch (\MailQueue\TransportException $e) {
    echo str_contains($e->getMessage(), 'invalid_grant') ? 'revoked' : $e->getMessage(), "\n";
}
foreach ([$token, json_decode($before)->access_token, 's3cret'] as $secret) {
    var_dump(str_contains($shown, $secret));
}
?>
--EXPECT--
-- a code to enter
exit 0
Account main is ready, in DIR/new/main.json. Use it so:
    smtp://USER@HOST:587?auth=oauth2&account=main
Open http://127.0.0.1:PORT/device in a browser, and enter the code CODE. This waits for it; Ctrl+C ends it.
100600 40700 provider grant client_id scope token_endpoint authorization_endpoint device_endpoint revocation_endpoint client_auth refresh_token access_token expires_at refresh_at
-- again, with what the account has; the server is slow, then wants to be asked less often
exit 0
Account main is ready, in DIR/new/main.json. Use it so:
    smtp://USER@HOST:587?auth=oauth2&account=main
Open http://127.0.0.1:PORT/device in a browser, and enter the code CODE. This waits for it; Ctrl+C ends it.
bool(true)
-- the user takes five seconds, and the server wants to be asked every two
exit 0
Account main is ready, in DIR/new/main.json. Use it so:
    smtp://USER@HOST:587?auth=oauth2&account=main
Open http://127.0.0.1:PORT/device in a browser, and enter the code CODE. This waits for it; Ctrl+C ends it.
asked again, 1 time with success
-- an answer of 10 MB, and one that the server is down: asked half as often from then on
exit 0
Account main is ready, in DIR/new/main.json. Use it so:
    smtp://USER@HOST:587?auth=oauth2&account=main
Open http://127.0.0.1:PORT/device in a browser, and enter the code CODE. This waits for it; Ctrl+C ends it.
bool(true)
exit 0
Account main is ready, in DIR/new/main.json. Use it so:
    smtp://USER@HOST:587?auth=oauth2&account=main
Open http://127.0.0.1:PORT/device in a browser, and enter the code CODE. This waits for it; Ctrl+C ends it.
bool(true)
1 1
-- denied
exit 77
Open http://127.0.0.1:PORT/device in a browser, and enter the code CODE. This waits for it; Ctrl+C ends it.
mailqueue: The login was denied; nothing was changed.
bool(true)
-- a full disk
exit 78
Open http://127.0.0.1:PORT/device in a browser, and enter the code CODE. This waits for it; Ctrl+C ends it.
mailqueue: DIR/new/main.json cannot be written: fwrite(): Write of N bytes failed with errno=27 File too large.
bool(true)
-- a browser
This is not the answer to this login. HTTP/1.1 404 Not Found
The login is done. Go back to the terminal.
exit 0
Account main is ready, in DIR/new/main.json. Use it so:
    smtp://USER@HOST:587?auth=oauth2&account=main
Open this address in a browser on this machine:

    http://127.0.0.1:PORT/auth?response_type=code&client_id=public&scope=openid%20offline_access%20mail&code_challenge_method=S256&redirect_uri=http%3A%2F%2F127.0.0.1%3APORT%2F&state=…&code_challenge=…

This waits for the browser to come back; Ctrl+C ends it. If the browser runs elsewhere, let it reach this port: ssh -L PORT:127.0.0.1:PORT HOST (--port sets it).
bool(true)
This is not the answer to this login. HTTP/1.1 404 Not Found
The login was not allowed. Go back to the terminal.
exit 77
Open this address in a browser on this machine:

    http://127.0.0.1:PORT/auth?response_type=code&client_id=public&scope=openid%20offline_access%20mail&code_challenge_method=S256&redirect_uri=http%3A%2F%2F127.0.0.1%3APORT%2F&state=…&code_challenge=…

This waits for the browser to come back; Ctrl+C ends it. If the browser runs elsewhere, let it reach this port: ssh -L PORT:127.0.0.1:PORT HOST (--port sets it).
mailqueue: The login was denied; nothing was changed.
-- a client with a secret
exit 0
Account secret is ready, in DIR/new/secret.json. Use it so:
    smtp://USER@HOST:587?auth=oauth2&account=secret
Open http://127.0.0.1:PORT/device in a browser, and enter the code CODE. This waits for it; Ctrl+C ends it.
exit 64
mailqueue: --client-credentials needs a secret or a certificate: MAILQUEUE_CLIENT_SECRET, --secret (asks for it) or --certificate FILE.
exit 69
mailqueue: account service: renew the client secret or the certificate, and log in again: mailqueue login generic --account service (the client is refused: invalid_client: client authentication failed)
exit 0
Account service is ready, in DIR/new/service.json. Use it so:
    smtp://USER@HOST:587?auth=oauth2&account=service
-- a certificate in place of a secret
exit 64
mailqueue: Give a client secret or --certificate, not both.
exit 0
Account switch is ready, in DIR/new/switch.json. Use it so:
    smtp://USER@HOST:587?auth=oauth2&account=switch
bool(false)
exit 0
Account switch is gone from this machine. Its tokens may still be valid: revoke them at the provider.
-- Google: the login that its documentation has for programs
exit 77
Open this address in a browser on this machine:

    https://accounts.google.com/o/oauth2/v2/auth?access_type=offline&prompt=consent&response_type=code&client_id=x&scope=https%3A%2F%2Fmail.google.com%2F&code_challenge_method=S256&redirect_uri=http%3A%2F%2F127.0.0.1%3APORT%2F&state=…&code_challenge=…

This waits for the browser to come back; Ctrl+C ends it. If the browser runs elsewhere, let it reach this port: ssh -L PORT:127.0.0.1:PORT HOST (--port sets it).
mailqueue: The login was denied; nothing was changed.
-- Microsoft: the shapes of its documentation
exit 0
Account m is ready, in DIR/new/m.json. Use it so:
    smtp://USER@smtp.office365.com:587?auth=oauth2&account=m
Open https://login.example/device in a browser, and enter the code CODE. This waits for it; Ctrl+C ends it.
POST /devicecode scope=https://outlook.office.com/SMTP.Send offline_access&client_id=x
POST /token grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code=device-s3cret&client_id=x
POST /token grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code=device-s3cret&client_id=x
POST /token grant_type=refresh_token&refresh_token=refresh-s3cret-1&client_id=x
access-s3cret-2 refresh-s3cret-2, for about an hour: true
-- wrong words
exit 64
mailqueue: login needs a provider: microsoft, google, generic.
exit 64
mailqueue: login needs a provider: microsoft, google, generic. Did you mean google?
exit 64
mailqueue: login google needs --client-id.
exit 64
mailqueue: An account's name has letters, digits, and - _ . @, at most 64, and begins with a letter, a digit, _ or @.
exit 78
mailqueue: the endpoint cannot be used: http://id.example/ must begin with https://, because secrets go there; http:// is for loopback only
exit 69
mailqueue: No code for a login came: invalid_client: client authentication failed.
-- accounts; the server says when logins end
exit 0
Account main is ready, in DIR/new/main.json. Use it so:
    smtp://USER@HOST:587?auth=oauth2&account=main
Open http://127.0.0.1:PORT/device in a browser, and enter the code CODE. This waits for it; Ctrl+C ends it.
exit 0
NAME     PROVIDER  SCOPE                       TOKEN UNTIL           LOGIN UNTIL
main     generic   openid offline_access mail  TIME  TIME
secret   generic   openid offline_access mail  TIME  -
service  generic   mail                        TIME  -
exit 0
[
    {
        "name": "main",
        "provider": "generic",
        "scope": "openid offline_access mail",
        "validUntil": PORTPORT,
        "loginUntil": PORTPORT,
        "ending": null,
        "fault": "account main: other users can read or write DIR/new/main.json (mode 0644); its tokens may be known to them: chmod it to 0600, and log in again"
    },
    {
        "name": "secret",
        "provider": "generic",
        "scope": "openid offline_access mail",
        "validUntil": PORTPORT,
        "loginUntil": null,
        "ending": null,
        "fault": null
    },
    {
        "name": "service",
        "provider": "generic",
        "scope": "mail",
        "validUntil": PORTPORT,
        "loginUntil": null,
        "ending": null,
        "fault": null
    }
]
exit 1
mailqueue: There is no account mian. Did you mean main?
exit 64
mailqueue: Forget account main? Add --yes.
exit 0
Account main is gone from this machine. The provider has revoked its tokens.

exit 0
Account service is gone from this machine. Its tokens may still be valid: revoke them at the provider.
exit 0
NAME    PROVIDER  SCOPE                       TOKEN UNTIL           LOGIN UNTIL
secret  generic   openid offline_access mail  TIME  -
revoked
bool(false)
bool(false)
bool(false)
