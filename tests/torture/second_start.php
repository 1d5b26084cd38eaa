<?php

// cron starts a second run while the first is at work: it ends at once with exit status 0, and its
// output and the log say why. The first is not disturbed.
//
// Seen to fail (tests/torture/mutants): the slot taken without its lock (no-lock).

declare(strict_types=1);

namespace Torture;

function second_start(Row $row): void
{
    $path = "$row->directory/mail.db";
    $mails = 40;
    prepare($path, 'wal', $mails);
    $sink = new Sink($row->directory, "at rcpt match=*@refused.example reply=\"550 5.1.1 no such user\"\nat dot delay-ms=300\n");
    $work = command('work', '--database', $path, '--transport', $sink->dsn(), '--connections', '2', '--log', "$path.log");
    $first = execute($work, "$row->directory/first");
    wait_until('the first mail', static fn(): bool => count($sink->accepted()) > 0);
    for ($i = 0; $i < 3; $i++) {
        $began = microtime(true);
        $how = ended_within(execute($work, "$row->directory/second"), 30);
        $seconds = microtime(true) - $began;
        $said = file_get_contents("$row->directory/second");
        $row->check($how === 'exit 0', "the second start: $how");
        $row->check($seconds < 2, sprintf('the second start took %.1f s', $seconds));
        $row->check(str_contains($said, 'another worker is running'), "it said: $said");
    }
    $row->check(ended($first, false) === '', 'the first run was over already: this run proves nothing');
    $how = ended_within($first, 60);
    $row->check($how === 'exit 0', "the first run: $how");
    $locked = count(array_filter(events("$path.log", 'run'), static fn(array $run): bool => str_contains($run['reply'], 'end=locked')));
    $row->check($locked === 3, "$locked runs in the log say end=locked, not 3");
    $sink->stop();
    $row->count('mails', $mails);
    $verdict = judge($row, $path, $sink, $mails);
    $row->check($verdict->duplicates === 0, "$verdict->duplicates duplicates");
    check_done($row, $path);
}
