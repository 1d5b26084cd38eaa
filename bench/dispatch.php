<?php

// How long a request waits for a database server to take a mail: ours beside Symfony Messenger's
// Doctrine transport and Laravel's database queue, which take an object of the same size. On a
// connection that is open, and with connecting; to a server on this machine, and to one that is
// 1 ms away in each direction.

declare(strict_types=1);

namespace Bench;

use MailQueue;
use Symfony\Component\Messenger\Envelope;

/**
 * @param callable(): callable(): mixed $connect gives what stores one mail
 * @return array{open: float, whole: float} ms: median on an open connection, and with connecting
 */
function dispatched(callable $connect, int $times): array
{
    $took = static function (callable $work) use ($times): float {
        $seen = [];
        for ($i = 0; $i < $times; $i++) {
            $begun = hrtime(true);
            $work();
            $seen[] = (hrtime(true) - $begun) / 1e6;
        }
        return median($seen);
    };
    $store = $connect();
    $store();
    return ['open' => $took($store), 'whole' => $took(static fn() => $connect()())];
}

/** @return array<string, callable(): callable(): mixed> */
function dispatchers(Server $server, string $dsn): array
{
    $text = letter();
    $mail = ['message' => $text, 'envelopeFrom' => 'shop@example.org',
        'recipients' => ['person@example.com']];
    return [
        'enqueue()' => static function () use ($dsn, $mail): callable {
            $queue = new MailQueue($dsn);
            return static fn() => $queue->enqueue(...$mail);
        },
        'Messenger' => static function () use ($server, $dsn, $text): callable {
            $transport = (new Messenger($server, $dsn))->transport();
            return static fn() => $transport->send(new Envelope(new Letter($text)));
        },
        'Laravel' => static function () use ($dsn, $text): callable {
            $queue = Laravel::queue($dsn);
            return static fn() => $queue->push(new LaravelJob($text));
        },
    ];
}

/** @return array<string, float> medians by queue and connection */
function dispatch_to(Server $server, string $dsn, int $rounds, int $times): array
{
    $seen = [];
    for ($i = 0; $i < $rounds; $i++) {
        foreach (dispatchers($server, $dsn) as $who => $connect) {
            foreach (run(static fn() => dispatched($connect, $times)) as $how => $ms) {
                $seen["$who, ms" . ($how === 'open' ? '' : ' with connecting')][] = $ms;
            }
        }
    }
    return array_map(median(...), $seen);
}

function bench_dispatch(Results $results, bool $quick): void
{
    require_once __DIR__ . '/messenger.php';
    require_once __DIR__ . '/laravel.php';
    foreach ([PostgresServer::class, MariaServer::class] as $class) {
        $server = new $class();
        (new MailQueue($server->dsn))->stats();
        (new Messenger($server))->fill(1, letter());
        Laravel::makeTable($server);
        $distance = new Distance($server);
        $away = $server->behind($distance->directory);
        foreach (['here' => $server->dsn, '1 ms away' => $away] as $where => $dsn) {
            $got = dispatch_to($server, $dsn, $quick ? 3 : 7, $quick ? 50 : 200);
            $best = min($got['Messenger, ms'], $got['Laravel, ms']);
            $name = "{$server->name()} $where, enqueue() / the faster of Messenger and Laravel";
            $results->ratio($name, $got['enqueue(), ms'] / $best, detail: $got);
        }
        $distance->stop();
        $server->stop();
    }
}
