<?php

// How long a request waits: two producers at 1,000 mails a second each beside a worker that drains
// 1,000 a second, against the same loop written in PHP with pdo_sqlite and its defaults.

declare(strict_types=1);

namespace Bench;

use MailQueue;
use PDO;

const PRODUCER_RATE = 1000;
const DRAIN_RATE = 1000;
const DRAIN_BATCH = 50;

/** Calls $once at PRODUCER_RATE for $seconds and returns how long each call took, in µs. */
function produce(callable $once, float $seconds): array
{
    $taken = [];
    $begun = hrtime(true);
    for ($i = 0; ; $i++) {
        $due = $begun + (int) ($i * 1e9 / PRODUCER_RATE);
        $now = hrtime(true);
        if ($now - $begun > $seconds * 1e9) {
            return $taken;
        }
        if ($now < $due) {
            time_nanosleep(0, $due - $now);
        }
        $at = hrtime(true);
        $once($i);
        $taken[] = (hrtime(true) - $at) / 1e3;
    }
}

function pace(int &$count, int $begun): void
{
    $due = $begun + (int) (++$count * 1e9 / DRAIN_RATE);
    $now = hrtime(true);
    $now < $due && usleep((int) (($due - $now) / 1000));
}

function our_worker(string $path, float $seconds): void
{
    $begun = hrtime(true);
    $count = 0;
    (new MailQueue($path))->runWorker(
        static function () use (&$count, $begun): void {
            pace($count, $begun);
        },
        batch: DRAIN_BATCH, timeLimit: (int) ceil($seconds), grace: 1, daemon: true, log: '');
}

function php_worker(string $path, float $seconds): int
{
    $pdo = new PDO("sqlite:$path", null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    $take = $pdo->prepare("SELECT id FROM mail_queue WHERE status IN ('pending','failed') AND priority = 0 AND next_attempt_at <= ? ORDER BY next_attempt_at, id LIMIT " . DRAIN_BATCH);
    $body = $pdo->prepare('SELECT content FROM mail_body WHERE id = ?');
    $claim = $pdo->prepare("UPDATE mail_queue SET status = 'sending', locked_until = ?, attempts = attempts + 1 WHERE id = ?");
    $drop = $pdo->prepare('DELETE FROM mail_queue WHERE id = ?');
    $dropBody = $pdo->prepare('DELETE FROM mail_body WHERE id = ?');
    $begun = hrtime(true);
    $count = 0;
    $done = [];
    while (hrtime(true) - $begun < $seconds * 1e9) {
        $pdo->exec('BEGIN IMMEDIATE');
        foreach ($done as $id) {
            $drop->execute([$id]);
            $dropBody->execute([$id]);
        }
        $take->execute([time()]);
        $done = $take->fetchAll(PDO::FETCH_COLUMN);
        foreach ($done as $id) {
            $claim->execute([time() + 900, $id]);
            $body->execute([$id]);
            $body->fetchColumn();
            $body->closeCursor();
        }
        $pdo->exec('COMMIT');
        foreach ($done as $id) {
            pace($count, $begun);
        }
        $done || usleep(10_000);
    }
    return $count;
}

/** @return array{p50: float, p99: float, max: float} µs */
function under_load(bool $ours, float $seconds): array
{
    $path = fresh();
    (new MailQueue($path, journal: 'wal'))->stats();
    $worker = start(static fn() => $ours ? our_worker($path, $seconds + 1) : php_worker($path, $seconds + 1));
    $producers = [];
    for ($p = 0; $p < 2; $p++) {
        $producers[] = start(static function () use ($path, $ours, $seconds): array {
            usleep(300_000);
            if ($ours) {
                $queue = new MailQueue($path);
                return produce(static fn(int $i) => $queue->enqueue(message($i), envelopeFrom: 'shop@example.org', recipients: ["person$i@example.com"]), $seconds);
            }
            $queue = new PdoQueue($path, 'wal', pragmas: false); // pdo_sqlite's defaults: FULL, checkpoints by everybody
            return produce(static fn(int $i) => $queue->enqueue(message($i), "person$i@example.com"), $seconds);
        });
    }
    $taken = array_merge(...array_map(result(...), $producers));
    result($worker);
    remove($path);
    return ['p50' => percentile($taken, 0.5), 'p99' => percentile($taken, 0.99), 'max' => max($taken), 'calls' => count($taken)];
}

function bench_latency(Results $results, bool $quick): void
{
    $seen = [];
    for ($i = 0; $i < ($quick ? 3 : 5); $i++) {
        foreach (['mailqueue' => true, 'PHP loop' => false] as $name => $ours) {
            foreach (under_load($ours, $quick ? 3.0 : 6.0) as $what => $value) {
                $seen["$name $what"][] = $value;
            }
        }
    }
    $got = array_map(median(...), $seen);
    $results->ratio('p99 of enqueue under load, WAL, FULL: mailqueue / PHP loop', $got['mailqueue p99'] / $got['PHP loop p99'], atMost: 0.5, detail: $got);
}
