<?php

// enqueue() against the same two inserts through prepared pdo_sqlite with the same pragmas.

declare(strict_types=1);

namespace Bench;

use MailQueue;
use PDO;

const PROCESSES = 8;

/** @return array{\Closure(): float, \Closure(): float} cases on one open connection */
function open_connection(string $journal, int $count): array
{
    $make = static function () use ($journal): string {
        $path = fresh();
        (new MailQueue($path, journal: $journal))->stats();
        return $path;
    };
    $ours = static function () use ($make, $journal, $count): float {
        $queue = new MailQueue($path = $make(), journal: $journal);
        $begun = hrtime(true);
        for ($i = 0; $i < $count; $i++) {
            $queue->enqueue(
                message($i),
                envelopeFrom: 'shop@example.org',
                recipients: ["person$i@example.com"],
            );
        }
        $rate = $count / ((hrtime(true) - $begun) / 1e9);
        remove($path);
        return $rate;
    };
    $theirs = static function () use ($make, $journal, $count): float {
        $queue = new PdoQueue($path = $make(), $journal);
        $begun = hrtime(true);
        for ($i = 0; $i < $count; $i++) {
            $queue->enqueue(message($i), "person$i@example.com");
        }
        $rate = $count / ((hrtime(true) - $begun) / 1e9);
        remove($path);
        return $rate;
    };
    return [$ours, $theirs];
}

/** A request's pattern: construct, enqueue, drop; against open, insert, close. */
function request_pattern(string $journal, int $count, bool $other): array
{
    $measure = static function (callable $once) use ($journal, $count, $other): float {
        $path = fresh();
        (new MailQueue($path, journal: $journal))->stats();
        $beside = $other ? new PDO("sqlite:$path") : null;
        $beside?->query('SELECT count(*) FROM mail_queue')->fetchAll();
        $begun = hrtime(true);
        for ($i = 0; $i < $count; $i++) {
            $once($path, $i);
        }
        $rate = $count / ((hrtime(true) - $begun) / 1e9);
        $beside = null;
        remove($path);
        return $rate;
    };
    return [
        static fn(): float => $measure(static function (string $path, int $i) use ($journal): void {
            (new MailQueue($path, journal: $journal))->enqueue(
                message($i),
                envelopeFrom: 'shop@example.org',
                recipients: ["person$i@example.com"],
            );
        }),
        static fn(): float => $measure(static function (string $path, int $i) use ($journal): void {
            (new PdoQueue($path, $journal))->enqueue(message($i), "person$i@example.com");
        }),
    ];
}

/**
 * Many processes store as fast as they can, like the requests of a busy site. On both sides SQLite
 * syncs each commit while it holds the write lock. PDO waits for the lock and makes checkpoints by
 * SQLite's defaults; mailqueue has its own rules.
 *
 * @return array{\Closure(): float, \Closure(): float}
 */
function at_once(int $processes, float $seconds): array
{
    $measure = static function (bool $ours) use ($processes, $seconds): float {
        (new MailQueue($path = fresh(), journal: 'wal'))->stats();
        $store = static function () use ($path, $ours, $seconds): int {
            $queue = $ours ? new MailQueue($path) : new PdoQueue($path, 'wal');
            $end = hrtime(true) + $seconds * 1e9;
            for ($i = 0; hrtime(true) < $end; $i++) {
                $ours ? $queue->enqueue(message($i), envelopeFrom: 'shop@example.org',
                    recipients: ["person$i@example.com"])
                    : $queue->enqueue(message($i), "person$i@example.com");
            }
            return $i;
        };
        $begun = hrtime(true);
        $children = array_map(static fn(): array => start($store), range(1, $processes));
        $rate = array_sum(array_map(result(...), $children)) / ((hrtime(true) - $begun) / 1e9);
        remove($path);
        return $rate;
    };
    return [static fn(): float => $measure(true), static fn(): float => $measure(false)];
}

/** @param array{mailqueue: float, PDO: float} $got mails a second */
function against_pdo(Results $results, string $name, array $got, ?float $atLeast): void
{
    $results->ratio($name, $got['mailqueue'] / $got['PDO'], atLeast: $atLeast, detail: [
        'mailqueue per second' => $got['mailqueue'],
        'PDO per second' => $got['PDO'],
    ]);
}

function bench_enqueue(Results $results, bool $quick): void
{
    $rounds = $quick ? 3 : 7;
    foreach (['wal', 'truncate'] as $journal) {
        [$ours, $theirs] = open_connection($journal, $quick ? 1500 : 5000);
        $got = alternate($rounds, ['mailqueue' => $ours, 'PDO' => $theirs]);
        $name = "enqueue, open connection, $journal: mailqueue / PDO";
        against_pdo($results, $name, $got, atLeast: $journal === 'wal' ? 0.9 : null);
    }
    [$ours, $theirs] = at_once(PROCESSES, $quick ? 1.0 : 3.0);
    $got = alternate($quick ? 3 : 5, ['mailqueue' => $ours, 'PDO' => $theirs]);
    $name = 'enqueue, ' . PROCESSES . ' processes at once, wal: mailqueue / PDO';
    against_pdo($results, $name, $got, atLeast: null);
    foreach (['wal', 'truncate'] as $journal) {
        foreach ([false, true] as $other) {
            [$ours, $theirs] = request_pattern($journal, $quick ? 400 : 1000, $other);
            $got = alternate($rounds, ['mailqueue' => $ours, 'PDO' => $theirs]);
            $beside = $other ? 'another connection open' : 'no other connection';
            $name = "request: open, enqueue, close, $journal, $beside";
            against_pdo($results, $name, $got, atLeast: $journal === 'wal' ? 0.95 : null);
        }
    }
}
