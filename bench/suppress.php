<?php

// What suppressions cost a claim: CPU per job with none, with millions that were there when the
// mail was stored, with some and with many newer ones, and of mail that was not looked up then.

declare(strict_types=1);

namespace Bench;

use MailQueue;
use MailQueue\Internal;
use PDO;

/** A queue with $count suppressions of other addresses. */
function suppressing(int $count): string
{
    $path = fresh("suppress$count");
    new MailQueue($path, journal: 'wal');
    $pdo = new PDO("sqlite:$path", null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    $pdo->exec('PRAGMA synchronous=OFF; PRAGMA cache_size=-400000');
    // In the order of the hashes, as a B-tree takes them quickest.
    $count === 0 || $pdo->exec("INSERT INTO mail_suppression
        SELECT hash, '', 'hard_bounce', row_number() OVER () AS seq,
            'someone' || hash || '@example.com', 'an old list', 1700000000
        FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $count)
            SELECT random() AS hash FROM n) ORDER BY hash");
    $pdo->exec("UPDATE config SET value = $count WHERE key = 'mailSuppressed'");
    $pdo->exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return $path;
}

/** Stores mails, each to another address. */
function fill_looked_up(string $path, int $jobs): void
{
    static $number = 0;
    $queue = new MailQueue($path);
    $queue->enqueueMany((static function () use ($jobs, &$number): \Generator {
        for ($i = 0; $i < $jobs; $i++) {
            $to = 'person' . ++$number . '@example.net';
            yield ['message' => ['from' => 'shop@example.org', 'to' => $to, 'subject' => 'News',
                'text' => str_repeat("Hello\n", 300)]];
        }
    })());
}

function bench_suppress(Results $results, bool $quick): void
{
    $program = dirname(__DIR__) . '/.build/bench/claim';
    $jobs = 9_000;
    $many = $quick ? 500_000 : 5_000_000;
    $empty = suppressing(0);
    $full = suppressing($many);
    $nothing = static fn (): null => null;
    $newer = static fn (int $count): \Closure => static fn (): int
        => Internal::suppressMany(new MailQueue($full), array_map(static fn (): array
            => [bin2hex(random_bytes(8)) . '@example.com', 'hard_bounce', null, null, 0],
            range(1, $count)));
    $forget = static fn () => (new PDO("sqlite:$full"))
        ->exec('UPDATE mail_queue SET cleared = NULL');
    $cases = ['none' => [$empty, $nothing], 'many' => [$full, $nothing],
        'newer' => [$full, $newer(100)], 'bounces' => [$full, $newer(10_000)],
        'unmarked' => [$full, $forget]];
    $seen = [];
    for ($i = 0; $i < ($quick ? 3 : 9); $i++) {
        foreach ($cases as $case => [$path, $before]) {
            fill_looked_up($path, $jobs);
            $before();
            (new PDO("sqlite:$path"))->exec('PRAGMA wal_checkpoint(TRUNCATE)');
            exec('sync ' . escapeshellarg($path));
            exec(escapeshellarg($program) . ' ' . escapeshellarg($path) . " $jobs", $lines, $code);
            if ($code !== 0) {
                throw new \RuntimeException("$program failed");
            }
            $seen[$case][] = (float) array_pop($lines);
        }
    }
    $got = array_map(median(...), $seen);
    $detail = [
        'µs a job without' => $got['none'],
        "µs a job with $many" => $got['many'],
        'µs a job with 100 newer ones' => $got['newer'],
        'µs a job with 10,000 newer ones' => $got['bounces'],
        'µs a job that was not looked up' => $got['unmarked'],
    ];
    $results->ratio(
        "claim + settle: CPU a job, $many suppressions / none",
        $got['many'] / $got['none'],
        atMost: 1.05,
        detail: $detail,
    );
    $results->ratio(
        'claim + settle: CPU a job, and 100 newer than the mail / none',
        $got['newer'] / $got['none'],
        atMost: 1.05,
    );
    $results->ratio(
        'claim + settle: CPU a job, and 10,000 newer than the mail / none',
        $got['bounces'] / $got['none'],
        atMost: 1.15,
    );
}
