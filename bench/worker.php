<?php

// The worker from SQLite to SMTP, against Postfix's smtp-source with the same sessions on the same
// sink, and with a sink that answers the final dot after 100 ms.

declare(strict_types=1);

namespace Bench;

use MailQueue;

function filled(string $journal, int $count): string
{
    $path = fresh();
    $queue = new MailQueue($path, journal: $journal);
    $queue->enqueueMany((static function () use ($count): iterable {
        for ($i = 0; $i < $count; $i++) {
            yield [
                'message' => message($i),
                'envelopeFrom' => 'shop@example.org',
                'recipients' => ["person$i@example.com"],
            ];
        }
    })());
    return $path;
}

/** @return array{rate: float, rss: float} mails a second, peak MiB */
function worker_run(string $journal, int $count, int $sessions, string $relay): array
{
    $path = filled($journal, $count);
    $got = run(static function () use ($path, $sessions, $relay, $count): array {
        $queue = new MailQueue($path);
        $begun = hrtime(true);
        $report = $queue->runWorker($relay, connections: $sessions, batch: 100);
        $seconds = (hrtime(true) - $begun) / 1e9;
        if ($report->sent !== $count) {
            $why = "$report->end $report->reason";
            throw new \RuntimeException("only $report->sent of $count were sent: $why");
        }
        preg_match('/VmHWM:\s+(\d+)/', file_get_contents('/proc/self/status'), $match);
        return ['rate' => $count / $seconds, 'rss' => $match[1] / 1024];
    });
    remove($path);
    return $got;
}

function smtp_source(int $count, int $sessions, int $port): float
{
    $command = ['smtp-source', '-d', '-s', (string) $sessions, '-m', (string) $count, '-l', '2048',
        '-f', 'shop@example.org', '-t', 'person@example.com', "127.0.0.1:$port"];
    $begun = hrtime(true);
    $process = proc_open($command, [2 => ['file', '/dev/null', 'w']], $pipes);
    if (proc_close($process) !== 0) {
        throw new \RuntimeException('smtp-source failed');
    }
    return $count / ((hrtime(true) - $begun) / 1e9);
}

function bench_worker(Results $results, bool $quick): void
{
    $sink = new Sink();
    $count = $quick ? 10_000 : 40_000;
    $seen = [];
    for ($i = 0; $i < ($quick ? 3 : 5); $i++) {
        $seen['smtp-source -d'][] = smtp_source($count, 50, $sink->port);
        $seen['worker, wal'][] = worker_run('wal', $count, 50, $sink->relay())['rate'];
        $seen['worker, truncate'][] = worker_run('truncate', $count, 50, $sink->relay())['rate'];
    }
    $sink->stop();
    $got = array_map(median(...), $seen);
    $wal = $got['worker, wal'] / $got['smtp-source -d'];
    $truncate = $got['worker, truncate'] / $got['smtp-source -d'];
    $name = 'worker, durable, 2 KB, 50 sessions';
    $results->ratio("$name, wal / smtp-source -d", $wal, atLeast: 0.6, detail: $got);
    $results->ratio("$name, truncate / smtp-source -d", $truncate);

    $slow = new Sink('--delay-dot-ms', '100');
    foreach ([100, 500] as $sessions) {
        $rates = $peaks = [];
        for ($i = 0; $i < 3; $i++) {
            $one = worker_run('wal', $sessions * ($quick ? 30 : 60), $sessions, $slow->relay());
            $rates[] = $one['rate'];
            $peaks[] = $one['rss'];
        }
        $rate = median($rates);
        $ideal = $sessions / 0.1;
        $name = "worker, dot answered after 100 ms, $sessions sessions / ideal";
        $results->ratio($name, $rate / $ideal, atLeast: 0.9, detail: ['mails per second' => $rate]);
        $name = "    peak memory, $sessions sessions";
        $results->ratio($name, max($peaks), atMost: 64, unit: ' MiB');
    }
    $slow->stop();
}
