--TEST--
LMTP: a reply for each recipient after the dot; the connection or the worker ends after two of three
--EXTENSIONS--
mailqueue
posix
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
require __DIR__ . '/../lib/delivery.inc';
use MailQueueTest\TestQueue;

/** One client's session with a scripted LMTP server on a Unix socket. */
final class Lmtp
{
    public readonly string $path;
    private mixed $server;
    private mixed $client = null;
    /** @var list<string> */
    public array $heard = [];

    public function __construct()
    {
        $this->path = temp_directory() . '/lmtp';
        $this->server = stream_socket_server("unix://$this->path");
    }

    public function accept(): void
    {
        $this->client = stream_socket_accept($this->server, 60);
        $this->say('220 test LMTP');
    }

    public function say(string ...$lines): void
    {
        fwrite($this->client, implode("\r\n", $lines) . "\r\n");
    }

    public function line(): string
    {
        return rtrim((string) fgets($this->client), "\r\n");
    }

    /** Greets, and answers one envelope and its message up to the dot. */
    public function takes(string ...$rcpt): void
    {
        while (($line = $this->line()) !== 'DATA') {
            $this->heard[] = $line;
            match (strtok($line, ' ')) {
                'LHLO', 'EHLO' => $this->say('250-test', '250-PIPELINING', '250-8BITMIME', '250 ENHANCEDSTATUSCODES'),
                'RCPT' => $this->say(array_shift($rcpt) ?? '250 2.1.5 ok'),
                default => $this->say('250 2.0.0 ok'),
            };
        }
        $this->say('354 go on');
        while ($this->line() !== '.');
    }

    public function close(): void
    {
        fclose($this->client);
    }
}

$run = static function (string $test, array $to, callable $play, string $scheme = 'lmtp'): void {
    $lmtp = new Lmtp();
    $queue = new TestQueue();
    $queue->add($test, $to);
    $worker = new Other('[, $path, $dsn] = $argv; $queue = new MailQueue($path); $report = $queue->runWorker($dsn, log: "", connections: 1);
        echo "$report->end sent $report->sent later $report->tryLater refused $report->refused uncertain $report->uncertain released $report->released $report->reason\n";',
        $queue->path, "$scheme://$lmtp->path");
    $lmtp->accept();
    $play($lmtp, $worker);
    [$said] = $worker->end();
    $said = preg_replace('/^(Killed|Terminated).*\n/m', '', $said);
    if ($said === '') { // killed: the next run knows what its record says
        $queue->work('null://null', onUncertain: MailQueue\OnUncertain::Hold);
    }
    $job = $queue->queue->job($queue->ids[$test]);
    echo "$test: $said  ", $queue->state($test), $job?->uncertainTo ? ' may have: ' . implode(',', $job->uncertainTo) : '', "\n";
    foreach ($job?->refused ?? [] as $address => $reply) {
        echo "  $address: $reply\n";
    }
    echo $job?->lastError ? "  $job->lastError\n" : '';
};
$to = ['ann@example.net', 'bob@example.net', 'cid@example.net'];
$run('all taken', $to, function (Lmtp $lmtp): void {
    $lmtp->takes();
    $lmtp->say('250 2.1.5 <ann> saved', '250 2.1.5 <bob> saved', '250 2.1.5 <cid> saved');
    echo implode(' | ', array_map(fn(string $line): string => preg_replace('/^LHLO .*/', 'LHLO …', $line), $lmtp->heard)), "\n";
    echo $lmtp->line(), "\n";
});
$run('each its own', $to, function (Lmtp $lmtp): void {
    $lmtp->takes();
    $lmtp->say('250 2.1.5 saved');
    usleep(50_000);
    $lmtp->say('552 5.2.2 <bob@example.net> mailbox is full', '550 5.1.1 <cid@example.net> no such user');
});
$run('one of RCPT refused', $to, function (Lmtp $lmtp): void {
    $lmtp->takes('250 ok', '550 5.1.1 no such user', '250 ok');
    $lmtp->say('452 4.2.2 full', '250 2.0.0 saved');
});
$run('the connection breaks', $to, function (Lmtp $lmtp): void {
    $lmtp->takes();
    $lmtp->say('250 2.1.5 saved', '550 5.1.1 no such user');
    usleep(50_000);
    $lmtp->close();
});
$run('it shuts down', $to, function (Lmtp $lmtp): void {
    $lmtp->takes();
    $lmtp->say('250 2.1.5 saved', '421 4.3.2 shutting down');
    $lmtp->close();
});
$run('its disk is full', $to, function (Lmtp $lmtp): void {
    $lmtp->takes();
    $lmtp->say('250 2.1.5 saved', '452 4.3.1 disk full', '452 4.3.1 disk full');
    $lmtp->close();
});
$run('the worker is killed', $to, function (Lmtp $lmtp, Other $worker): void {
    $lmtp->takes();
    $lmtp->say('250 2.1.5 saved', '550 5.1.1 no such user');
    sleep(2);
    posix_kill($worker->pid(), SIGKILL);
});
$run('one recipient', ['ann@example.net'], function (Lmtp $lmtp): void {
    $lmtp->takes();
    $lmtp->say('452 4.2.2 full');
});
$run('SMTP over a socket', $to, function (Lmtp $lmtp): void {
    $lmtp->takes();
    $lmtp->say('250 2.0.0 all of it');
    echo preg_replace('/ .*/', '', $lmtp->heard[0]), "\n";
}, 'smtp');
echo "-- servers that speak no LMTP\n";
foreach (['502 5.5.2 Error: command not recognized', '354 what', '220 again'] as $answer) {
    $run($answer, $to, function (Lmtp $lmtp) use ($answer): void {
        for ($i = 0; $i < 3; $i++) {
            $i === 0 || $lmtp->accept();
            $lmtp->line();
            $lmtp->say($answer);
            $lmtp->close();
        }
    });
}
$queue = new TestQueue();
$queue->add('x', ['ann@example.net']);
echo $queue->work('lmtp:///tmp/no-such/socket')->reason, "\n";
foreach (['lmtp://mail.example.org', 'lmtp://user:secret@localhost', 'lmtp://localhost?tls=required', 'lmtp://localhost?cafile=/x',
    'lmtp:///run/' . str_repeat('x', 110), 'smtps:///run/x', 'lmtp://host/run/x', 'smtp+lmtp:///run/dovecot/lmtp', 'lmtp://mail.example.org?tls=none', 'smtp:///run/relay'] as $dsn) {
    echo thrown(fn() => print(MailQueue::checkTransport($dsn) . ' ')), "\n";
}
?>
--EXPECT--
LHLO … | MAIL FROM:<sender@example.com> | RCPT TO:<ann@example.net> | RCPT TO:<bob@example.net> | RCPT TO:<cid@example.net>
QUIT
all taken: empty sent 1 later 0 refused 0 uncertain 0 released 0 
  gone
