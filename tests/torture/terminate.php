<?php

// SIGTERM while the relay has 20 mails and has not answered yet: the run ends with exit status 0
// within its grace period, what was under way is finished, the rest goes back as it was, with its
// tokens; nothing is sent twice when the next run comes. Five more sessions get no reply to DATA: the
// end of the grace period closes them, without a body and without an attempt. By turns with an
// hourly limit, where jobs are claimed just in time, and without one, where many wait.
//
// Seen to fail (tests/torture/mutants): sessions closed at the signal (no-grace), tokens kept
// (tokens-kept), an attempt counted for what goes back (attempt-kept).

declare(strict_types=1);

namespace Torture;

const TRANSFERS = 20;
const LIMIT = 360; // an hour: one token in ten seconds
const GRACE = 5;
const UNANSWERED = 5; // sessions

const TERMINATE_SCRIPT = <<<'SCRIPT'
    at data connection=21-25 delay-ms=60000
    at data delay-ms=0-100
    at dot delay-ms=400-1500
    SCRIPT;

/** One run, terminated; then one that sends the rest. */
function terminate_once(Row $row, int $number): void
{
    $directory = "$row->directory/$number";
    mkdir($directory, 0700);
    $path = "$directory/mail.db";
    $mails = 3 * TRANSFERS;
    prepare($path, $number % 2 ? 'wal' : 'truncate', $mails);
    $limited = $number % 4 < 2;
    apart(static function () use ($path, $limited): void {
        $queue = queue($path);
        $queue->setConfig('mailMaxPerHour', $limited ? LIMIT : 0);
        $queue->setConfig('mailBurst', LIMIT);
    });
    $sink = new Sink($directory, TERMINATE_SCRIPT);
    $work = command('work', '--database', $path, '--transport', $sink->dsn(), '--connections', (string) (TRANSFERS + UNANSWERED),
        '--grace', (string) GRACE, '--log', "$path.log");
    $began = microtime(true);
    $pid = execute($work, "$directory/first");
    wait_until('20 transfers', static fn(): bool => $sink->received('DATA') >= TRANSFERS && count($sink->accepted()) >= TRANSFERS / 2, 60);
    usleep(mt_rand(0, 600_000));
    posix_kill($pid, SIGTERM);
    $signalled = microtime(true);
    $how = ended_within($pid, GRACE + 20);
    $row->check($how === 'exit 0', "run $number: $how");
    $row->check(microtime(true) - $signalled < GRACE + 2, "run $number: took longer than the grace period");
    check_given_back($row, $number, $path, $sink, $mails);
    $limited && check_tokens($row, $number, $path, $sink, microtime(true) - $began);
    $released = count(events("$path.log", 'released'));
    $row->count('released', $released);
    $row->check($released > 0, "run $number: nothing had to go back: this run proves nothing");

    $second = ended_within(execute($work, "$directory/second"), 60);
    $row->check($second === 'exit 0', "run $number, the next one: $second");
    $sink->stop();
    $verdict = judge($row, $path, $sink, $mails);
    $row->check($verdict->duplicates + $verdict->uncertain === 0, "run $number: $verdict->duplicates duplicates, $verdict->uncertain uncertain");
    check_done($row, $path);
    $row->count('mails', $mails);
}

function check_given_back(Row $row, int $number, string $path, Sink $sink, int $mails): void
{
    $counts = accepted($row, [$sink]);
    $sent = count(array_unique(array_map(static fn(string $key): string => strtok($key, ' '), array_keys($counts))));
    $row->check($sent < $mails, "run $number: all was sent before the signal: this run proves nothing");
    $rows = rows($path);
    $row->check(count($rows) === $mails - $sent, "run $number: $sent of $mails sent, " . count($rows) . ' left');
    foreach ($rows as $left) {
        $row->check($left['status'] === 'pending' && $left['attempts'] === 0 && $left['paid'] === 0 && $left['locked_by'] === null && $left['locked_until'] === null,
            "run $number: $left[reference] is $left[status], attempts $left[attempts], paid $left[paid]");
    }
    $row->check(glob("$path.run/*.intent") === [], "run $number: records of intent are left over");
}

function check_tokens(Row $row, int $number, string $path, Sink $sink, float $seconds): void
{
    // Tokens refilled meanwhile are less than one; the bucket counts in 1/3600.
    $tokens = (float) value($path, "SELECT value FROM config WHERE key = 'mailTokens'");
    $spent = LIMIT - count($sink->accepted());
    $refilled = ($seconds + 1) * LIMIT / 3600;
    $row->check($tokens >= $spent - 0.001 && $tokens <= $spent + $refilled, "run $number: $tokens tokens, not $spent");
}

function terminate(Row $row): void
{
    $runs = $row->options->runs;
    $seeds = array_map(mt_rand(...), array_fill(0, $runs, 0), array_fill(0, $runs, 1 << 30));
    foreach (array_chunk(range(0, $runs - 1), 5) as $numbers) {
        $row->sideBySide(...array_map(static fn(int $number): \Closure => static function (Row $row) use ($number, $seeds): void {
            mt_srand($seeds[$number]);
            terminate_once($row, $number);
        }, $numbers));
    }
    $row->count('runs', $runs);
}
