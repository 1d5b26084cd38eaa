<?php

// PostgreSQL and MariaDB: how many mails workers claim and settle in a second, beside Symfony
// Messenger's Doctrine transport on the same server with as many messages; what a limit costs; the
// CPU of one mail at three depths; and the room and the log that a mail takes.
//
// The servers wait for the disk, so the directory for temporary files (TMPDIR) should be on the
// disk that matters.

declare(strict_types=1);

namespace Bench;

use Doctrine\DBAL\Exception\RetryableException;
use MailQueue;
use PDO;
use Symfony\Component\Messenger\Exception\TransportException;

const LIMIT = 1_000_000_000; // an hour: never reached, but each claim checks and updates it

/** About 2 KB of text that compresses as real text does. */
function letter(): string
{
    mt_srand(5);
    $words = array_map(static fn(): string => bin2hex(pack('n', mt_rand())), range(1, 120));
    $text = '';
    while (strlen($text) < 1900) {
        $text .= $words[mt_rand(0, 119)] . (mt_rand(0, 9) ? ' ' : "\r\n");
    }
    return "From: Shop <shop@example.org>\r\nTo: person@example.com\r\nSubject: Order\r\n"
        . "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n$text\r\n";
}

function add_jobs(Server $server, PDO $pdo, int $count): void
{
    $now = time();
    $first = 1 + (int) $pdo->query('SELECT max(id) FROM mail_queue')->fetchColumn();
    $pdo->exec("INSERT INTO mail_queue (mail_type, status, next_attempt_at, created_at, message_id,
            envelope_from, recipients)
        SELECT 'mail', 'pending', $now - 5, $now, concat('<', i, '@example.org>'),
            'shop@example.org', '[\"person@example.com\"]' FROM {$server->series($count)}");
    $content = $server instanceof PostgresServer
        ? "convert_to(concat('X-Id: ', id, CAST(? AS TEXT)), 'UTF8')"
        : "concat('X-Id: ', id, ?)";
    $pdo->prepare("INSERT INTO mail_body (id, content)
        SELECT id, $content FROM mail_queue WHERE id >= $first")->execute(["\r\n" . letter()]);
}

/** A schema with a queue of this many due jobs. @return string its DSN */
function deep_schema(Server $server, string $name, int $count): string
{
    $dsn = $server->schema($name);
    $pdo = $server->pdo($dsn);
    (new MailQueue($pdo))->stats();
    add_jobs($server, $pdo, $count);
    $server->tidy($pdo, 'mail_queue', 'mail_body');
    return $dsn;
}

/**
 * What one worker did. A closure takes one mail at a time, so that claims are of 100 and outcomes
 * are settled by 100. Under a limit no more is claimed than the transport can take at once: then
 * null:// is measured, which takes as many as are offered.
 *
 * @return array{n: int, seconds: float}
 */
function ours(string $dsn, float $seconds, ?int $most = null, ?string $transport = null): array
{
    $queue = new MailQueue(new PDO($dsn));
    $begun = hrtime(true);
    $report = $queue->runWorker(
        $transport ?? static fn() => null,
        batch: 100,
        timeLimit: (int) $seconds,
        messageLimit: $most,
        maxWorkers: 64,
        log: '',
    );
    return ['n' => $report->sent, 'seconds' => (hrtime(true) - $begun) / 1e9];
}

/** The same in the application's own loop: claims 100 mails, and settles each by itself. */
function own_loop(string $dsn, float $seconds): array
{
    $queue = new MailQueue(new PDO($dsn));
    $n = 0;
    $begun = hrtime(true);
    while (hrtime(true) - $begun < $seconds * 1e9) {
        foreach ($queue->claim(100) as $job) {
            $n += (int) $queue->complete($job);
        }
    }
    return ['n' => $n, 'seconds' => (hrtime(true) - $begun) / 1e9];
}

/** Repeats what a deadlock undid. @return array{n: int, seconds: float} */
function theirs(Messenger $messenger, float $seconds): array
{
    $transport = $messenger->transport();
    $n = 0;
    $begun = hrtime(true);
    while (hrtime(true) - $begun < $seconds * 1e9) {
        try {
            foreach ($transport->get() as $envelope) {
                $transport->ack($envelope);
                $n++;
            }
        } catch (TransportException $e) {
            if (!$e->getPrevious() instanceof RetryableException) {
                throw $e;
            }
        }
    }
    return ['n' => $n, 'seconds' => (hrtime(true) - $begun) / 1e9];
}

/**
 * Runs as many of them at the same time.
 *
 * @param callable(): array{n: int, seconds: float} $work
 * @return array{rate: float, n: int, cpu: float, log: float} mails a second, mails, µs of CPU a
 *     mail (all processes, the server's too), octets of the server's log a mail
 */
function together(Server $server, int $workers, callable $work): array
{
    [$cpu, $written] = [$server->cpu(), $server->written()];
    $children = [];
    for ($i = 0; $i < $workers; $i++) {
        $children[] = start(static function () use ($work): array {
            $begun = cpu();
            $got = $work();
            return $got + ['cpu' => cpu() - $begun];
        });
    }
    $done = array_map(result(...), $children);
    $n = array_sum(array_column($done, 'n'));
    if ($n === 0) {
        throw new \RuntimeException('nothing was claimed');
    }
    $spent = $server->cpu() - $cpu + array_sum(array_column($done, 'cpu'));
    return [
        'rate' => array_sum(array_map(static fn($one) => $one['n'] / $one['seconds'], $done)),
        'n' => $n,
        'cpu' => $spent * 1e6 / $n,
        'log' => ($server->written() - $written) / $n,
    ];
}

/** Sets or unsets a limit that is never reached. */
function limit(string $dsn, bool $set): void
{
    $queue = new MailQueue(new PDO($dsn));
    $queue->setConfig('mailMaxPerHour', $set ? LIMIT : null);
    $queue->setConfig('mailBurst', $set ? LIMIT : null);
}

/** @return array<string, callable(): array{rate: float, n: int, cpu: float, log: float}> */
function database_cases(
    Server $server,
    string $dsn,
    Messenger $messenger,
    int $workers,
    int $seconds,
): array {
    $mails = static function (callable $work, bool $limited) use ($server, $dsn, $workers): array {
        limit($dsn, $limited);
        $got = together($server, $workers, $work);
        limit($dsn, false);
        $pdo = $server->pdo($dsn);
        add_jobs($server, $pdo, $got['n']);
        $server->tidy($pdo, 'mail_queue', 'mail_body');
        return $got;
    };
    $messages = static function (bool $tuned) use ($server, $messenger, $workers, $seconds): array {
        $messenger->tune($tuned);
        $work = static fn() => theirs($messenger, $seconds);
        $got = together($server, $workers, $work);
        $messenger->add($got['n']);
        return $got;
    };
    $worker = static fn() => ours($dsn, $seconds);
    $many = static fn() => ours($dsn, $seconds, null, 'null://null');
    return [
        'runWorker(), batch 100' => static fn() => $mails($worker, false),
        'Messenger, SKIP LOCKED, without NOTIFY' => static fn() => $messages(true),
        'runWorker(), null://' => static fn() => $mails($many, false),
        'runWorker(), null://, with a limit' => static fn() => $mails($many, true),
        'Messenger as it comes' => static fn() => $messages(false),
        'claim(100), then complete() for each' =>
            static fn() => $mails(static fn() => own_loop($dsn, $seconds), false),
    ];
}

/**
 * @param array<string, callable(): array<string, float>> $cases
 * @return array<string, array<string, float>> medians of each figure, by case
 */
function in_turn(int $rounds, array $cases): array
{
    $seen = [];
    for ($i = 0; $i < $rounds; $i++) {
        foreach ($cases as $name => $case) {
            foreach ($case() as $figure => $value) {
                $seen[$name][$figure][] = (float) $value;
            }
        }
    }
    return array_map(static fn($figures) => array_map(median(...), $figures), $seen);
}

function against_messenger(
    Results $results,
    Server $server,
    string $dsn,
    int $depth,
    bool $quick,
): void {
    require_once __DIR__ . '/messenger.php';
    $messenger = new Messenger($server);
    $messenger->fill($depth, letter());
    $waiting = number_format($depth) . ' waiting';
    foreach ([1, 4, 16] as $workers) {
        $cases = database_cases($server, $dsn, $messenger, $workers, $quick ? 2 : 5);
        $got = in_turn($quick ? 3 : 5, $cases);
        $rates = array_map(static fn($figures) => $figures['rate'], $got);
        [$worker, $tuned, $free, $limited] = array_values($rates);
        $who = "{$server->name()}, $waiting, $workers " . ($workers > 1 ? 'workers' : 'worker');
        $name = "$who / Messenger";
        $bar = $server instanceof PostgresServer ? 10.0 : null;
        $results->ratio($name, $worker / $tuned, atLeast: $bar, detail: $rates);
        $results->ratio("    null://, with a limit / without", $limited / $free);
        [$mail, $message, , $paid] = array_values($got);
        $cpu = $mail['cpu'] / $message['cpu'];
        $results->ratio('    CPU of all processes / Messenger', $cpu, detail: [
            'µs a mail' => $mail['cpu'],
            'µs a mail, null://, with a limit' => $paid['cpu'],
            'µs a message' => $message['cpu'],
            'octets of its log a mail' => $mail['log'],
            'octets of its log a message' => $message['log'],
        ]);
    }
}

/** @param array<int, string> $depths depth → DSN */
function by_depth(Results $results, Server $server, array $depths, bool $quick): void
{
    $jobs = $quick ? 4_000 : 8_000;
    $cases = [];
    foreach ($depths as $depth => $dsn) {
        $cases[$depth] = static function () use ($server, $dsn, $jobs): array {
            $got = together($server, 1, static fn() => ours($dsn, 60, $jobs));
            $pdo = $server->pdo($dsn);
            add_jobs($server, $pdo, $got['n']);
            $server->tidy($pdo, 'mail_queue', 'mail_body');
            return $got;
        };
    }
    $got = in_turn($quick ? 5 : 9, $cases);
    $detail = [];
    foreach ($got as $depth => $figures) {
        $detail['µs a mail at ' . number_format($depth)] = $figures['cpu'];
    }
    [$first, $last] = [array_key_first($got), array_key_last($got)];
    $name = number_format($last) . ' due / ' . number_format($first);
    $ratio = $got[$last]['cpu'] / $got[$first]['cpu'];
    $name = "{$server->name()}, CPU of a mail, $name";
    $results->ratio($name, $ratio, atMost: 1.3, detail: $detail);
}

/** Enqueues for this long. @return array{n: int, seconds: float} */
function storing(string $dsn, float $seconds, int $chunk): array
{
    $queue = new MailQueue(new PDO($dsn));
    $n = 0;
    $mail = ['message' => letter(), 'envelopeFrom' => 'shop@example.org',
        'recipients' => ['person@example.com']];
    $begun = hrtime(true);
    while (hrtime(true) - $begun < $seconds * 1e9) {
        $chunk > 1 ? $queue->enqueueMany(array_fill(0, $chunk, $mail)) : $queue->enqueue(...$mail);
        $n += $chunk;
    }
    return ['n' => $n, 'seconds' => (hrtime(true) - $begun) / 1e9];
}

/** The figures that a server's disk is sized by. */
function growth(Results $results, Server $server, string $dsn, int $depth, bool $quick): void
{
    $sizes = [];
    $pdo = $server->pdo($dsn);
    foreach (['mail_queue', 'mail_body'] as $table) {
        foreach ($server->sizes($pdo, $table) as $what => $octets) {
            $sizes["$table, $what: MiB a million rows"] = $octets / $depth * 1e6 / 1048576;
        }
    }
    $total = array_sum($sizes) / 1024;
    $results->ratio("{$server->name()}, disk a million", $total, detail: $sizes, unit: ' GiB');
    $seconds = $quick ? 2 : 5;
    $cases = [];
    foreach ([[1, 1], [4, 1], [16, 1], [4, 100]] as [$producers, $chunk]) {
        $how = $chunk > 1 ? "enqueueMany() of $chunk" : 'enqueue()';
        $cases["$how, $producers at a time"] = static fn() => together(
            $server,
            $producers,
            static fn() => storing($dsn, $seconds, $chunk),
        );
    }
    foreach (in_turn($quick ? 1 : 3, $cases) as $name => $figures) {
        $results->ratio("{$server->name()}, $name", $figures['rate'], unit: ' /s', detail: [
            'octets of its log a mail' => $figures['log'],
            'µs of CPU a mail' => $figures['cpu'],
        ]);
    }
}

function bench_server(Results $results, Server $server, bool $quick): void
{
    $deepest = $quick ? 100_000 : 1_000_000;
    $depths = [];
    foreach ($quick ? [10_000, $deepest] : [10_000, 100_000, $deepest] as $depth) {
        $depths[$depth] = deep_schema($server, "depth$depth", $depth);
    }
    by_depth($results, $server, $depths, $quick);
    against_messenger($results, $server, $depths[$deepest], $deepest, $quick);
    growth($results, $server, $depths[$deepest], $deepest, $quick);
    $server->stop();
}

function bench_database(Results $results, bool $quick): void
{
    bench_server($results, new PostgresServer(), $quick);
    bench_server($results, new MariaServer(), $quick);
    bench_dispatch($results, $quick);
}
