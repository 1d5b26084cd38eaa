<?php

// How long a request waits: two producers at 1,000 mails a second each beside a worker that drains
// 1,000 a second, against the same loop written in PHP with pdo_sqlite and its defaults. Every
// commit is synced before it is reported, on both sides by synchronous=FULL, SQLite's default.
//
// The time of the calls is compared, of the producer that was worse off: where the disk is too slow
// for the rate, SQLite's own waiting lets one process commit hundreds of times in a row while the
// other makes none, and among the calls of both together its few long waits would not be seen.
// Beside it are all calls together, the time since each call was due, which counts the calls that a
// producer could not make while it was kept waiting, what the worker drained, and the disk alone:
// two processes that do nothing but sync, as often and about as much as the producers. Each call
// has such a sync in it, on either side, and cannot be quicker.

declare(strict_types=1);

namespace Bench;

use MailQueue;
use PDO;

const PRODUCER_RATE = 1000;
const DRAIN_RATE = 1000;
const BEHIND_US = 250_000; // a producer this late cannot keep up with the rate
const MEMORY = '/dev/shm';
const DISK_WRITE = 20 << 10; // about as much as a commit of one mail writes
const DISK_SPAN = 200 * DISK_WRITE; // of each process: a WAL of 1,000 frames of 4 KiB
const DRAIN_BATCH = 20; // of both workers: short transactions keep the producers' waits short

/**
 * Calls $once at PRODUCER_RATE for $seconds.
 *
 * @return array{waited: list<float>, took: list<float>} µs: since it was due, and of the call
 */
function produce(callable $once, float $seconds): array
{
    $waited = $took = [];
    $begun = hrtime(true);
    for ($i = 0; $i < $seconds * PRODUCER_RATE; $i++) {
        $due = $begun + (int) ($i * 1e9 / PRODUCER_RATE);
        $now = hrtime(true);
        if ($now - $begun > 2 * $seconds * 1e9) {
            break; // it cannot hold the rate at all
        }
        if ($now < $due) {
            time_nanosleep(0, $due - $now);
        }
        $at = hrtime(true);
        $once($i);
        $end = hrtime(true);
        $took[] = ($end - $at) / 1e3;
        $waited[] = ($end - $due) / 1e3;
    }
    return ['waited' => $waited, 'took' => $took];
}

function pace(int &$count, int $begun): void
{
    $due = $begun + (int) (++$count * 1e9 / DRAIN_RATE);
    $now = hrtime(true);
    $now < $due && usleep((int) (($due - $now) / 1000));
}

function our_worker(string $path, float $seconds): int
{
    $begun = hrtime(true);
    $count = 0;
    (new MailQueue($path))->runWorker(
        static function () use (&$count, $begun): void {
            pace($count, $begun);
        },
        batch: DRAIN_BATCH, timeLimit: (int) ceil($seconds), grace: 1, daemon: true, log: '');
    return $count;
}

