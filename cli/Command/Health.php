<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\Arguments;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;
use MailQueue\Stats;

/** health: one line and an exit code for a monitoring program. */
final class Health extends Command
{
    private const MAX_AGE = '1h';
    private const MAX_SILENCE = '10m';

    public function run(): int
    {
        $age = $this->seconds('max-age', self::MAX_AGE);
        $silence = $this->seconds('max-silence', self::MAX_SILENCE);
        $parked = $this->args->int('max-parked', null, 0, PHP_INT_MAX);
        $queue = $this->settings->queue();
        $stats = $queue->stats(Status::EXACT);
        $now = time();
        $overdue = $stats->due > 0 ? max(0, $now - (int) $stats->nextDueAt) : 0;
        $workers = Internal::workers($queue);
        $silent = match (true) {
            $workers > 0 => 0,
            $stats->lastRunAt === null => $overdue,
            default => $now - $stats->lastRunAt,
        };
        $troubles = array_values(array_filter([
            $stats->enabled ? null : 'sending is switched off',
            $stats->due > 0 && $silent > $silence ? ($stats->lastRunAt === null
                ? 'no worker has run yet' : 'no worker has run for ' . Terminal::span($silent))
                : null,
            $overdue > $age ? 'mail has been due for ' . Terminal::span($overdue) : null,
            ...Status::pauses($queue),
            $parked !== null && $stats->parked > $parked
                ? Status::count($stats, 'parked') . ' parked' : null,
        ]));
        $facts = ['ok' => $troubles === [], 'troubles' => $troubles, 'due' => $stats->due,
            'overdueSeconds' => $overdue, 'workers' => $workers, 'lastRunAt' => $stats->lastRunAt,
            'parked' => $stats->parked, 'pausedUntil' => $stats->pausedUntil];
        $this->result($facts, static function () use ($troubles, $stats, $overdue): void {
            $state = $troubles === [] ? 'ok' : 'trouble: ' . implode('; ', $troubles);
            echo "$state; ", self::counts($stats, $overdue), "\n";
        });
        return $troubles === [] ? ExitCode::OK : ExitCode::FINDINGS;
    }

    private static function counts(Stats $stats, int $overdue): string
    {
        return Status::count($stats, 'due') . ' due'
            . ($stats->due > 0 ? ' for ' . Terminal::span($overdue) : '') . ', '
            . Status::count($stats, 'parked') . ' parked, last run '
            . Terminal::time($stats->lastRunAt);
    }

    private function seconds(string $option, string $default): int
    {
        return Arguments::span($this->args->text($option) ?? $default)
            ?? throw Stop::usage("--$option must be a span such as 90s, 15m, 12h or 7d.");
    }
}
