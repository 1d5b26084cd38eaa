<?php

// The mails of a campaign, 4 KB of text and HTML for each recipient: how many the command `work`
// sends in a second to Postfix's smtp-sink with 50 sessions, and with 500 to a sink that answers
// after 100 ms; unsigned, signed with ed25519, and signed with RSA-2048 beside what OpenSSL signs.
// --minutes=N sets how long (default 1; --quick: a quarter). And how long other mail waits.

declare(strict_types=1);

namespace Bench;

use MailQueue;

const CAMPAIGN_RATE = 4630; // mails a second: 400 million a day

/** Postfix's smtp-sink. */
final class PostfixSink
{
    public readonly int $port;
    public readonly int $pid;
    private readonly string $counts;
    private $process;

    public function __construct()
    {
        $listener = stream_socket_server('tcp://127.0.0.1:0');
        $this->port = (int) substr(strrchr(stream_socket_get_name($listener, false), ':'), 1);
        fclose($listener);
        $this->counts = directory() . '/smtp-sink';
        $user = posix_getuid() === 0 ? ['-u', 'nobody'] : []; // as root it requires another user
        $command = ['smtp-sink', ...$user, '-c', '-m', '1000', "127.0.0.1:$this->port", '1000'];
        $this->process = proc_open($command, [1 => ['file', $this->counts, 'w'],
            2 => ['file', '/dev/null', 'w']], $pipes);
        $this->pid = proc_get_status($this->process)['pid'];
        for ($i = 0; $i < 100 && !@fsockopen('127.0.0.1', $this->port); $i++) {
            usleep(50_000);
        }
    }

    /** Mails that it took so far, as it says itself. */
    public function count(): int
    {
        clearstatcache();
        $from = max(0, (int) filesize($this->counts) - 200);
        preg_match_all('/mesg=(\d+)/', (string) file_get_contents($this->counts, offset: $from), $all);
        return (int) end($all[1]);
    }

    public function stop(): void
    {
        proc_terminate($this->process);
        proc_close($this->process);
    }
}

/** The tree's own sink, which answers the final dot after 100 ms. */
final class SlowSink
{
    public readonly int $port;
    public readonly int $pid;
    public readonly string $log;
    private readonly Sink $sink;

    public function __construct(string ...$options)
    {
        $this->log = directory() . '/accepted-' . bin2hex(random_bytes(4));
        $this->sink = new Sink('--delay-dot-ms', '100', '--stats-file', "$this->log.stats",
            ...array_map(fn (string $o): string => $o === 'LOG' ? $this->log : $o, $options));
        $this->port = $this->sink->port;
        $this->pid = $this->sink->pid();
    }

    public function count(): int
    {
        $this->sink->signal(SIGUSR1);
        preg_match('/mails=(\d+)/', (string) @file_get_contents("$this->log.stats"), $match);
        return (int) ($match[1] ?? 0);
    }

    public function stop(): void
    {
        $this->sink->stop();
    }
}

/** A private key for DKIM. @return string what --dkim takes */
function campaign_key(string $algorithm): string
{
    $path = directory() . "/$algorithm.pem";
    $options = $algorithm === 'RSA' ? ['-pkeyopt', 'rsa_keygen_bits:2048'] : [];
    $process = proc_open(['openssl', 'genpkey', '-algorithm', $algorithm, ...$options, '-out',
        $path], [2 => ['file', '/dev/null', 'w']], $pipes);
    proc_close($process) === 0 || throw new \RuntimeException('openssl failed');
    chmod($path, 0600);
    return "example.org:mail:$path";
}

/** A file with a campaign that runs. */
function campaign_running(int $count): string
{
    return run(static function () use ($count): string {
        $campaign = campaign_of(new MailQueue($path = campaign_file()));
        $campaign->add(campaign_recipients($count));
        $campaign->start();
        return $path;
    });
}

/** Starts `mailqueue work`. @param list<string> $options @return array{resource, resource, int} */
function campaign_worker(string $path, int $port, ?string $dkim, array $options): array
{
    $command = [PHP_BINARY, '-d', 'extension=' . own_library(),
        dirname(__DIR__) . '/bin/mailqueue', 'work', '--json', '--log', '', ...$options];
    $environment = ['PATH' => getenv('PATH'), 'MAILQUEUE_DATABASE' => $path,
        'XDG_STATE_HOME' => directory() . '/state',
        'MAILQUEUE_TRANSPORT' => "smtp://127.0.0.1:$port?max_mails=1000000"];
    if ($dkim !== null) {
        $environment['MAILQUEUE_DKIM'] = $dkim;
    }
    $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], STDERR], $pipes,
        directory(), $environment);
    return [$process, $pipes[1], proc_get_status($process)['pid']];
}

