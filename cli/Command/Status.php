<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\Move;
use MailQueue\Cli\Terminal;
use MailQueue\Stats;
use MailQueue\Status as MailStatus;

/** status: counts, limit and trouble of the queue. */
final class Status extends Command
{
    public function run(): int
    {
        $stats = $this->settings->queue()->stats();
        $moved = Move::note($this->settings);
        return $this->result($stats, static function () use ($stats, $moved): void {
            foreach (self::lines($stats) as $word => $text) {
                printf("%-9s %s\n", $word, $text);
            }
            if (!$stats->enabled) {
                $text = $moved ?? 'Sending is switched off (mailQueueEnabled = 0).';
                echo Terminal::paint($text, Terminal::YELLOW), "\n";
            }
            if ($stats->pausedUntil !== null) {
                echo Terminal::paint(self::pause($stats), Terminal::YELLOW), "\n";
            }
        });
    }

    public static function pause(Stats $stats): string
    {
        return 'The relay is paused until ' . Terminal::time($stats->pausedUntil) . ': '
            . Terminal::safe($stats->pauseReason);
    }

    /** @return array<string, string|int> */
    private static function lines(Stats $stats): array
    {
        $lines = [];
        foreach (MailStatus::cases() as $status) {
            $lines[$status->value] = $stats->{$status->value};
        }
        if ($stats->parked > 0) {
            $lines['parked'] .= '  (mailqueue list --status parked)';
        }
        $lines['due now'] = $stats->due;
        if ($stats->oldestWaitingSince !== null) {
            $ago = Terminal::span(time() - $stats->oldestWaitingSince);
            $lines['oldest'] = Terminal::time($stats->oldestWaitingSince) . " ($ago ago)";
        }
        $lines['limit'] = $stats->limit === 0
            ? 'none (mailqueue config mailMaxPerHour 60 sets one)'
            : sprintf('%d recipients an hour (%s), %.1F of %d tokens left', $stats->limit,
                $stats->rateMode, $stats->tokens, $stats->burst);
        if ($stats->emptyIn !== null && $stats->pending + $stats->failed > 0) {
            $lines['empty in'] = 'about ' . Terminal::span($stats->emptyIn) . ' at this limit';
        }
        if ($stats->nextDueAt !== null) {
            $lines['next due'] = Terminal::time($stats->nextDueAt);
        }
        $lines['last run'] = Terminal::time($stats->lastRunAt);
        return $lines;
    }
}
