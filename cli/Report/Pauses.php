<?php

declare(strict_types=1);

namespace MailQueue\Cli\Report;

use MailQueue;

/** The relays that are paused now (src/queue/config/relays.c). */
final class Pauses
{
    /**
     * @return array<string, array{until: int, trial: int, reason: string}> by relay, the one to be
     *     used last first
     */
    public static function of(MailQueue $queue): array
    {
        $found = [];
        // A server's clock sets the begin.
        $hasClock = $queue->diagnostics()['server'] === null;
        $kept = json_decode((string) $queue->config('mailRelayPause'), true);
        foreach (is_array($kept) ? $kept : [] as $relay => $text) {
            $parts = '/\A(\d{1,11}) (\d+) (?:@(\d{1,11}) )?(.*)\z/s';
            if (is_string($text) && preg_match($parts, $text, $match)
                && (int) $match[1] > time() && (int) $match[1] <= time() + 86400
                && (!$hasClock || (int) $match[3] <= time() + 60)) {
                $found[(string) $relay] = ['until' => (int) $match[1], 'trial' => (int) $match[2],
                    'reason' => $match[4]];
            }
        }
        uasort($found, static fn (array $a, array $b): int => $b['until'] <=> $a['until']);
        return $found;
    }
}