/**
 * Waits for the end of workers, and looks at them once a second.
 *
 * @param list<array{resource, resource, int}> $workers
 * @return array{sent: int, seconds: float, cpu: float, sink: float, rss: float, slowest: float}
 *     CPU seconds, of the sink too; MiB of the largest; mails a second in the slowest 10 seconds
 */
function campaign_watch(array $workers, PostfixSink|SlowSink $sink): array
{
    $counts = [[$begun = hrtime(true), $sink->count()]];
    $rss = [];
    $cpu = getrusage(1);
    $sinks = cpu_of_process($sink->pid);
    $runs = static fn (array $worker): bool => proc_get_status($worker[0])['running'];
    while (array_filter($workers, $runs)) {
        foreach ($workers as [, , $pid]) {
            $rss[$pid] = max($rss[$pid] ?? 0, memory_of('VmHWM', $pid));
        }
        usleep(1_000_000 - (int) ((hrtime(true) - $begun) / 1000) % 1_000_000);
        $counts[] = [hrtime(true), $sink->count()];
    }
    $got = ['sent' => 0, 'seconds' => 0.0];
    foreach ($workers as [$process, $output]) {
        $report = json_decode((string) stream_get_contents($output), true);
        is_array($report) || throw new \RuntimeException('work printed no report');
        proc_close($process);
        $got['sent'] += $report['sent'];
        $got['seconds'] = max($got['seconds'], $report['seconds']);
    }
    return $got + ['cpu' => campaign_cpu(getrusage(1)) - campaign_cpu($cpu),
        'sink' => cpu_of_process($sink->pid) - $sinks, 'rss' => max($rss) / 1024,
        'slowest' => campaign_slowest(array_slice($counts, 1, -1))];
}

function campaign_cpu(array $usage): float
{
    return $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']
        + ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) / 1e6;
}

/** @param list<array{int, int}> $counts time in ns, mails */
function campaign_slowest(array $counts): float
{
    $slowest = INF;
    for ($i = 10; $i < count($counts); $i++) {
        [[$from, $before], [$to, $then]] = [$counts[$i - 10], $counts[$i]];
        $slowest = min($slowest, ($then - $before) / (($to - $from) / 1e9));
    }
    return is_finite($slowest) ? $slowest : 0.0;
}

/** @param array{sent: int, seconds: float, cpu: float, sink: float, rss: float, slowest: float} $got */
function campaign_detail(array $got, int $count): array
{
    return array_filter([
        'mails, by the report' => $got['sent'],
        "mails, by the sink's own count" => $count,
        'seconds' => $got['seconds'],
        'mails a second in the slowest 10 seconds' => $got['slowest'],
        'µs of CPU of the worker a mail' => $got['cpu'] / $got['sent'] * 1e6,
        "CPU of the worker, % of a core" => 100 * $got['cpu'] / $got['seconds'],
        "CPU of the sink, % of a core" => 100 * $got['sink'] / $got['seconds'],
        'memory of the worker (RSS), MiB' => $got['rss'],
    ]);
}

function campaign_send(Results $results, string $name, ?string $dkim, bool $slow, int $seconds): void
{
    $path = campaign_running($seconds * 9000);
    $sink = $slow ? new SlowSink() : new PostfixSink();
    $before = $sink->count();
    $worker = campaign_worker($path, $sink->port, $dkim, ['--connections', $slow ? '500' : '50',
        '--time-limit', (string) $seconds]);
    $got = campaign_watch([$worker], $sink);
    $count = $sink->count() - $before;
    $sink->stop();
    remove($path);
    $count === $got['sent'] || throw new \RuntimeException("the sink counted $count mails");
    $results->ratio("$name, mails a second", $got['sent'] / $got['seconds'],
        atLeast: CAMPAIGN_RATE, detail: campaign_detail($got, $count));
}

/** Signatures a second of `openssl speed`. */
function openssl_speed(int $processes, int $seconds): float
{
    exec("openssl speed -seconds $seconds -multi $processes rsa2048 2>/dev/null", $lines);
    preg_match('~^rsa\s+2048 bits\s+\S+\s+\S+\s+([\d.]+)~m', implode("\n", $lines), $match);
    return (float) ($match[1] ?? throw new \RuntimeException('openssl speed said nothing'));
}

