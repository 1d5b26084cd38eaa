<?php

declare(strict_types=1);

namespace MailQueue\Cli\Report;

use MailQueue;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;
use MailQueue\Stats;

/** Mail that a limit by relay or by sender has put back: such a limit has a count for each. */
final class Waiting
{
    /** Of each priority, so many mails are looked at: those that are tried first. */
    private const MOST = 1000;
    private const ABOVE_ALL = 1000;

    /**
     * @return array<array-key, array{mails: int, isMore: bool, until: int}> by limit; isMore:
     *     there may be more mails; until: the first
     */
    public static function of(MailQueue $queue, Stats $stats): array
    {
        $waiting = [];
        $priority = in_array(null, array_column($stats->limits, 'left'), true)
            ? self::ABOVE_ALL : null;
        while ($priority !== null && ($priority = self::below($queue, $priority)) !== null) {
            $found = self::at($queue, $priority);
            $isMore = array_sum(array_column($found, 1)) >= self::MOST;
            foreach ($found as [$limit, $mails, $until]) {
                if ($limit === null || $limit === 'pause') {
                    continue;
                }
                $sum = $waiting[$limit]
                    ?? ['mails' => 0, 'isMore' => false, 'until' => PHP_INT_MAX];
                $waiting[$limit] = ['mails' => $sum['mails'] + (int) $mails,
                    'isMore' => $sum['isMore'] || $isMore,
                    'until' => min($sum['until'], (int) $until)];
            }
        }
        return $waiting;
    }

    /** @return list<string> a text for each limit that mail waits for */
    public static function texts(MailQueue $queue, Stats $stats): array
    {
        $texts = [];
        foreach (self::of($queue, $stats) as $limit => $one) {
            $isOne = $one['mails'] === 1;
            $more = $one['isMore'] ? ' or more' : '';
            $texts[] = ($isOne ? "1 mail$more waits" : "$one[mails] mails$more wait")
                . ' for the limit ' . Terminal::safe((string) $limit)
                . ($isOne && $more === '' ? ' until ' : ', the first until ')
                . Terminal::time($one['until']) . '.';
        }
        return $texts;
    }

    private static function below(MailQueue $queue, int $priority): ?int
    {
        $found = Internal::select(
            $queue,
            'SELECT max(priority) FROM {t}{D} WHERE {l} AND priority < ?1',
            [$priority]
        )[0][0];
        return $found === null ? null : (int) $found;
    }

    /** @return list<list<int|string|null>> limit ("pause": of a relay; null: none), mails, until */
    private static function at(MailQueue $queue, int $priority): array
    {
        return Internal::select($queue, 'SELECT waits_for, count(*), min(next_attempt_at) FROM '
            . '(SELECT waits_for, next_attempt_at FROM {t}{D} WHERE {l} AND priority = ?1 AND '
            . 'next_attempt_at > ?2 ORDER BY next_attempt_at LIMIT ' . self::MOST . ') AS later '
            . 'GROUP BY waits_for ORDER BY waits_for', [$priority, time()]);
    }
}
