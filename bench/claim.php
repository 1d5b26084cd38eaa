<?php

// Claims and settles batches of 100: CPU per job, for queues of different depths and with other
// jobs beside.

declare(strict_types=1);

namespace Bench;

use MailQueue;
use PDO;

const BESIDE = 1_000_000;

/**
 * A queue with $due jobs, and a million each that are not yet due, parked, or expired but due
 * later.
 */
function deep(int $due, int $beside): string
{
    $path = fresh('deep');
    new MailQueue($path, journal: 'wal');
    $pdo = new PDO("sqlite:$path", null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    $pdo->exec('PRAGMA synchronous=OFF');
    $now = time();
    $insert = static function (
        int $count,
        string $status,
        string $next,
        string $expires,
    ) use ($pdo, $now): void {
        $pdo->exec("INSERT INTO mail_queue (mail_type, status, next_attempt_at, expires_at,
                created_at, message_id, envelope_from, recipients, parked_for)
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $count)
            SELECT 'mail', '$status', $next, $expires,
                $now, '<' || i || '@example.org>', 'shop@example.org', '[\"person@example.com\"]',
                CASE '$status' WHEN 'parked' THEN 'refused' END FROM n");
    };
    // They become due in the order in which they were stored, as mail does.
    $insert($due, 'pending', "$now - 1000 + i * 900 / $due", 'NULL');
    $pdo->exec("INSERT INTO mail_body (id, content) SELECT id, randomblob(2048) FROM mail_queue");
    if ($beside > 0) {
        $insert($beside, 'pending', "$now + 86400 + i % 1000", 'NULL');
        $insert($beside, 'parked', "$now - 1000", 'NULL');
        $insert($beside, 'failed', "$now + 86400", "$now - 500");
    }
    $pdo->exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return $path;
}

/** Stores as many due jobs as the last run has taken out. */
function refill(string $path, int $jobs): void
{
    $pdo = new PDO("sqlite:$path", null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    $now = time();
    $pdo->exec("BEGIN;
        INSERT INTO mail_queue (mail_type, status, next_attempt_at, created_at, message_id,
                envelope_from, recipients)
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $jobs)
            SELECT 'mail', 'pending', $now - 5, $now, '<' || i || '@example.org>',
                'shop@example.org', '[\"person@example.com\"]' FROM n;
        INSERT INTO mail_body (id, content)
            SELECT id, randomblob(2048) FROM mail_queue ORDER BY id DESC LIMIT $jobs;
        COMMIT");
    $pdo->exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

function bench_claim(Results $results, bool $quick): void
{
    $program = dirname(__DIR__) . '/.build/bench/claim';
    $jobs = 9_000;
    $seen = $paths = [];
    foreach ([10_000, 100_000, 1_000_000] as $depth) {
        $paths[$depth] = deep($depth, $quick ? intdiv(BESIDE, 10) : BESIDE);
    }
    // In turn, on the same files, because copying gigabytes in between would affect the
    // measurement.
    for ($i = 0; $i < ($quick ? 3 : 9); $i++) {
        foreach ($paths as $depth => $path) {
            // Otherwise its first checkpoint writes out the stored jobs during the measurement.
            exec('sync ' . escapeshellarg($path));
            exec(escapeshellarg($program) . ' ' . escapeshellarg($path) . " $jobs", $lines, $code);
            if ($code !== 0) {
                throw new \RuntimeException("$program failed");
            }
            $seen[$depth][] = (float) array_pop($lines);
            refill($path, $jobs);
        }
    }
    $got = array_map(median(...), $seen);
    $results->ratio(
        'claim + settle, batch 100: CPU a job, 1 million due / 10 thousand',
        $got[1_000_000] / $got[10_000],
        atMost: 1.3,
        detail: [
            'µs a job at 10 thousand' => $got[10_000],
            'µs a job at 100 thousand' => $got[100_000],
            'µs a job at 1 million' => $got[1_000_000],
        ],
    );
}