function campaign_rsa(Results $results, int $processes, bool $quick): void
{
    $dkim = campaign_key('RSA');
    $seconds = $quick ? 5 : 20;
    $seen = [];
    for ($i = 0; $i < ($quick ? 1 : 3); $i++) {
        $seen['openssl'][] = $speed = openssl_speed($processes, $quick ? 3 : 10);
        $path = campaign_running((int) ($speed * $seconds * 1.5));
        $sink = new PostfixSink();
        $workers = [];
        for ($k = 0; $k < $processes; $k++) {
            $workers[] = campaign_worker($path, $sink->port, $dkim, ['--connections', '50',
                '--time-limit', (string) $seconds, '--workers', (string) $processes]);
        }
        $got = campaign_watch($workers, $sink);
        $seen['ours'][] = $got['sent'] / $got['seconds'];
        $sink->stop();
        remove($path);
    }
    $seen = array_map(median(...), $seen);
    $name = "RSA-2048, $processes process" . ($processes > 1 ? 'es' : '');
    $results->ratio("$name: mails a second / signatures of openssl speed",
        $seen['ours'] / $seen['openssl'], atLeast: 0.8, detail: ['mails a second' => $seen['ours'],
            'openssl speed, signatures a second' => $seen['openssl']] + campaign_detail($got, 0));
}

function bench_campaign_send(Results $results, bool $quick): void
{
    $mail = run(static function (): int {
        $campaign = campaign_of(new MailQueue($path = campaign_file()));
        $campaign->add(campaign_recipients(1));
        $size = strlen($campaign->preview('person0@example.com'));
        remove($path);
        return $size;
    });
    $results->ratio('octets of a mail', $mail);
    $seconds = (int) (60 * (float) (option('minutes') ?? ($quick ? 0.25 : 1)));
    $ed25519 = campaign_key('ed25519');
    foreach (['unsigned' => null, 'signed with ed25519' => $ed25519] as $kind => $dkim) {
        $name = "smtp-sink, 50 sessions, $kind";
        campaign_send($results, $name, $dkim, false, $seconds);
        $name = "answered after 100 ms, 500 sessions, $kind";
        campaign_send($results, $name, $dkim, true, $seconds);
    }
}

function bench_campaign_rsa(Results $results, bool $quick): void
{
    campaign_rsa($results, 1, $quick);
    campaign_rsa($results, 2, $quick);
}

/** Seconds from enqueue() until the sink has accepted a mail, as its log says. */
function campaign_wait(MailQueue $queue, string $log): float
{
    static $number = 0;
    $to = 'reset' . ++$number . '@example.org';
    $stored = microtime(true);
    $queue->enqueue(message($number), envelopeFrom: 'shop@example.org', recipients: [$to]);
    for ($end = $stored + 130; microtime(true) < $end; usleep(50_000)) {
        $found = exec('grep -m1 -F ' . escapeshellarg($to) . ' ' . escapeshellarg($log));
        if ($found) {
            return (float) $found - $stored;
        }
    }
    throw new \RuntimeException("the mail to $to did not leave");
}

/** @return list<float> seconds of each */
function campaign_waits_amid(string $path, int $times, ?int $perHour): array
{
    $queue = new MailQueue($path);
    $queue->setConfig('mailMaxPerHour', $perHour ?? 0);
    $sink = new SlowSink('--log', 'LOG');
    $worker = campaign_worker($path, $sink->port, null, ['--daemon', '--connections', '50']);
    sleep(3);
    $waits = [];
    for ($i = 0; $i < $times; $i++) {
        $waits[] = campaign_wait($queue, $sink->log);
        usleep(random_int(300_000, 1_300_000));
    }
    proc_terminate($worker[0]);
    proc_close($worker[0]);
    $sink->stop();
    return $waits;
}

function bench_campaign_reset(Results $results, bool $quick): void
{
    $count = (int) (option('recipients') ?? ($quick ? 100_000 : 1_000_000));
    $path = campaign_running($count);
    $amid = 'a mail amid ' . number_format($count) . ' of a campaign';
    $waits = campaign_waits_amid($path, $quick ? 5 : 20, null);
    $results->ratio("$amid, without a limit, seconds", max($waits), atMost: 1, detail: [
        'median' => median($waits), 'mails' => count($waits)]);
    $waits = campaign_waits_amid($path, $quick ? 1 : 3, 60);
    $results->ratio("$amid, 60 an hour, seconds", max($waits), atMost: 61, detail: [
        'median' => median($waits), 'mails' => count($waits)]);
    remove($path);
}

function bench_campaign(Results $results, bool $quick): void
{
    bench_campaign_add($results, $quick);
    bench_campaign_send($results, $quick);
    bench_campaign_rsa($results, $quick);
    bench_campaign_reset($results, $quick);
}
