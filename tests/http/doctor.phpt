--TEST--
doctor --relay asks a mail API, shows no key, and sends nothing; no key on the command line
--EXTENSIONS--
mailqueue
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/../lib/api.inc';
require __DIR__ . '/../lib/certificates.inc';

$queue = new TestQueue();
$doctor = static function (string $what, string $dsn, ?Api $api = null) use ($queue): void {
    $run = command_line($queue, $dsn, 'doctor', '--relay');
    $all = $run['output'] . $run['errors'];
    echo "-- $what\n";
    foreach (explode("\n", $run['output']) as $line) {
        if (str_contains($line, 'relay: ') || str_contains($line, 'mail goes to') || str_contains($line, 'goes out with')) {
            echo preg_replace(['/:\d{4,5}\b/', '/encrypted with \S+( \/ \S+)?/', '/(\S+  relay: \S+ (?:SSL|Fail|Could|connect)).*/', '/(Failed to connect).*/'], [':PORT', 'encrypted with CIPHER', '$1…', '$1…'], $line), "\n";
        }
    }
    foreach (['AKIDEXAMPLE', 'wJalrX', 'key-0123'] as $secret) {
        echo str_contains($all, $secret) ? "shows $secret\n" : '';
    }
    foreach ($api?->requests() ?? [] as $request) {
        echo "  $request[method] $request[target] ", $request['fault'] ?? 'ok', "\n";
    }
};

$api = new Api(['answer' => ['status' => 200, 'body' => '{"SendingEnabled":true}']] + SES);
$doctor('SES', ses($api), $api);
$doctor('SES, another secret', str_replace('wJalr', 'xJalr', ses($api)));
$api = new Api(['authorization' => 'Basic ' . base64_encode('api:key-0123456789')]);
$doctor('Mailgun', "mailgun+https://key-0123456789:mg.example.org@127.0.0.1:$api->port?tls=none", $api);
$certificates = new Certificates();
$api = new Api($certificates->issue() + SES);
$dsn = str_replace('&tls=none', '', ses($api));
$doctor('TLS', "$dsn&cafile=$certificates->ca", $api);
$doctor('TLS, an unknown CA', $dsn);
$doctor('TLS, not checked', "$dsn&verify_peer=0");
$accounts = temporary_directory('accounts');
putenv("MAILQUEUE_ACCOUNTS=$accounts");
$tokens = new Api(['answer' => ['status' => 200, 'body' => '{"access_token":"key-0123"}']]);
$before = count($api->requests());
foreach (['without a token' => 1, 'with one' => $tokens->port] as $what => $port) {
    file_put_contents("$accounts/shop.json", json_encode(['provider' => 'generic', 'grant' => 'refresh_token', 'client_id' => 'c',
        'token_endpoint' => "http://127.0.0.1:$port/token", 'refresh_token' => 'key-0123']));
    chmod("$accounts/shop.json", 0600);
    $doctor("an account $what", "gmail+https://127.0.0.1:$api->port?account=shop&cafile=$certificates->ca");
}
echo count($api->requests()) - $before, " requests\n";
$doctor('nobody there', 'ses+https://AKIDEXAMPLE:wJalrX@127.0.0.1:' . closed_port() . '?tls=none&region=x');

echo "-- on the command line\n";
foreach (['ses+https://AKIDEXAMPLE:wJalrX@default?region=x', 'mailgun+https://key-0123:example.org@default'] as $dsn) {
    $run = command_line($queue, 'null://null', 'work', '--transport', $dsn);
    echo $run['code'], ' ', substr($run['errors'], 0, 41), str_contains($run['errors'], 'wJalrX') ? ' shown' : '', "\n";
}

echo "-- an account of Microsoft has a scope for SMTP or for Graph\n";
putenv('MAILQUEUE_ACCOUNTS=' . $accounts = temporary_directory('accounts'));
foreach ([['https://graph.microsoft.com/Mail.Send offline_access', 'refresh_token'], ['https://outlook.office365.com/.default', 'client_credentials']] as [$scope, $grant]) {
    file_put_contents("$accounts/main.json", json_encode(['provider' => 'microsoft', 'grant' => $grant, 'client_id' => 'c',
        'client_secret' => 's3cret', 'refresh_token' => 'r3fresh', 'token_endpoint' => 'https://127.0.0.1:1/token', 'scope' => $scope]));
    chmod("$accounts/main.json", 0600);
    foreach (['smtp://user@h?auth=oauth2&account=main', 'microsoftgraph+https://default?account=main'] as $dsn) {
        preg_match_all('/^.*account main.*|^ +mailqueue login.*/m', command_line($queue, $dsn, 'doctor')['output'], $match);
        echo strtok($dsn, ':'), ":\n  ", implode("\n  ", $match[0]), "\n";
    }
}
?>
--EXPECT--
-- SES
ok    relay: ses+https://127.0.0.1:PORT: connected, not encrypted: it is on this host
ok    relay: the key is accepted
  GET /v2/email/account ok
-- SES, another secret
ok    relay: ses+https://127.0.0.1:PORT: connected, not encrypted: it is on this host
look  relay: 403 SignatureDoesNotMatch: wrong signature
-- Mailgun
ok    relay: mailgun+https://127.0.0.1:PORT: connected, not encrypted: it is on this host
ok    relay: the key is accepted
  GET /v3/domains/mg.example.org ok
-- TLS
ok    relay: ses+https://127.0.0.1:PORT: connected, encrypted with CIPHER
ok    relay: the key is accepted
  GET /v2/email/account ok
-- TLS, an unknown CA
look  relay: ses+https://127.0.0.1:PORT: SSL…
-- TLS, not checked
ok    relay: ses+https://127.0.0.1:PORT: connected, encrypted with CIPHER
ok    relay: the key is accepted
-- an account without a token
ok    relay: gmail+https://127.0.0.1:PORT: connected, encrypted with CIPHER
ok    relay: the login is not tried: this API has no call for it that needs no other right
look  relay: no access token: account shop: no token came: Failed to connect…
-- an account with one
ok    relay: gmail+https://127.0.0.1:PORT: connected, encrypted with CIPHER
ok    relay: the login is not tried: this API has no call for it that needs no other right
ok    relay: account shop has an access token
0 requests
-- nobody there
look  relay: ses+https://127.0.0.1:PORT: Fail…
-- on the command line
64 mailqueue: No password in --transport: ev
64 mailqueue: No password in --transport: ev
-- an account of Microsoft has a scope for SMTP or for Graph
smtp:
  look  account main has the scope https://graph.microsoft.com/Mail.Send offline_access, which is not for SMTP: the relay will refuse its tokens
          mailqueue login microsoft --account main --scope 'https://outlook.office.com/SMTP.Send offline_access'
  ok    account main is there and private; it has no access token yet
microsoftgraph+https:
  ok    account main is there and private; it has no access token yet
smtp:
  ok    account main is there and private; it has no access token yet
microsoftgraph+https:
  look  account main has the scope https://outlook.office365.com/.default, which is not for Microsoft Graph: the relay will refuse its tokens
          mailqueue login microsoft --account main --scope https://graph.microsoft.com/.default --client-credentials
  ok    account main is there and private; it has no access token yet