each its own: empty sent 1 later 1 refused 1 uncertain 0 released 0 
  failed 1 refused cid@example.net left bob@example.net
  cid@example.net: 550 5.1.1 <cid@example.net> no such user
  cid@example.net: 550 5.1.1 <cid@example.net> no such user
one of RCPT refused: empty sent 1 later 1 refused 1 uncertain 0 released 0 
  failed 1 refused bob@example.net left ann@example.net
  bob@example.net: 550 5.1.1 no such user
  bob@example.net: 550 5.1.1 no such user
the connection breaks: empty sent 1 later 0 refused 1 uncertain 1 released 0 
  failed 1 uncertain 1 refused bob@example.net left cid@example.net may have: cid@example.net
  bob@example.net: 550 5.1.1 no such user
  bob@example.net: 550 5.1.1 no such user
it shuts down: empty sent 1 later 0 refused 0 uncertain 1 released 0 
  failed 1 uncertain 1 left bob@example.net,cid@example.net may have: cid@example.net
  421 4.3.2 shutting down
its disk is full: relay sent 1 later 0 refused 0 uncertain 0 released 0 452 4.3.1 disk full
  pending 0 left bob@example.net,cid@example.net
  250 2.1.5 saved
the worker is killed:   parked 1 uncertain 1 for uncertain refused bob@example.net left cid@example.net may have: cid@example.net
  bob@example.net: the worker died while the message was being sent: it may have arrived
  the worker died while the message was being sent: it may have arrived
one recipient: empty sent 0 later 1 refused 0 uncertain 0 released 0 
  failed 1
  452 4.2.2 full
EHLO
SMTP over a socket: empty sent 1 later 0 refused 0 uncertain 0 released 0 
  gone
-- servers that speak no LMTP
502 5.5.2 Error: command not recognized: relay sent 0 later 0 refused 0 uncertain 0 released 1 502 5.5.2 Error: command not recognized
  pending 0
354 what: relay sent 0 later 0 refused 0 uncertain 0 released 1 the relay does not greet as LMTP does
  pending 0
220 again: relay sent 0 later 0 refused 0 uncertain 0 released 1 the relay does not greet as LMTP does
  pending 0
the socket /tmp/no-such/socket: No such file or directory; start its server, or correct the transport
ValueError: MailQueue::checkTransport(): Argument #1 ($transport) cannot be used: transport: lmtp:// has no TLS; give a socket (lmtp:///run/dovecot/lmtp), a server of this host, or tls=none for a network that you trust
ValueError: MailQueue::checkTransport(): Argument #1 ($transport) cannot be used: transport: lmtp:// has no login; remove user and password
ValueError: MailQueue::checkTransport(): Argument #1 ($transport) cannot be used: transport: lmtp:// has no TLS; remove tls=required, or take smtp://
ValueError: MailQueue::checkTransport(): Argument #1 ($transport) cannot be used: transport: unknown option "cafile"; lmtp:// has tls, ehlo, source_ip, family, pipelining, connect_timeout, command_timeout, data_timeout, block_timeout, final_timeout, idle_timeout, max_mails, connections
ValueError: MailQueue::checkTransport(): Argument #1 ($transport) cannot be used: transport: the path of the socket has more than 107 octets; give a shorter one, such as that of a symbolic link
ValueError: MailQueue::checkTransport(): Argument #1 ($transport) cannot be used: transport: what follows :// must be host, host:port or user:password@host:port, without path or fragment; the port is 1 to 65535, IPv6 is [2001:db8::1], non-ASCII hosts are A-labels (xn--...); in user and password write : / @ ? # % as %3A %2F %40 %3F %23 %25
ValueError: MailQueue::checkTransport(): Argument #1 ($transport) cannot be used: transport: what follows :// must be host, host:port or user:password@host:port, without path or fragment; the port is 1 to 65535, IPv6 is [2001:db8::1], non-ASCII hosts are A-labels (xn--...); in user and password write : / @ ? # % as %3A %2F %40 %3F %23 %25
lmtp:///run/dovecot/lmtp nothing
lmtp://mail.example.org nothing
smtp:///run/relay nothing
