--TEST--
mailqueue bounces --account: Dovecot takes XOAUTH2 and OAUTHBEARER by IMAP and POP3; expired and revoked tokens are refreshed once
--EXTENSIONS--
mailqueue
openssl
pdo_sqlite
posix
--SKIPIF--
<?php
namespace MailQueueTest;
require __DIR__ . '/oauth.inc';
echo OAuthServer::missing() ?: Dovecot::missing(mailbox: true);
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/oauth.inc';
require __DIR__ . '/../bounce/mailbox.inc';

$server = new OAuthServer();
$certificates = new Certificates();
$app = database();
$queue = new \MailQueue($app);
$environment = ['MAILQUEUE_DATABASE' => $app, 'MAILQUEUE_ACCOUNTS' => $server->accounts];

/** Reads a mailbox with one bounce; says how that ended, and what was asked of the server. */
$reads = function (string $name, Dovecot $dovecot, string $scheme = 'imaps', string $user = 'alice%40example.org') use ($server, $certificates, $environment, $queue): void {
    static $number = 0;
    $dovecot->deliver(...bounces_to($queue, 'o' . ++$number . '@example.net'));
    $before = $server->counts();
    [$code, $out, $errors] = \cli(['bounces', "$scheme://$user@localhost:{$dovecot->ports[$scheme]}?cafile=$certificates->ca", '--delete', '--account', 'main'], $environment);
    $asked = [];
    foreach ($server->counts() as $what => $count) {
        $count === ($before[$what] ?? 0) || $asked[] = $what . ': ' . $count - ($before[$what] ?? 0);
    }
    foreach (glob("$server->accounts/*.json") as $file) {
        $token = json_decode(file_get_contents($file), true)['access_token'] ?? 'none';
        must(!str_contains($out . $errors, $token), 'no token is printed');
    }
    echo "$name: $code ", preg_replace('/:\d{4,5}\b/', ':PORT', rtrim($out . $errors)), ' | ', $asked ? implode(', ', $asked) : 'nothing asked', "\n";
};

foreach (['xoauth2', 'oauthbearer', 'plain oauthbearer xoauth2'] as $mechanisms) {
    $dovecot = new Dovecot([], 0, $server->introspection(), $mechanisms, mailbox: $certificates->issue());
    foreach (['imaps', 'pop3s', 'imap', 'pop3'] as $scheme) {
        $server->account('main', 3600);
        $reads("$mechanisms, $scheme, a good token", $dovecot, $scheme);
    }
    foreach (['imaps', 'pop3s'] as $scheme) {
        $server->account('main');
        $reads("$scheme, no token yet", $dovecot, $scheme);
        $server->account('main', -10);
        $reads("$scheme, an expired token", $dovecot, $scheme);
        $server->account('main', 3600);
        $server->do('revoke');
        $reads("$scheme, a revoked token", $dovecot, $scheme);
    }
}
echo '-- mode ', decoct(fileperms($server->path('main')) & 0777), ', left ', count($dovecot->messages()), "\n";
$server->account('main', 3600, ['user' => 'bob@example.org']);
$reads('bob as alice', $dovecot);
$reads('bob as alice', $dovecot, 'pop3s');
$server->account('main');
$server->write('main', ['refresh_token' => 'gone'] + $server->read('main'));
$reads('a revoked login', $dovecot);
$server->account('main', 3600);
$reads('passwords only', new Dovecot(['x' => 'y'], mechanisms: 'plain', mailbox: $certificates->issue()));
[$code, , $errors] = \cli(['bounces', 'imaps://a@localhost', '--account', 'nobody'], $environment);
echo "$code ", str_replace($server->accounts, '%', $errors);
?>
--EXPECT--
xoauth2, imaps, a good token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | nothing asked
xoauth2, pop3s, a good token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | nothing asked
xoauth2, imap, a good token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | nothing asked
xoauth2, pop3, a good token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | nothing asked
imaps, no token yet: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
imaps, an expired token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
imaps, a revoked token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
pop3s, no token yet: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
pop3s, an expired token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
pop3s, a revoked token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
oauthbearer, imaps, a good token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | nothing asked
oauthbearer, pop3s, a good token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | nothing asked
oauthbearer, imap, a good token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | nothing asked
oauthbearer, pop3, a good token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | nothing asked
imaps, no token yet: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
imaps, an expired token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
imaps, a revoked token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
pop3s, no token yet: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
pop3s, an expired token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
pop3s, a revoked token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
plain oauthbearer xoauth2, imaps, a good token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | nothing asked
plain oauthbearer xoauth2, pop3s, a good token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | nothing asked
plain oauthbearer xoauth2, imap, a good token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | nothing asked
plain oauthbearer xoauth2, pop3, a good token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | nothing asked
imaps, no token yet: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
imaps, an expired token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
imaps, a revoked token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
pop3s, no token yet: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
pop3s, an expired token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
pop3s, a revoked token: 0 1 looked at, 1 recorded, deleted: 1 hard; 1 suppressed. | refresh_token 200: 1
-- mode 600, left 0
bob as alice: 77 mailqueue: imaps://localhost:PORT refuses the login: NO [AUTHENTICATIONFAILED] Authentication failed. Check the user and whether account main may read this mailbox. | refresh_token 200: 1
bob as alice: 77 mailqueue: pop3s://localhost:PORT refuses the login: [AUTH] Authentication failed. Check the user and whether account main may read this mailbox. | refresh_token 200: 1
a revoked login: 69 mailqueue: Account main: log in again: mailqueue login generic --account main (the refresh token has ended, was revoked or belongs to another client: invalid_grant: grant request is invalid). | refresh_token 400: 1
passwords only: 69 mailqueue: imaps://localhost:PORT takes no access tokens; it offers PLAIN. | nothing asked
69 mailqueue: Account nobody: %/nobody.json: No such file or directory; mailqueue accounts lists those that there are, mailqueue login makes one.
