--TEST--
LMTP to Dovecot, over a Unix socket and TCP: one recipient over quota, the other served; mails in one pipeline
--EXTENSIONS--
posix
pdo_sqlite
--SKIPIF--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/servers.inc';
require dirname(__DIR__) . '/lib/dovecot.inc';
echo DovecotLmtp::missing();
?>
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';
require dirname(__DIR__) . '/lib/dovecot.inc';

$server = new DovecotLmtp(['ann' => '', 'bob' => '', 'full' => '*:bytes=1']);
foreach (["lmtp://$server->socket", "smtp+lmtp://127.0.0.1:$server->port"] as $i => $dsn) {
    echo $i === 0 ? "-- Unix socket\n" : "-- TCP\n";
    $queue = new TestQueue();
    $run = command_line($queue, $dsn, 'doctor', '--relay');
    echo str_replace([(string) $server->port, $server->socket, 'CHUNKING, '], ['PORT', 'SOCKET', ''], $run['output'] . $run['errors']);
    $queue->add("quota-$i", ['ann@example.net', 'full@example.net', 'bob@example.net', 'nobody@example.net']);
    $report = $queue->work($dsn);
    echo "$report->end, $report->recipients recipients, $report->tryLater later, $report->refused refused, $report->uncertain uncertain\n",
        $queue->state("quota-$i"), "\n";
    $queue->add("two-$i", ['full@example.net', 'ann@example.net']);
    $queue->work($dsn);
    echo $queue->state("two-$i"), ': ', substr($queue->queue->job($queue->ids["two-$i"])->lastError, 0, 27), "\n";
    foreach (['ann', 'bob', 'full'] as $user) {
        $found = preg_grep("/^X-Test-Id: (quota|two)-$i\$/m", $server->mails($user));
        echo "$user: ", count($found), "\n";
    }

    echo "-- 200 mails to two recipients each, one of them with a dot alone in a line\n";
    $queue = new TestQueue();
    for ($n = 0; $n < 200; $n++) {
        $queue->add("m$i-$n", ['ann@example.net', 'bob@example.net'], message("m$i-$n", "line\n.\n..two\n" . str_repeat("x\n", $n % 7)));
    }
    $report = $queue->work("$dsn?pipelining=dot&max_mails=1000", connections: 2);
    echo "$report->end, $report->sent sent, $report->recipients recipients\n";
    foreach (['ann', 'bob'] as $user) {
        $bodies = $ids = [];
        foreach ($server->mails($user) as $mail) {
            if (preg_match("/^X-Test-Id: (m$i-(\d+))\$/m", $mail, $match)) {
                $ids[$match[1]] = true;
                $bodies[] = str_ends_with(str_replace("\r", '', $mail), "line\n.\n..two\n" . str_repeat("x\n", $match[2] % 7));
            }
        }
        echo "$user: ", count($bodies), ' mails, ', count($ids), ' different, ', count(array_filter($bodies)), " unchanged\n";
    }
}
?>
--EXPECT--
-- Unix socket
ok    relay: lmtp://SOCKET: connected
ok    relay: LHLO: it offers 8BITMIME, ENHANCEDSTATUSCODES, PIPELINING
ok    relay: not encrypted: it is on this host
empty, 2 recipients, 1 later, 1 refused, 0 uncertain
failed 1 refused nobody@example.net left full@example.net
failed 1 left full@example.net: full@example.net: 552 5.2.2
ann: 2
bob: 1
full: 0
-- 200 mails to two recipients each, one of them with a dot alone in a line
empty, 200 sent, 400 recipients
ann: 200 mails, 200 different, 200 unchanged
bob: 200 mails, 200 different, 200 unchanged
-- TCP
ok    relay: smtp+lmtp://127.0.0.1:PORT: connected (127.0.0.1) port PORT
ok    relay: LHLO: it offers 8BITMIME, ENHANCEDSTATUSCODES, PIPELINING
ok    relay: not encrypted: it is on this host
empty, 2 recipients, 1 later, 1 refused, 0 uncertain
failed 1 refused nobody@example.net left full@example.net
failed 1 left full@example.net: full@example.net: 552 5.2.2
ann: 2
bob: 1
full: 0
-- 200 mails to two recipients each, one of them with a dot alone in a line
empty, 200 sent, 400 recipients
ann: 200 mails, 200 different, 200 unchanged
bob: 200 mails, 200 different, 200 unchanged
