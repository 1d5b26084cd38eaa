--TEST--
source_ip and family: which of the relay's addresses is connected to, from where, and what cannot be
--EXTENSIONS--
mailqueue
posix
pdo_sqlite
--SKIPIF--
<?php
@stream_socket_server('tcp://[::1]:0') || die('skip no IPv6 on loopback');
?>
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';

/** Connects to a name that has both addresses; says which one got the connection, and from where. */
function connect(string $dsn): void
{
    $four = stream_socket_server('tcp://127.0.0.1:0');
    $port = (int) substr(strrchr(stream_socket_get_name($four, false), ':'), 1);
    $six = stream_socket_server("tcp://[::1]:$port");
    $dsn = sprintf($dsn, $port) . (str_contains($dsn, '?') ? '&' : '?') . 'connect_timeout=' . (str_contains($dsn, '.invalid') ? 30 : 1);
    $peers = [];
    $refused = thrown(function () use ($dsn, &$said): void {
        $said = MailQueue\Internal::probe($dsn);
    });
    foreach ([4 => $four, 6 => $six] as $family => $socket) {
        @stream_socket_accept($socket, 0, $peer) && $peers[] = "IPv$family from " . preg_replace('/:\d+$/', '', $peer);
    }
    preg_match('/E\d+:(.*)\z/s', (string) $said, $why);
    echo preg_replace('/%d|&?connect_timeout.*/', '', $dsn = str_replace(":$port", '', $dsn)), ': ',
        $refused !== 'nothing' ? $refused : ($peers === [] ? $why[1] : implode(', ', $peers)), "\n";
}

foreach (['localhost:%d?family=4', 'localhost:%d?family=6', 'localhost:%d?source_ip=127.0.0.9', 'localhost:%d?source_ip=::1',
    '127.0.0.1:%d?source_ip=127.0.0.1&family=4', '[::1]:%d?family=6&source_ip=::1',
    'localhost:%d?source_ip=192.0.2.7', 'localhost:%d?source_ip=2001:db8::7', 'no-such-name.invalid:%d?family=6', 'no-such-name.invalid:%d?source_ip=127.0.0.1',
    '127.0.0.1:%d?source_ip=::1', '[::1]:%d?family=4', 'localhost:%d?source_ip=::1&family=4', 'localhost:%d?family=ipv4'] as $dsn) {
    connect("smtp://$dsn");
}

echo "-- a worker's run\n";
$queue = new MailQueue(database());
$queue->enqueue(mail_fields());
$report = $queue->runWorker('smtp://localhost:9?source_ip=192.0.2.7', log: '');
echo "$report->end: $report->reason\n", json_encode([$queue->jobs()[0]->attempts, $report->tryLater]), "\n";
?>
--EXPECT--
smtp://localhost?family=4: IPv4 from 127.0.0.1
smtp://localhost?family=6: IPv6 from [::1]
smtp://localhost?source_ip=127.0.0.9: IPv4 from 127.0.0.9
smtp://localhost?source_ip=::1: IPv6 from [::1]
smtp://127.0.0.1?source_ip=127.0.0.1&family=4: IPv4 from 127.0.0.1
smtp://[::1]?family=6&source_ip=::1: IPv6 from [::1]
smtp://localhost?source_ip=192.0.2.7: option source_ip: this host cannot send from 192.0.2.7 (bind failed with errno 99: Cannot assign requested address); give one of its addresses
smtp://localhost?source_ip=2001:db8::7: option source_ip: this host cannot send from 2001:db8::7 (bind failed with errno 99: Cannot assign requested address); give one of its addresses
smtp://no-such-name.invalid?family=6: Could not resolve host: no-such-name.invalid; only an IPv6 address was looked for, because of the option family
smtp://no-such-name.invalid?source_ip=127.0.0.1: Could not resolve host: no-such-name.invalid; only an IPv4 address was looked for, because of the option source_ip
smtp://127.0.0.1?source_ip=::1: MailQueue\Exception: transport: source_ip is IPv6, but the host is IPv4; change one of them
smtp://[::1]?family=4: MailQueue\Exception: transport: family is IPv4, but the host is IPv6; change one of them
smtp://localhost?source_ip=::1&family=4: MailQueue\Exception: transport: source_ip is IPv6, but family is IPv4; change one of them
smtp://localhost?family=ipv4: MailQueue\Exception: transport: option family must be 4, 6 or auto
-- a worker's run
relay: option source_ip: this host cannot send from 192.0.2.7 (bind failed with errno 99: Cannot assign requested address); give one of its addresses
[0,0]
