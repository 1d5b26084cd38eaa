<?php

// Campaign::add(): recipients from a generator, beside the same INSERTs in plain C on a file of the
// same kind; what they take in memory and in the file; how long other writers wait meanwhile; and
// the same on PostgreSQL and MariaDB. --recipients=N sets how many (default a million; --quick:
// 200,000).

declare(strict_types=1);

namespace Bench;

use MailQueue;
use PDO;

const CAMPAIGN_CHUNK = 2000; // recipients a transaction of the program in C
const CAMPAIGN_BATCH = 32_768; // recipients that add() orders, see src/campaign/adding.c

/** @return \Generator<int, array{address: string, name: string, fields: array<string, mixed>}> */
function campaign_recipients(int $count): \Generator
{
    for ($i = 0; $i < $count; $i++) {
        yield [
            'address' => "person$i@example.com",
            'name' => "Person $i",
            'fields' => ['first_name' => 'Ann', 'code' => "SPRING$i", 'points' => $i],
        ];
    }
}

/** A message of which each mail has 4 KB. @return array<string, mixed> */
function campaign_message(): array
{
    $sentence = 'Dear {{first_name}}, the code {{code}} is worth {{points}} points in our shop. ';
    $rest = 'Everything that is new this spring is on the shelves now, and we keep it for you. ';
    $text = $html = '';
    for ($i = 0; $i < 3; $i++) {
        $text .= $sentence . str_repeat($rest, 4) . "\n\n";
        $html .= "<p>$sentence" . str_repeat($rest, 5) . "</p>\n";
    }
    return [
        'from' => 'News <news@example.org>',
        'subject' => 'Spring, {{first_name}}: {{code}}',
        'text' => $text,
        'html' => "<html><body>\n$html</body></html>\n",
        'unsubscribe' => ['list' => 'news', 'url' => 'https://example.org/unsubscribe.php'],
    ];
}

function campaign_of(MailQueue $queue): MailQueue\Campaign
{
    $campaign = $queue->campaign('spring');
    $campaign->setMessage(campaign_message());
    return $campaign;
}

/** A new file with an empty campaign. */
function campaign_file(): string
{
    campaign_of(new MailQueue($path = fresh('campaign'), journal: 'wal'));
    return $path;
}

/** KiB of a line of /proc/…/status, such as VmRSS. */
function memory_of(string $line, int|string $pid = 'self'): int
{
    preg_match("/^$line:\s+(\d+)/m", (string) @file_get_contents("/proc/$pid/status"), $match);
    return (int) ($match[1] ?? 0);
}

/** @return array{rate: float, cpu: float, memory: float} a second, µs each, MiB above the start */
function campaign_add(string $database, int $count): array
{
    return run(static function () use ($database, $count): array {
        $campaign = campaign_of(new MailQueue($database));
        file_put_contents('/proc/self/clear_refs', '5'); // VmHWM begins here
        $before = memory_of('VmRSS');
        [$cpu, $begun] = [cpu(), hrtime(true)];
        $added = $campaign->add(campaign_recipients($count));
        $seconds = (hrtime(true) - $begun) / 1e9;
        $added === $count || throw new \RuntimeException("only $added of $count were added");
        return ['rate' => $count / $seconds, 'cpu' => (cpu() - $cpu) / $count * 1e6,
            'memory' => (memory_of('VmHWM') - $before) / 1024];
    });
}

/** @return array{rate: float, cpu: float} of bench/campaign.c */
function campaign_plain(string $path, int $count, int $batch): array
{
    $id = (new PDO("sqlite:$path"))->query('SELECT id FROM mail_campaign')->fetchColumn();
    $command = [dirname(__DIR__) . '/.build/bench/campaign', $path, $id, $count, CAMPAIGN_CHUNK,
        $batch];
    exec(implode(' ', array_map(escapeshellarg(...), array_map(strval(...), $command))), $out,
        $code);
    $code === 0 || throw new \RuntimeException('bench/campaign.c failed');
    [$seconds, $cpu] = array_map(floatval(...), explode(' ', $out[0]));
    return ['rate' => $count / $seconds, 'cpu' => $cpu / $count * 1e6];
}

/** Octets of the file for each recipient, without those of its fields. */
function campaign_octets(string $path, int $before): float
{
    $pdo = new PDO("sqlite:$path");
    $pdo->query('PRAGMA wal_checkpoint(TRUNCATE)')->fetchAll();
    [$count, $fields] = $pdo->query('SELECT count(*), sum(length(fields)) FROM mail_recipient')
        ->fetch(PDO::FETCH_NUM);
    clearstatcache();
    return (filesize($path) - $before - $fields) / $count;
}

/** Makes a new file and closes it, so that all of it is in the file, and not in its WAL. */
function campaign_empty(): string
{
    $path = run(campaign_file(...));
    (new PDO("sqlite:$path"))->query('PRAGMA wal_checkpoint(TRUNCATE)')->fetchAll();
    return $path;
}

