<?php

// A worker is stopped (SIGSTOP) past its lease, another takes over what it had, and the first goes
// on: it must send nothing that is no longer its own, say so, and change nothing.
//
//   dot       stopped before the body went out; the other one has sent everything meanwhile
//   row       the same, but the relay told the other one to come later: those rows stay as they are
//   uncertain stopped after the dot: nobody knows, so the other one sends again, and it is counted
//
// Seen to fail (tests/torture/mutants): no look at the lease before the dot (no-guard), outcomes
// written without asking whose lease it is (no-fence).

declare(strict_types=1);

namespace Torture;

const STOPPED_MAILS = 6;
const SHORT_LEASE = 5;

const STOPPED_SCRIPTS = [
    'dot' => "at data connection=1-6 delay-ms=8500\n",
    'row' => "at data connection=1-6 delay-ms=8500\nat rcpt after=6 reply=\"450 4.2.0 later\"\n",
    'uncertain' => "at dot connection=1-6 delay-ms=8500\n",
];

function short_worker(Row $row, string $path, Sink $sink, int $delay = 1): int
{
    return start(static function () use ($path, $sink, $delay): void {
        $queue = new \MailQueue($path, backoff: \MailQueue\Backoff::fixed($delay, 1000));
        $queue->runWorker($sink->dsn('&final_timeout=4'), connections: STOPPED_MAILS, lease: SHORT_LEASE, maxWorkers: 2, log: "$path.log");
    }, "$row->directory/errors");
}

/** A worker that waits until the others' leases end, takes over, and tries once. */
function take_over(Row $row, string $path, Sink $sink): void
{
    wait_until('the leases to end', static fn(): bool => value($path, "SELECT max(locked_until) FROM mail_queue WHERE status = 'sending'") < time());
    $how = ended_within(short_worker($row, $path, $sink), 30);
    $row->check($how === 'exit 0', "the one that takes over: $how");
    sleep(1); // those of the stopped one are due again after a second
    // A mail that fails now is not due again within this row.
    $how = ended_within(short_worker($row, $path, $sink, 3600), 30);
    $row->check($how === 'exit 0', "its next run: $how");
}

function stopped_once(Row $row, string $case): void
{
    $directory = "$row->directory/$case";
    mkdir($directory, 0700);
    $path = "$directory/mail.db";
    prepare($path, 'wal');
    apart(static function () use ($path): void {
        fill(queue($path), 1, 1 + STOPPED_MAILS); // one recipient each
    });
    $sink = new Sink($directory, STOPPED_SCRIPTS[$case]);
    $stopped = short_worker($row, $path, $sink);
    wait_until('all mails under way', static fn(): bool => $case === 'uncertain' ? count($sink->accepted()) === STOPPED_MAILS : $sink->received('DATA') === STOPPED_MAILS);
    posix_kill($stopped, SIGSTOP);
    take_over($row, $path, $sink);
    $accepted = count($sink->accepted());
    $rows = rows($path);
    posix_kill($stopped, SIGCONT);
    $how = ended_within($stopped, 40);
    $row->check($how === 'exit 0', "$case: the stopped worker: $how");
    $stale = count(events("$path.log", 'stale'));
    $row->count('stale', $stale);
    $row->check($stale === STOPPED_MAILS, "$case: $stale stale results in the log, not " . STOPPED_MAILS);
    check_after($row, $case, $path, $sink, $accepted, $rows);
}

/** @param list<array<string, mixed>> $rows from before the stopped worker continued */
function check_after(Row $row, string $case, string $path, Sink $sink, int $accepted, array $rows): void
{
    $now = rows($path);
    $more = count($sink->accepted()) - $accepted;
    $row->check($more === 0, "$case: the stopped worker sent $more mails that were no longer its own");
    $row->check(count($rows) === ($case === 'row' ? STOPPED_MAILS : 0), "$case: " . count($rows) . ' rows are left');
    $row->check($rows === $now, "$case: rows changed from " . json_encode($rows) . ' to ' . json_encode($now));
    $sink->stop();
    $row->count('mails', STOPPED_MAILS);
    $verdict = judge($row, $path, $sink, STOPPED_MAILS, 1);
    $want = $case === 'uncertain' ? STOPPED_MAILS : 0;
    $row->check($verdict->duplicates === $want && $verdict->uncertain === $want, "$case: $verdict->duplicates duplicates, $verdict->uncertain uncertain");
}

function stopped_worker(Row $row): void
{
    foreach (array_keys(STOPPED_SCRIPTS) as $case) {
        stopped_once($row, $case);
    }
}
