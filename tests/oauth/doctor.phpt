--TEST--
OAuth2: doctor names a missing, readable or refused account, and the cure; the dialogue with the relay shows no token
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

$server = new OAuthServer();
$sink = new Sink();
$queue = new TestQueue();
$shown = '';

/** The lines of a command about OAuth2, or all. */
function says(Dovecot $dovecot, string $auth, string $lines, string ...$words): void
{
    global $queue, $server, $shown;
    $run = command_line($queue, "smtp://alice%40example.org@127.0.0.1:$dovecot->port?auth=$auth&account=main", ...$words);
    $shown .= $run['output'] . $run['errors'];
    $all = explode("\n", preg_replace(["~$server->accounts~", '~\d{5}~', '~for \d+ min~',
        '~SIZE=\d+~', '~in \d+ min~', '~\d{4}-\d\d-\d\d [\d:]+Z~'], ['DIR', 'PORT', 'for N min', 'SIZE=N', 'in N min', 'TIME'],
        $run['output'] . $run['errors']));
    echo "exit $run[code]\n", implode("\n", preg_grep($lines, $all)), "\n";
}

$dovecot = new Dovecot([], $sink->port, $server->introspection(), 'xoauth2 oauthbearer');
$account = '/(?<!--)account|Until|token/';
echo "-- missing\n";
says($dovecot, 'oauth2', $account, 'doctor');
$queue->add('t0', ['a@example.org']);
says($dovecot, 'oauth2', $account, 'work');
echo $queue->state('t0'), str_contains((string) @file_get_contents("$queue->path.log"), '"claimed"') ? ', claimed' : ', not claimed', "\n";
$queue->queue->delete([$queue->ids['t0']]);
$server->account('main', 3600);
chmod($server->path('main'), 0640);
echo "-- readable\n";
says($dovecot, 'oauth2', $account, 'doctor');
says($dovecot, 'oauth2', $account, 'work');
chmod($server->path('main'), 0600);
echo "-- good\n";
says($dovecot, 'oauth2', $account, 'doctor');
foreach (['xoauth2', 'oauthbearer'] as $auth) {
    says($dovecot, $auth, '/access token|logged|look/', 'doctor', '--relay');
    says($dovecot, $auth, '/^[<>] (AUTH|235|334|\S*\*\*\*|MAIL|250 2.0.0)|took/', 'send', '--test', 'a@example.org',
        '--from', 'alice@example.org');
}
echo "-- the login ends\n";
$good = $server->read('main');
$server->write('main', ['login_ends_at' => time() + 7100, 'login_look_at' => time() - 1] + $good);
foreach (['doctor', 'status', 'accounts'] as $command) {
    says($dovecot, 'oauth2', '/login/', $command);
}
$server->write('main', ['login_ends_at' => time() + 7100, 'login_look_at' => time() + 60] + $good);
says($dovecot, 'oauth2', '/login/', 'status');
$server->write('main', $good);
echo "-- the access token was revoked\n";
$server->do('revoke');
says($dovecot, 'xoauth2', '/access token|logged|look/', 'doctor', '--relay');
$server->do('revoke');
says($dovecot, 'xoauth2', '/^[<>] (AUTH|235|334|\S*\*\*\*|535)|took/', 'send', '--test', 'a@example.org', '--from',
    'alice@example.org');
echo "-- ended\n";
$server->write('main', ['expires_at' => time() - 7200] + $server->read('main'));
says($dovecot, 'oauth2', $account, 'doctor');
echo "-- the login has ended\n";
$good = $server->read('main');
$server->write('main', ['refresh_token' => 'gone'] + $good);
says($dovecot, 'oauth2', '/./', 'doctor', '--relay');
says($dovecot, 'oauth2', '/cannot be used/', 'send', '--test', 'a@example.org', '--from', 'alice@example.org');
$queue->add('t1', ['a@example.org']);
says($dovecot, 'oauth2', '/relay|account/', 'work');
echo $queue->state('t1'), "\n";
says($dovecot, 'oauth2', '/account/', 'doctor');
echo "-- somebody else's token\n";
$server->account('main', 3600, ['user' => 'bob@example.org']);
says($dovecot, 'oauth2', '/look|SMTP/', 'doctor', '--relay');

