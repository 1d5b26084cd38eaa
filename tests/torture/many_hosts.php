<?php

// Four hosts, whose clocks differ by up to three minutes, with four workers each on one PostgreSQL.
// First without a limit: each mail is accepted exactly once, and no lease is lost, although leases
// are shorter than the clocks' differences. Then with a strict limit, on a server whose clock runs
// sixty times as fast: an hour is a minute, and no hour has more than the limit.
//
// A host is a set of processes with a clock, a home and a run directory of their own. libfaketime
// reaches the extension only where dlopen() drops RTLD_DEEPBIND (tests/tools/dlopen_shim.c); each
// host shows that its clock is another one before it begins.
//
// Seen to fail (tests/torture/mutants): time by the host's clock (host-time), the bucket's row not
// locked (bucket-unlocked).

declare(strict_types=1);

namespace Torture;

use MailQueueTest\PostgreSQL;

const CLOCKS = ['-90s', '+90s', '-30s', '+45s'];
const WORKERS_A_HOST = 4;
const HOST_LEASE = 60;
const SPEED = 60;
const HOST_LIMIT = 600;
/** Seconds. A host counts on from the server's last answer by its own clock, which is SPEED times slower. */
const COUNTED_ON = 0.1;

final class Host
{
    public readonly string $log;
    /** @var array<string, string> */
    private readonly array $environment;

    public function __construct(private readonly string $directory, public readonly string $clock)
    {
        mkdir("$directory/tmp", 0700, true);
        $this->log = "$directory/log";
        $this->environment = ['HOME' => $directory, 'TMPDIR' => "$directory/tmp",
            'LD_PRELOAD' => shim() . ' ' . PostgreSQL::faketime(), 'FAKETIME' => $clock,
            'FAKETIME_DONT_FAKE_MONOTONIC' => '1', 'MAIL_QUEUE_LOG' => $this->log];
    }

    /** How many seconds the extension's clock is off here. */
    public function off(): int
    {
        $path = "$this->directory/clock.db";
        $library = $GLOBALS['argv'][1] . '/mailqueue.so';
        $code = "(new MailQueue('$path'))->enqueue(\"From: a@example.org\\nTo: b@example.org\\n\\n\");";
        $pid = execute([PHP_BINARY, '-n', '-d', "extension=$library", '-r', $code],
            "$this->directory/clock-output", $this->environment);
        ended($pid);
        return (int) value($path, 'SELECT created_at FROM mail_queue') - time();
    }

    public function work(string $database, Sink $sink, string ...$options): int
    {
        $command = command('work', "--database=$database", "--transport={$sink->dsn('&final_timeout=30')}",
            '--workers=' . count(CLOCKS) * WORKERS_A_HOST, '--lease=' . HOST_LEASE,
            '--connections=3', ...$options);
        return execute($command, "$this->directory/output", $this->environment);
    }
}

/** Makes dlopen() use the preloaded library's clock for extensions, too. */
function shim(): string
{
    static $path = null;
    if ($path === null) {
        $path = $GLOBALS['argv'][1] . '/dlopen_shim.so';
        $command = ['cc', '-shared', '-fPIC', '-o', $path, dirname(__DIR__) . '/tools/dlopen_shim.c'];
        ended(execute($command, "$path.output"));
        is_file($path) || throw new Failure((string) file_get_contents("$path.output"));
    }
    return $path;
}

/** @return list<Host> */
function hosts(Row $row, string $directory): array
{
    PostgreSQL::faketime() !== '' || throw new Failure('faketime is missing; tools/setup test installs it');
    $hosts = [];
    foreach (CLOCKS as $i => $clock) {
        $host = new Host("$directory/host$i", $clock);
        $off = $host->off();
        $row->check(abs($off - (int) $clock) < 5, "host $i: its clock is off by $off s, not $clock");
        $hosts[] = $host;
    }
    return $hosts;
}

/** @param list<Host> $hosts */
function check_hosts(Row $row, array $hosts): void
{
    $busy = 0;
    foreach ($hosts as $i => $host) {
        foreach (['stale', 'uncertain', 'relay_trouble'] as $event) {
            $count = count(events($host->log, $event));
            $row->check($count === 0, "host $i: $count events \"$event\"");
        }
        $runs = array_filter(events($host->log, 'run'), static fn(array $run): bool => str_contains($run['reply'], 'sent='));
        $row->check(count($runs) > 0, "host $i had nothing to do: this run proves nothing");
        $busy += count($runs);
    }
    $row->count('busy-workers', $busy);
}

function without_limit(Row $row, int $mails): void
{
    $directory = "$row->directory/exactly-once";
    mkdir($directory, 0700);
    $database = postgresql()->schema();
    prepare($database, '', $mails);
    $hosts = hosts($row, $directory);
    $sink = new Sink($directory, "at dot delay-ms=0-20\n");
    $workers = [];
    for ($i = 0; $i < WORKERS_A_HOST; $i++) {
        foreach ($hosts as $host) {
            $workers[] = $host->work($database, $sink, '--time-limit=3600', '--batch=20');
        }
    }
    foreach ($workers as $pid) {
        $how = ended_within($pid, 120 + $mails / 50);
        $row->check($how === 'exit 0', "a worker: $how");
    }
    $sink->stop();
    $row->count('mails', $mails);
    $verdict = judge($row, $database, $sink, $mails);
    $row->check($verdict->duplicates + $verdict->uncertain === 0, "$verdict->duplicates duplicates, $verdict->uncertain uncertain");
    check_done($row, $database);
    check_hosts($row, $hosts);
}

/** The most mails that were accepted within any period of this many seconds. */
function most_within(Sink $sink, float $seconds): int
{
    $times = $sink->times();
    $most = $first = 0;
    foreach ($times as $i => $time) {
        while ($time - $times[$first] >= $seconds) {
            $first++;
        }
        $most = max($most, $i - $first + 1);
    }
    return $most;
}

function with_limit(Row $row, int $hours): void
{
    $directory = "$row->directory/limit";
    mkdir($directory, 0700);
    $database = postgresql('+0 x' . SPEED)->schema();
    prepare($database, '', 2 * $hours * HOST_LIMIT);
    apart(static function () use ($database): void {
        queue($database)->setConfig('mailMaxPerHour', HOST_LIMIT);
        queue($database)->setConfig('mailRateMode', 'strict');
    });
    $hosts = hosts($row, $directory);
    $sink = new Sink($directory);
    $until = microtime(true) + $hours * 3600 / SPEED;
    $workers = [];
    while (microtime(true) < $until) {
        foreach ($hosts as $i => $host) {
            if (!isset($workers[$i]) || ended($workers[$i], false) !== '') {
                $workers[$i] = $host->work($database, $sink, '--time-limit=2', '--batch=10');
            }
        }
        usleep(20_000);
    }
    array_map(static fn(int $pid): string => ended_within($pid, 30), $workers);
    $sink->stop();
    $most = most_within($sink, 3600 / SPEED - COUNTED_ON);
    $row->check($most <= HOST_LIMIT, "$most recipients in one hour, not " . HOST_LIMIT);
    $sent = count($sink->times());
    $row->check($sent > HOST_LIMIT, "$sent sent in $hours hours: this run proves nothing");
    $row->count('limit', HOST_LIMIT);
    $row->count('hours', $hours);
    $row->count('sent', $sent);
    $row->count('most-in-an-hour', $most);
}

function many_hosts(Row $row): void
{
    without_limit($row, $row->options->mails ?? 5000);
    with_limit($row, 2);
}
