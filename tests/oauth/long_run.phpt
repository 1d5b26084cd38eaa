--TEST--
OAuth2: a token that ends, or is revoked, during a run of 5,000 mails: nothing is lost, no attempt counts, one refresh
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

const MAILS = 5000;
$server = new OAuthServer();
$sink = new Sink();
$dovecot = new Dovecot([], $sink->port, $server->introspection(), 'xoauth2 oauthbearer');
$dsn = "smtp://alice%40example.org@127.0.0.1:$dovecot->port?auth=oauth2&account=main&pipelining=1&max_mails=25";

foreach (['ends', 'is revoked'] as $what) {
    $queue = new TestQueue();
    for ($i = 1; $i <= MAILS; $i++) {
        $queue->add("$what $i", ["a$i@example.org"]);
    }
    time_sleep_until(ceil(microtime(true)) + 0.001); // the token's times are whole seconds
    $server->account('main', $what === 'ends' ? 2 : 3600);
    $old = $server->read('main')['access_token'];
    $before = $server->counts()['refresh_token 200'] ?? 0;
    $sent = $revokedAt = 0;
    $others = [];
    $started = microtime(true);
    $report = $queue->queue->runWorker($dsn, connections: 10, log: '', onEvent:
        function (array $event) use (&$sent, &$others, &$revokedAt, $what, $server, $old): void {
            $event['event'] === 'sent' ? $sent++ : $others[$event['event']] = true;
            if ($what === 'is revoked' && $sent >= 2000 && !$revokedAt) {
                $revokedAt = $sent;
                $server->do('revoke', ['token' => $old]);
            }
        });
    $now = $server->read('main');
    echo "a token that $what: $report->end, $sent sent, events: ", implode(' ', array_keys($others)), ', ',
        count($queue->queue->jobs()), ' left; ',
        $server->counts()['refresh_token 200'] - $before, " refresh\n";
    var_dump($now['access_token'] !== $old);
    if ($what === 'ends') {
        $refreshed = $now['expires_at'] - 3600;
        var_dump($refreshed > (int) $started && $refreshed < (int) microtime(true)); // in the middle
    }
}
$counts = $sink->counts();
echo count($counts), ' pairs, ', array_sum($counts) - count($counts), " copies\n";
var_dump($sink->violations() === []);
?>
--EXPECT--
a token that ends: empty, 5000 sent, events: claimed run, 0 left; 1 refresh
bool(true)
bool(true)
a token that is revoked: empty, 5000 sent, events: claimed run, 0 left; 1 refresh
bool(true)
10000 pairs, 0 copies
bool(true)
