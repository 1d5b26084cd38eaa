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

    /** @return array<array-key, array{mails: int, until: int}> by limit; until: the first */
    public static function of(MailQueue $queue, Stats $stats): array
    {
        $waiting = [];
        $priority = in_array(null, array_column($stats->limits, 'left'), true)
            ? self::ABOVE_ALL : null;
        while ($priority !== null && ($priority = self::below($queue, $priority)) !== null) {
            foreach (self::at($queue, $priority) as [$limit, $mails, $until]) {
                $sum = $waiting[$limit] ?? ['mails' => 0, 'until' => PHP_INT_MAX];
                $waiting[$limit] = ['mails' => $sum['mails'] + (int) $mails,
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
            $texts[] = match (true) {
                $one['mails'] === 1 => '1 mail waits',
                $one['mails'] >= self::MOST => "$one[mails] mails or more wait",
                default => "$one[mails] mails wait",
            } . ' for the limit ' . Terminal::safe((string) $limit)
                . ($one['mails'] === 1 ? ' until ' : ', the first until ')
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

    /** @return list<list<int|string|null>> limit, mails, until */
    private static function at(MailQueue $queue, int $priority): array
    {
        return Internal::select($queue, 'SELECT waits_for, count(*), min(next_attempt_at) FROM '
            . '(SELECT waits_for, next_attempt_at FROM {t}{D} WHERE {l} AND priority = ?1 AND '
            . 'next_attempt_at > ?2 ORDER BY next_attempt_at LIMIT ' . self::MOST . ') AS later '
            . "WHERE waits_for <> 'pause' GROUP BY waits_for ORDER BY waits_for", [$priority,
                time()]);
    }
}
