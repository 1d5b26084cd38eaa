<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue;

/** Rows that no worker touches: another program or a newer version wrote them. */
final class Strays
{
    private const SHOWN = 5;

    /** Names these rows for people; null: there are none. */
    public static function text(MailQueue $queue): ?string
    {
        $strays = $queue->strays();
        $words = array_map(
            static fn (int $id, string $status): string => $status === 'sending'
                ? "$id (sending, without a lease)" : "$id (" . Terminal::safe($status) . ')',
            array_keys(array_slice($strays, 0, self::SHOWN, true)),
            array_slice($strays, 0, self::SHOWN)
        );
        $more = count($strays) - count($words);
        return $strays ? 'These mails are never sent, because of their status: '
            . implode(', ', $words) . ($more > 0 ? " and $more more" : '')
            . '. A newer version of mailqueue wrote it, or another program.' : null;
    }

    /** SQL that parks these rows, so that a person can look at them. */
    public static function cure(MailQueue $queue, string $table): string
    {
        return "UPDATE $table SET status = 'parked', parked_for = 'hold', locked_until = NULL, "
            . 'locked_by = NULL WHERE id IN (' . implode(', ', array_keys($queue->strays())) . ')';
    }
}
