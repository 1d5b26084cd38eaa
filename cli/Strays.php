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

    /**
     * SQL that parks these rows, so that a person can look at them. Mail in "sending" may have
     * arrived. MariaDB assigns from left to right, so the status comes last.
     */
    public static function cure(MailQueue $queue, string $table): string
    {
        $was = "CASE WHEN status = 'sending' THEN";
        return "UPDATE $table SET parked_for = $was 'uncertain' ELSE 'hold' END, uncertain_to = "
            . "$was COALESCE(recipients, uncertain_to, '[]') ELSE uncertain_to END, "
            . "locked_until = NULL, locked_by = NULL, status = 'parked' "
            . 'WHERE id IN (' . implode(', ', array_keys($queue->strays())) . ')';
    }
}
