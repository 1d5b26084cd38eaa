--TEST--
OAuth2: Dovecot's submission service takes XOAUTH2 and OAUTHBEARER; expired and revoked tokens are refreshed once, and count no attempt
--EXTENSIONS--
posix
pdo_sqlite
--SKIPIF--
<?php
namespace MailQueueTest;
require __DIR__ . '/oauth.inc';
echo OAuthServer::missing() ?: Dovecot::missing(submission: true);
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/oauth.inc';

const USER = 'alice%40example.org';
$server = new OAuthServer();
$sink = new Sink();

/** Runs a queue of mails; says how it ended, what is left, and what was asked of the server. */
function runs(string $name, Dovecot $dovecot, OAuthServer $server, int $mails = 3, string $auth = 'oauth2',
    string $account = 'main'): void
{
    static $run = 0;
    $run++;
    $before = $server->counts();
    $queue = new TestQueue();
    for ($i = 1; $i <= $mails; $i++) {
        $queue->add("r{$run}m$i", ["a$i@example.org"]);
    }
    $report = $queue->work('smtp://' . USER . "@127.0.0.1:$dovecot->port?auth=$auth&account=$account&pipelining=1",
        connections: 4);
    $asked = [];
    foreach ($server->counts() as $what => $count) {
        $count === ($before[$what] ?? 0) || $asked[] = $what . ': ' . $count - ($before[$what] ?? 0);
    }
    $claimed = array_count_values(array_column($queue->events, 'event'))['claimed'] ?? 0;
    echo "$name: $report->end, ", $report->end === 'relay' ? "$claimed claimed, " : '', implode(', ', array_map(fn($state, $n) => "$n $state",
        array_keys($all = array_count_values($queue->states())), $all)), '; ',
        $asked ? implode(', ', $asked) : 'nothing asked', "\n", $report->reason ? "    $report->reason\n" : '';
}

foreach (['xoauth2', 'oauthbearer', 'plain oauthbearer xoauth2'] as $mechanisms) {
    $dovecot = new Dovecot([], $sink->port, $server->introspection(), $mechanisms);
    $server->account('main', 3600);
    runs("$mechanisms, a good token", $dovecot, $server);
    $server->account('main');
    runs("$mechanisms, no token yet", $dovecot, $server);
    $server->account('main', -10);
    runs("$mechanisms, an expired token", $dovecot, $server);
    $server->account('main', 3600);
    $server->do('revoke');
    runs("$mechanisms, a revoked token", $dovecot, $server);
}
foreach (['xoauth2', 'oauthbearer'] as $auth) {
    runs("only $auth", $dovecot, $server, 1, $auth);
}
echo '-- mode ', decoct(fileperms($server->path('main')) & 0777), ', left: ',
    implode(' ', array_map(basename(...), glob("$server->accounts/*"))), "\n";

echo "-- a token of somebody else\n";
$server->account('main', 3600, ['user' => 'bob@example.org']);
runs('bob as alice', $dovecot, $server);

echo "-- the relay offers passwords only\n";
$server->account('main', 3600);
runs('plain', new Dovecot(['x' => 'y'], $sink->port), $server);

echo "-- the refresh token is another client's\n";
$server->account('main', null, ['client_id' => 'other']);
runs('other client', $dovecot, $server);
$server->do('settings', ['fault' => 'slow', 'faults' => -1, 'delay' => 3000]);
$server->account('main', null, ['client_id' => 'other']);
runs('other client, after 3 s', $dovecot, $server);
$server->do('settings', ['fault' => null, 'faults' => 0]);

echo "-- the server has revoked the refresh token\n";
$server->account('main');
$server->write('main', ['refresh_token' => 'gone'] + $server->read('main'));
runs('revoked', $dovecot, $server);
var_dump($sink->violations() === []);
?>
--EXPECT--
xoauth2, a good token: empty, 3 gone; nothing asked
xoauth2, no token yet: empty, 3 gone; refresh_token 200: 1
xoauth2, an expired token: empty, 3 gone; refresh_token 200: 1
xoauth2, a revoked token: empty, 3 gone; refresh_token 200: 1
oauthbearer, a good token: empty, 3 gone; nothing asked
oauthbearer, no token yet: empty, 3 gone; refresh_token 200: 1
oauthbearer, an expired token: empty, 3 gone; refresh_token 200: 1
oauthbearer, a revoked token: empty, 3 gone; refresh_token 200: 1
plain oauthbearer xoauth2, a good token: empty, 3 gone; nothing asked
plain oauthbearer xoauth2, no token yet: empty, 3 gone; refresh_token 200: 1
plain oauthbearer xoauth2, an expired token: empty, 3 gone; refresh_token 200: 1
plain oauthbearer xoauth2, a revoked token: empty, 3 gone; refresh_token 200: 1
only xoauth2: empty, 1 gone; nothing asked
only oauthbearer: empty, 1 gone; nothing asked
-- mode 600, left: main.json main.lock
-- a token of somebody else
bob as alice: relay, 3 claimed, 3 pending 0; refresh_token 200: 1
    the relay refuses a new token of account main: may it send as this user? If so, log in again: mailqueue login generic --account main; it said: 535 5.7.8 Authentication failed.
-- the relay offers passwords only
plain: relay, 3 claimed, 3 pending 0; nothing asked
    Login denied; it offers PLAIN LOGIN CRAM-MD5; XOAUTH2 and OAUTHBEARER are spoken
-- the refresh token is another client's
other client: relay, 0 claimed, 3 pending 0; refresh_token 400: 1
    account main: log in again: mailqueue login generic --account main (the refresh token has ended, was revoked or belongs to another client: invalid_grant: grant request is invalid)
other client, after 3 s: relay, 0 claimed, 3 pending 0; refresh_token 400: 1
    account main: log in again: mailqueue login generic --account main (the refresh token has ended, was revoked or belongs to another client: invalid_grant: grant request is invalid)
-- the server has revoked the refresh token
revoked: relay, 0 claimed, 3 pending 0; refresh_token 400: 1
    account main: log in again: mailqueue login generic --account main (the refresh token has ended, was revoked or belongs to another client: invalid_grant: grant request is invalid)
bool(true)
