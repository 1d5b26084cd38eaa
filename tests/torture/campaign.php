<?php

// A campaign on SQLite and on PostgreSQL: the process that adds the recipients is killed and adds
// them all again, and workers are killed about every second until the campaign has finished.
// Each recipient must get its mail exactly once, but for attempts that are noted as uncertain, and
// onFinished must be called once, or be on record as perhaps called.

declare(strict_types=1);

namespace Torture;

use MailQueue\Campaign;

const CAMPAIGN_WORKERS = 2;
const CAMPAIGN_SCRIPT = <<<'SCRIPT'
    at rcpt percent=1 reply="450 4.2.0 later"
    at dot delay-ms=0-10
    SCRIPT;

function add_recipients(string $database, int $count): void
{
    $campaign = queue($database)->campaign('spring');
    $campaign->setMessage(['from' => 'News <news@example.org>', 'subject' => 'News for {{name}}',
        'text' => 'Hello {{name}}, this is number {{number}}.', 'headers' => ['X-Test-Id' => 'c{{number}}']]);
    $campaign->add((static function () use ($count): iterable {
        for ($n = 0; $n < $count; $n++) {
            yield ['address' => "r$n@example.com", 'name' => "Reader $n", 'fields' => ['number' => $n]];
        }
    })());
}

/** Kills the first process that adds them; the second one adds the rest. */
function add_twice(Row $row, string $database, int $count): void
{
    $first = start(static fn() => add_recipients($database, $count), "$row->directory/errors");
    wait_until('some recipients', static fn(): bool => value($database, 'SELECT count(*) FROM mail_recipient') > 0);
    posix_kill($first, SIGKILL);
    ended($first);
    $second = start(static fn() => add_recipients($database, $count), "$row->directory/errors");
    $how = ended($second);
    $row->check($how === 'exit 0', "the process that adds recipients ended with $how");
    $there = value($database, 'SELECT count(*) FROM mail_recipient');
    $row->check((int) $there === $count, "$there recipients, not $count");
}

function campaign_worker(Row $row, string $database, string $dsn, string $directory): int
{
    return start(static function () use ($database, $dsn, $directory): void {
        queue($database)->runWorker($dsn, connections: 10, lease: 900, maxWorkers: 4 * CAMPAIGN_WORKERS, log: '', timeLimit: 60,
            onFinished: static fn(Campaign $campaign) => file_put_contents("$directory/finished",
                $campaign->progress()['name'] . "\n", FILE_APPEND));
    }, "$row->directory/errors");
}

function campaign_state(string $database): string
{
    return value($database, "SELECT state || ' ' || COALESCE(on_finished, '') FROM mail_campaign");
}

/** Kills workers until the campaign has finished. Returns how many. */
function kill_during_campaign(Row $row, string $database, string $dsn, string $directory, float $seconds): int
{
    $workers = [];
    $kills = 0;
    for ($until = microtime(true) + $seconds; microtime(true) < $until; $kills++) {
        while (count($workers) < CAMPAIGN_WORKERS) {
            $workers[] = campaign_worker($row, $database, $dsn, $directory);
        }
        usleep(intdiv(mt_rand(300, 1700) * 1000, CAMPAIGN_WORKERS));
        $pid = array_shift($workers);
        posix_kill($pid, SIGKILL);
        ended($pid);
        if (str_starts_with(campaign_state($database), 'finished')) {
            break;
        }
    }
    foreach ($workers as $pid) {
        posix_kill($pid, SIGKILL);
        ended($pid);
    }
    return $kills;
}

/** Each recipient once, but for what is noted as uncertain. */
function check_recipients(Row $row, string $database, Sink $sink, int $count): void
{
    $copies = array_fill(0, $count, 0);
    foreach ($sink->accepted() as $one) {
        $copies[(int) substr($one['to'], 1)]++;
        $row->check("c" . (int) substr($one['to'], 1) === $one['test'], "$one[to] got the mail of $one[test]");
    }
    $noted = [];
    foreach (query($database, 'SELECT reference, sum(uncertain) AS n FROM noted GROUP BY reference') as $one) {
        $noted[(int) substr($one['reference'], 3)] = (int) $one['n'];
    }
    $lost = count(array_filter($copies, static fn(int $n): bool => $n === 0));
    $twice = 0;
    foreach ($copies as $n => $times) {
        $twice += max(0, $times - 1 - ($noted[$n] ?? 0));
    }
    $row->check($lost === 0, "$lost recipients got nothing");
    $row->check($twice === 0, "$twice copies more than the uncertain attempts explain");
    $row->count('copies', array_sum($copies) - $count + $lost);
    $row->count('uncertain', array_sum($noted));
}

function check_finished(Row $row, string $database, string $directory, int $count): void
{
    $state = campaign_state($database);
    $calls = count(@file("$directory/finished") ?: []);
    $row->check($calls === 1 ? $state === 'finished called' || $state === 'finished begun' : $calls === 0 && $state === 'finished begun',
        "onFinished was called $calls times, the campaign is $state");
    $sent = value($database, 'SELECT sent FROM mail_campaign');
    $row->check((int) $sent === $count, "$sent are counted as sent, not $count");
    $left = value($database, 'SELECT count(*) FROM mail_queue');
    $row->check((int) $left === 0, "$left jobs are left");
}

function campaign_under(Row $row, string $name, string $database, int $count): void
{
    $directory = "$row->directory/$name";
    is_dir($directory) || mkdir($directory, 0700);
    putenv("XDG_STATE_HOME=$directory"); // for the records of a server's queue
    apart(static fn() => queue($database)->migrate());
    prepare($database, 'wal');
    add_twice($row, $database, $count);
    apart(static fn() => queue($database)->campaign('spring')->start());
    $sink = new Sink($directory, CAMPAIGN_SCRIPT);
    $kills = kill_during_campaign($row, $database, $sink->dsn(), $directory, 60 + $count / 50);
    wait_until('the end of the campaign', static function () use ($row, $database, $sink, $directory): bool {
        ended_within(campaign_worker($row, $database, $sink->dsn(), $directory), 120);
        return str_starts_with(campaign_state($database), 'finished ') && campaign_state($database) !== 'finished ';
    }, 60 + $count / 50);
    $sink->stop();
    $row->count('recipients', $count);
    $row->count('kills', $kills);
    check_recipients($row, $database, $sink, $count);
    check_finished($row, $database, $directory, $count);
    check_counters($row, $database);
}

function campaign(Row $row): void
{
    $count = max(200, $row->options->mails ?? 200_000);
    mkdir("$row->directory/sqlite", 0700);
    campaign_under($row, 'sqlite', "$row->directory/sqlite/mail.db", $count);
    $server = postgresql();
    campaign_under($row, 'pgsql', $server->schema(), $count);
    $server->stop();
}
