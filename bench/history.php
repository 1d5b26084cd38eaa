<?php

// What the counters and the history cost a worker whose transport costs nothing, in CPU of all
// processes: with a library that writes no counters (bench/uncounted builds it), with the history
// off and on, and beside the same rows inserted in plain SQL.

declare(strict_types=1);

namespace Bench;

use MailQueue;
use PDO;

/** Runs history_run.php with this library. @return array{seconds: float, cpu: float} */
function history_run(?string $library, string ...$arguments): array
{
    $words = explode("\0", rtrim((string) file_get_contents('/proc/self/cmdline'), "\0"));
    $command = array_slice($words, 0, array_search(__DIR__ . '/run.php', $words, true));
    if ($library !== null) {
        $command = preg_replace('~\Aextension=.*/mailqueue\.so\z~', "extension=$library", $command);
    }
    $command = [...$command, __DIR__ . '/history_run.php', ...$arguments];
    $process = proc_open($command, [1 => ['pipe', 'w']], $pipes);
    $said = stream_get_contents($pipes[1]);
    if (proc_close($process) !== 0) {
        throw new \RuntimeException("history_run.php failed: $said");
    }
    return json_decode($said, true, 512, JSON_THROW_ON_ERROR);
}

/** A database in which each run finds due mail. @return array{string, callable(int): void} */
function history_database(?Server $server, int $count): array
{
    if ($server === null) {
        $path = filled('truncate', $count);
        $queue = new MailQueue($path);
        return ["sqlite:$path", static function (int $days) use ($queue, $path, $count): void {
            $queue->setConfig('mailHistoryDays', $days);
            $left = $queue->stats()->pending;
            $queue->enqueueMany(array_fill(0, $count - $left, ['message' => message(1),
                'envelopeFrom' => 'shop@example.org', 'recipients' => ['person@example.com']]));
        }];
    }
    $dsn = deep_schema($server, 'history', $count);
    $pdo = $server->pdo($dsn);
    return [$dsn, static function (int $days) use ($server, $dsn, $pdo, $count): void {
        (new MailQueue(new PDO($dsn)))->setConfig('mailHistoryDays', $days);
        $lacks = $count - (int) $pdo->query('SELECT count(*) FROM mail_queue')->fetchColumn();
        $lacks > 0 && add_jobs($server, $pdo, $lacks);
        $pdo->exec('TRUNCATE TABLE mail_log');
        $server->tidy($pdo, 'mail_queue', 'mail_body', 'mail_log', 'mail_count');
    }];
}

function history_on(Results $results, ?Server $server, string $uncounted, bool $quick): void
{
    $count = $quick ? 20_000 : 40_000;
    [$dsn, $prepare] = history_database($server, $count);
    $case = static function (int $days, ?string $library, int $rows = 0) use (
        $server,
        $dsn,
        $prepare,
        $count,
    ): array {
        $prepare($days);
        $cpu = $server?->cpu() ?? 0.0;
        $got = history_run($library, $dsn, (string) $count, (string) $rows);
        $spent = $got['cpu'] + ($server?->cpu() ?? 0.0) - $cpu;
        return ['cpu' => $spent * 1e6 / $count, 'rate' => $count / $got['seconds']];
    };
    $got = in_turn($quick ? 5 : 9, [
        'without counters' => static fn() => $case(0, $uncounted),
        'with counters' => static fn() => $case(0, null),
        'with the history' => static fn() => $case(30, null),
        'plain SQL, an INSERT a row' => static fn() => $case(30, null, 1),
        'plain SQL, an INSERT for 100 rows' => static fn() => $case(30, null, 100),
    ]);
    $detail = [];
    foreach (['cpu' => 'µs of CPU a mail', 'rate' => 'a second'] as $figure => $unit) {
        foreach ($got as $name => $figures) {
            $detail["$name: $unit"] = $figures[$figure];
        }
    }
    [$none, $counted, $kept, $plain] = array_column($got, 'cpu');
    $who = $server?->name() ?? 'SQLite';
    $name = "$who, CPU of a mail with counters / without";
    $results->ratio($name, $counted / $none, atMost: 1.03, detail: $detail);
    $name = "$who, CPU of the history / of an INSERT a mail";
    $results->ratio($name, ($kept - $counted) / $plain, atMost: 1.0);
    $server?->stop();
}

function bench_history(Results $results, bool $quick): void
{
    $uncounted = trim((string) shell_exec(__DIR__ . '/uncounted'));
    history_on($results, null, $uncounted, $quick);
    history_on($results, new PostgresServer(), $uncounted, $quick);
    history_on($results, new MariaServer(), $uncounted, $quick);
}