function php_worker(string $path, float $seconds): int
{
    $pdo = new PDO("sqlite:$path", null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    $take = $pdo->prepare("SELECT id FROM mail_queue WHERE status IN ('pending','failed')
        AND priority = 0 AND next_attempt_at <= ? ORDER BY next_attempt_at, id
        LIMIT " . DRAIN_BATCH);
    $body = $pdo->prepare('SELECT content FROM mail_body WHERE id = ?');
    $claim = $pdo->prepare("UPDATE mail_queue SET status = 'sending', locked_until = ?,
        attempts = attempts + 1 WHERE id = ?");
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

/**
 * The file of an existing application, as SQLite makes it: pages of 4 KiB, in WAL mode. Or a file
 * that mailqueue makes, with pages of 8 KiB: better for batches, but a commit of one mail writes
 * twice as much.
 */
function make_file(string $path, bool $application): void
{
    if ($application) {
        $pdo = new PDO("sqlite:$path", null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
        $pdo->exec('PRAGMA journal_mode=WAL; CREATE TABLE registrations (number TEXT PRIMARY KEY)');
    }
    (new MailQueue($path, journal: 'wal'))->stats();
}

/** One producer; PDO with its defaults: FULL, and any process makes checkpoints. */
function producer(string $path, bool $ours, float $seconds): array
{
    usleep(300_000);
    if (!$ours) {
        $queue = new PdoQueue($path, 'wal', pragmas: false);
        $enqueue = static fn(int $i) => $queue->enqueue(message($i), "p$i@example.com");
        return produce($enqueue, $seconds);
    }
    $queue = new MailQueue($path);
    $enqueue = static fn(int $i): ?int => $queue->enqueue(message($i),
        envelopeFrom: 'shop@example.org', recipients: ["p$i@example.com"]);
    return produce($enqueue, $seconds);
}

/** A file on no disk, so that no sync slows it down. */
function in_memory(): string
{
    $path = MEMORY . '/mailqueue-bench-' . bin2hex(random_bytes(6)) . '.sqlite';
    $owner = getmypid();
    register_shutdown_function(static fn() => getmypid() === $owner && remove($path));
    return $path;
}

/** The file's directory, and who made the file. */
enum Place: string
{
    case Memory = 'in memory, where no disk is waited for';
    case File = "the application's file";
    case OwnFile = "mailqueue's own file";
}

/** @return array<string, float> µs, and the number of calls */
function under_load(Place $place, bool $ours, float $seconds): array
{
    $path = $place === Place::Memory ? in_memory() : fresh();
    make_file($path, $place !== Place::OwnFile);
    $work = $ours ? our_worker(...) : php_worker(...);
    $worker = start(static fn(): int => $work($path, $seconds + 1));
    $producers = [];
    for ($p = 0; $p < 2; $p++) {
        $producers[] = start(static fn(): array => producer($path, $ours, $seconds));
    }
    $results = array_map(result(...), $producers);
    $drained = result($worker);
    remove($path);
    $waited = array_merge(...array_column($results, 'waited'));
    $took = array_merge(...array_column($results, 'took'));
    $each = array_map(static fn(array $of): float => percentile($of['took'], 0.99), $results);
    return ['p50' => percentile($took, 0.5), 'p99' => max($each),
        'p99 of both' => percentile($took, 0.99), 'max' => max($took),
        'p99 since due' => percentile($waited, 0.99), 'calls' => count($took),
        'drained' => $drained];
}

/** @return array<string, float> µs of a write and its sync, without a database */
function disk_alone(float $seconds): array
{
    $path = fresh();
    file_put_contents($path, str_repeat("\0", 2 * DISK_SPAN)); // overwritten: it does not grow
    $syncs = static function (int $offset) use ($path, $seconds): array {
        $file = fopen($path, 'r+');
        stream_set_write_buffer($file, 0);
        $bytes = random_bytes(DISK_WRITE);
        $write = static function (int $i) use ($file, $bytes, $offset): void {
            fseek($file, $offset + $i * DISK_WRITE % DISK_SPAN);
            fwrite($file, $bytes);
            fdatasync($file);
        };
        fsync($file);
        return produce($write, $seconds)['took'];
    };
    $children = array_map(static fn(int $offset): array => start(fn(): array => $syncs($offset)),
        [0, DISK_SPAN]);
    $took = array_merge(...array_map(result(...), $children));
    remove($path);
    return ['p50' => percentile($took, 0.5), 'p99' => percentile($took, 0.99)];
}

/** @return array<string, float> medians of runs in turn */
function compare_under_load(Place $place, bool $quick): array
{
    $seen = [];
    for ($i = 0; $i < ($quick ? 3 : 5); $i++) {
        foreach (['mailqueue' => true, 'PHP loop' => false] as $name => $ours) {
            foreach (under_load($place, $ours, $quick ? 3.0 : 6.0) as $what => $value) {
                $seen["$name $what"][] = $value;
            }
        }
        $disk = $place === Place::Memory ? [] : disk_alone($quick ? 1.0 : 2.0);
        foreach ($disk as $what => $value) {
            $seen["disk alone $what"][] = $value;
        }
    }
    return array_map(median(...), $seen);
}

function bench_latency(Results $results, bool $quick): void
{
    foreach (Place::cases() as $place) {
        if ($place === Place::Memory && !is_writable(MEMORY)) {
            continue;
        }
        $got = compare_under_load($place, $quick);
        $results->ratio("p99 of enqueue under load, WAL, FULL, $place->value",
            $got['mailqueue p99'] / $got['PHP loop p99'],
            atMost: $place === Place::File ? 1.0 : null, detail: $got);
        $results->ratio('    of all calls together',
            $got['mailqueue p99 of both'] / $got['PHP loop p99 of both']);
        $results->ratio('    since the call was due',
            $got['mailqueue p99 since due'] / $got['PHP loop p99 since due']);
        if (max($got['mailqueue p99 since due'], $got['PHP loop p99 since due']) > BEHIND_US) {
            fprintf(STDERR, "    producers fell behind: this disk does not hold %s commits/s\n",
                number_format(2 * PRODUCER_RATE));
        }
    }
}
