<?php

// The worker from SQLite to a mail API that answers after 100 ms, with and without TLS.

declare(strict_types=1);

namespace Bench;

/** tests/lib/api_server.py, which takes every mail and writes nothing down. */
final class SlowApi
{
    public readonly string $relay;
    private $process;

    /** @param array{cert: string, key: string}|null $tls PEM files */
    public function __construct(float $delay, ?array $tls)
    {
        $directory = directory() . '/api-' . bin2hex(random_bytes(4));
        mkdir($directory);
        file_put_contents("$directory/settings", json_encode(['directory' => $directory,
            'delay' => $delay, 'record' => false,
            'answer' => ['status' => 200, 'body' => '{"MessageId":"1"}']] + ($tls ?? [])));
        $server = dirname(__DIR__) . '/tests/lib/api_server.py';
        $this->process = proc_open(['python3', $server, "$directory/settings"], [], $pipes);
        for ($i = 0; $i < 100 && !is_file("$directory/port"); $i++) {
            usleep(50_000);
        }
        $port = (int) @file_get_contents("$directory/port")
            ?: throw new \RuntimeException('the API did not start');
        $this->relay = "ses+https://KEY:SECRET@127.0.0.1:$port?region=x"
            . ($tls === null ? '&tls=none' : "&cafile=$tls[cert]");
        array_map(unlink(...), glob("$directory/*"));
        rmdir($directory);
    }

    public function stop(): void
    {
        proc_terminate($this->process);
        proc_close($this->process);
    }
}

/** @return array{cert: string, key: string} */
function certificate(): array
{
    $files = ['cert' => directory() . '/api.pem', 'key' => directory() . '/api.key'];
    $command = ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
        'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=api', '-addext',
        'subjectAltName=IP:127.0.0.1', '-keyout', $files['key'], '-out', $files['cert']];
    $process = proc_open($command, [2 => ['file', '/dev/null', 'w']], $pipes);
    return proc_close($process) === 0 ? $files : throw new \RuntimeException('openssl failed');
}

function bench_http(Results $results, bool $quick): void
{
    foreach (['' => null, ', TLS' => certificate()] as $kind => $tls) {
        $api = new SlowApi(0.1, $tls);
        foreach ([100, 500] as $requests) {
            $rates = $peaks = [];
            for ($i = 0; $i < 3; $i++) {
                $count = $requests * ($quick ? 30 : 60);
                $one = worker_run('wal', $count, $requests, $api->relay);
                $rates[] = $one['rate'];
                $peaks[] = $one['rss'];
            }
            $name = "API answers after 100 ms$kind, $requests requests at once / ideal";
            // With TLS, 500 handshakes at once take their part of two cores: a figure, no bound.
            $bound = $tls === null || $requests < 500 ? 0.9 : null;
            $results->ratio($name, median($rates) / ($requests / 0.1), atLeast: $bound,
                detail: ['mails per second' => median($rates), 'best' => max($rates)]);
            $name = "    peak memory, $requests requests";
            $results->ratio($name, max($peaks), atMost: 64, unit: ' MiB');
        }
        $api->stop();
    }
}