function campaign_against_c(Results $results, int $count, int $rounds): void
{
    $seen = [];
    for ($i = 0; $i < $rounds; $i++) {
        foreach (['add()', 'C', 'C, ordered'] as $case) {
            $path = campaign_empty();
            $before = filesize($path);
            $got = match ($case) {
                'add()' => campaign_add($path, $count),
                'C' => campaign_plain($path, $count, 0),
                'C, ordered' => campaign_plain($path, $count, CAMPAIGN_BATCH),
            };
            $got['octets'] = campaign_octets($path, $before);
            remove($path);
            foreach ($got as $figure => $value) {
                $seen[$case][$figure][] = $value;
            }
        }
    }
    $got = array_map(static fn (array $case): array => array_map(median(...), $case), $seen);
    [$ours, $plain, $ordered] = [$got['add()'], $got['C'], $got['C, ordered']];
    $what = number_format($count) . ' recipients, WAL';
    $results->ratio("add(), $what: rate / plain C", $ours['rate'] / $plain['rate'], atLeast: 0.85,
        detail: ['add(), a second' => $ours['rate'], 'plain C, a second' => $plain['rate'],
            'add(), µs of CPU each' => $ours['cpu'], 'plain C, µs of CPU each' => $plain['cpu']]);
    $results->ratio('    the same, plain C in the order of add()', $ours['rate'] / $ordered['rate'],
        detail: ['plain C, a second' => $ordered['rate'],
            'plain C, µs of CPU each' => $ordered['cpu']]);
    $results->ratio('    add(), a second, in thousands', $ours['rate'] / 1000, atLeast: 100);
    $results->ratio('    memory above the start', max($seen['add()']['memory']), atMost: 20,
        unit: ' MiB');
    $results->ratio('    octets a recipient beyond its fields', $ours['octets'], atMost: 300);
}

/**
 * Commits now and then until the file is there, as the requests of a site do.
 *
 * @param callable(): callable(): mixed $connect gives what commits once
 * @return list<float> ms of each commit
 */
function campaign_other_writer(callable $connect, string $until): array
{
    $commit = $connect();
    $seen = [];
    while (!file_exists($until)) {
        usleep(random_int(5_000, 15_000));
        $begun = hrtime(true);
        $commit();
        $seen[] = (hrtime(true) - $begun) / 1e6;
        clearstatcache();
    }
    return $seen;
}

/** @return array<string, callable(): callable(): mixed> */
function campaign_writers(string $path): array
{
    return [
        'enqueue()' => static function () use ($path): callable {
            $queue = new MailQueue($path);
            return static fn () => $queue->enqueue(message(1), envelopeFrom: 'shop@example.org',
                recipients: ['person@example.com']);
        },
        "an application's INSERT by PDO" => static function () use ($path): callable {
            $pdo = new PDO("sqlite:$path", null, null, [PDO::ATTR_ERRMODE
                => PDO::ERRMODE_EXCEPTION]);
            $pdo->exec('CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)');
            $insert = $pdo->prepare("INSERT INTO people (name) VALUES ('Ann')");
            return static fn () => $insert->execute();
        },
    ];
}

/** How long others wait: one at a time, beside add(). */
function campaign_waits(Results $results, int $count): void
{
    foreach (['enqueue()', "an application's INSERT by PDO"] as $who) {
        $path = campaign_empty();
        $until = directory() . '/until';
        $connect = campaign_writers($path)[$who];
        $other = start(static fn (): array => campaign_other_writer($connect, $until));
        usleep(200_000);
        $rate = campaign_add($path, $count)['rate'];
        touch($until);
        $waits = result($other);
        unlink($until);
        remove($path);
        $results->ratio("p99 of $who beside add(), ms", percentile($waits, 0.99), atMost: 50,
            detail: ['median' => median($waits), 'most' => max($waits),
                'commits' => count($waits), 'add() meanwhile, a second' => $rate]);
    }
}

function campaign_on_servers(Results $results, int $count): void
{
    foreach ([PostgresServer::class, MariaServer::class] as $class) {
        $server = new $class();
        $cpu = $server->cpu();
        $got = campaign_add($server->dsn, $count);
        $results->ratio("add() on {$server->name()}, a second, in thousands", $got['rate'] / 1000,
            atLeast: 25, detail: ['µs of CPU of PHP each' => $got['cpu'],
                'µs of CPU of the server each' => ($server->cpu() - $cpu) / $count * 1e6,
                'MiB above the start' => $got['memory']]);
        $server->stop();
    }
}

function bench_campaign_add(Results $results, bool $quick): void
{
    $count = (int) (option('recipients') ?? ($quick ? 200_000 : 1_000_000));
    campaign_against_c($results, $count, $quick ? 1 : 3);
    campaign_waits($results, $count);
    campaign_on_servers($results, $count);
}