$log = (string) @file_get_contents("$queue->path.log");
foreach ([...array_values(array_intersect_key($good, ['access_token' => 1, 'refresh_token' => 1])),
    base64_encode("user=alice@example.org\1auth=Bearer")] as $secret) {
    var_dump(str_contains($shown . $log, substr($secret, 0, 36)));
}
?>
--EXPECT--
-- missing
exit 1
look  the transport cannot be used: account main: DIR/main.json: No such file or directory; mailqueue accounts lists those that there are, mailqueue login makes one
      Until then no mail goes. mailqueue accounts lists the accounts.
exit 78
mailqueue: the transport cannot be used: account main: DIR/main.json: No such file or directory; mailqueue accounts lists those that there are, mailqueue login makes one
pending 0, not claimed
-- readable
exit 1
look  the transport cannot be used: account main: other users can read or write DIR/main.json (mode 0640); its tokens may be known to them: chmod it to 0600, and log in again
      Until then no mail goes. mailqueue accounts lists the accounts.
exit 78
mailqueue: the transport cannot be used: account main: other users can read or write DIR/main.json (mode 0640); its tokens may be known to them: chmod it to 0600, and log in again
-- good
exit 1
ok    account main is there and private; its access token is valid for N min
exit 0
ok    relay: account main has an access token
ok    relay: logged in as alice@example.org
exit 0
> AUTH XOAUTH2
< 334 
> ***
< 235 2.7.0 Logged in.
> MAIL FROM:<alice@example.org> SIZE=N
< 250 2.0.0 Ok: 1 on connection 2
The relay took the mail: 250 2.0.0 Ok: 1 on connection 2. If it does not arrive, look into the spam folder and into the log of the relay.
exit 0
ok    relay: account main has an access token
ok    relay: logged in as alice@example.org
exit 0
> AUTH OAUTHBEARER
< 334 
> ***
< 235 2.7.0 Logged in.
> MAIL FROM:<alice@example.org> SIZE=N
< 250 2.0.0 Ok: 2 on connection 4
The relay took the mail: 250 2.0.0 Ok: 2 on connection 4. If it does not arrive, look into the spam folder and into the log of the relay.
-- the login ends
exit 1
look  the login of account main ends in N min
        mailqueue login generic --account main
exit 0
The login of account main ends in N min: log in again: mailqueue login generic --account main
exit 0
      the login of account main ends in N min: log in again: mailqueue login generic --account main
exit 0

-- the access token was revoked
exit 0
ok    relay: account main has an access token
ok    relay: logged in as alice@example.org
exit 0
> AUTH XOAUTH2
< 334 
> ***
< 334 ***
> AUTH XOAUTH2
< 334 
> ***
< 235 2.7.0 Logged in.
The relay took the mail: 250 2.0.0 Ok: 3 on connection 6. If it does not arrive, look into the spam folder and into the log of the relay.
-- ended
exit 1
ok    account main is there and private; its access token ended 2 h 0 min ago; mailqueue doctor --relay tries to get another
-- the login has ended
exit 1
look  relay: no access token: account main: log in again: mailqueue login generic --account main (the refresh token has ended, was revoked or belongs to another client: invalid_grant: grant request is invalid)
      Until the account has a token, mail waits; no attempt is counted. If the server cannot be reached, look at its address in the account, and at this host's network.
exit 69
The relay cannot be used: account main: log in again: mailqueue login generic --account main (the refresh token has ended, was revoked or belongs to another client: invalid_grant: grant request is invalid). mailqueue doctor --relay names the cure.
exit 69
mailqueue: 0 sent; the relay cannot be used until TIME: account main: log in again: mailqueue login generic --account main (the refresh token has ended, was revoked or belongs to another client: invalid_grant: grant request is invalid).
pending 0
exit 1
ok    account main is there and private; its access token ended 2 h 0 min ago; mailqueue doctor --relay tries to get another
look  The relay smtp://alice%40example.org@127.0.0.1:PORT is paused until TIME: account main: log in again: mailqueue login generic --account main (the refresh token has ended, was revoked or belongs to another client: invalid_grant: grant request is invalid)
-- somebody else's token
exit 1
look  relay: the relay refuses a new token of account main: may it send as this user? If so, log in again: mailqueue login generic --account main; it said: 535 5.7.8 Authentication failed.
      The account must be the user's, with the scope for SMTP (mailqueue accounts). At Microsoft, SMTP AUTH must be on for the mailbox.
bool(false)
bool(false)
bool(false)
