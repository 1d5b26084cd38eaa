<?php

// Sixteen workers on one queue: each mail is accepted exactly once.
//
// Seen to fail (tests/torture/mutants): jobs read before the transaction that takes them (claim-unlocked).

declare(strict_types=1);

namespace Torture;

const CROWD = 16;

function many_workers(Row $row): void
{
    $mails = $row->options->mails ?? 5000;
    foreach (['wal', 'truncate'] as $journal) {
        $directory = "$row->directory/$journal";
        mkdir($directory, 0700);
        $path = "$directory/mail.db";
        $half = intdiv($mails, 2);
        prepare($path, $journal, $half);
        $sink = new Sink($directory, "at rcpt match=*@refused.example reply=\"550 5.1.1 no such user\"\nat dot delay-ms=0-20\n");
        $workers = [];
        for ($i = 0; $i < CROWD; $i++) {
            $workers[] = start(static function () use ($path, $journal, $sink): void {
                $report = queue($path, $journal)->runWorker($sink->dsn(), connections: 3, batch: 10, lease: 900, maxWorkers: CROWD, log: "$path.log");
                $report->end === 'empty' || throw new Failure("a worker ended with $report->end");
            }, "$row->directory/errors");
        }
        foreach ($workers as $pid) {
            $how = ended_within($pid, 60 + $half / 50);
            $row->check($how === 'exit 0', "a worker: $how");
        }
        $sink->stop();
        $row->count('mails', $half);
        $verdict = judge($row, $path, $sink, $half);
        $row->check($verdict->duplicates + $verdict->uncertain === 0, "$journal: $verdict->duplicates duplicates, $verdict->uncertain uncertain");
        check_done($row, $path);
        $busy = count(array_filter(events("$path.log", 'run'), static fn(array $run): bool => str_contains($run['reply'], 'sent=')));
        $row->check($busy > 1, "$journal: only $busy worker had anything to do: this run proves nothing");
    }
    $row->count('workers', CROWD);
}
