<?php

declare(strict_types=1);

namespace MailQueue\Cli\Report;

use MailQueue;
use MailQueue\Internal;

/**
 * What happened since a time, by hour, day, type or relay: from the counters, from the bounces of
 * the last 30 days, and from the history how long mail waited.
 *
 * @phpstan-type Row array{events: array<string, int>, recipients: int, p50: ?int, p95: ?int}
 */
final class Activity
{
    public const BY = ['hour', 'day', 'type', 'relay'];
    private const SECONDS = ['hour' => 3600, 'day' => 86400];

    /**
     * @param string $by one of BY; "relay" is only in the history
     * @return array<int|string, Row> by the begin of the hour or day, the type or the relay.
     *     recipients: that were accepted. p50, p95: seconds from when the attempt was due to its
     *     begin, of mail that was sent; null without history
     */
    public static function rows(MailQueue $queue, string $by, int $since): array
    {
        [$table, $time, $mails, $recipients] = $by === 'relay'
            ? ['{H}', 'at', 'count(*)', 'SUM(recipients)']
            : ['{C}', 'hour', 'SUM(mails)', 'SUM(recipients)'];
        $group = self::group($by, $time);
        $found = Internal::select($queue, "SELECT $group AS one, event, $mails, $recipients "
            . "FROM $table WHERE $time >= ?1 GROUP BY one, event ORDER BY one, event", [$since]);
        $rows = [];
        array_push($found, ...self::bounces($queue, $by, $since));
        foreach ($found as [$one, $event, $count, $of]) {
            $row = $rows[$one ?? ''] ?? ['events' => [], 'recipients' => 0, 'p50' => null,
                'p95' => null];
            $row['events'][(string) $event] = (int) $count;
            $row['recipients'] += $event === 'sent' ? (int) $of : 0;
            $rows[$one ?? ''] = $row;
        }
        isset(self::SECONDS[$by]) && ksort($rows); // hours in which only bounces came, too
        foreach (self::waits($queue, $by, $since) as $one => $waits) {
            if (isset($rows[$one])) {
                $rows[$one]['p50'] = self::quantile($waits, 0.5);
                $rows[$one]['p95'] = self::quantile($waits, 0.95);
            }
        }
        return $rows;
    }

    /**
     * Bounces and complaints by the time when they came; their types and relays are not known.
     *
     * @return list<list<int|string|null>> as counters
     */
    private static function bounces(MailQueue $queue, string $by, int $since): array
    {
        $sql = 'SELECT ' . self::group($by, 'at') . " AS one, CASE WHEN kind = 'complaint' THEN "
            . "'complaint' ELSE 'bounced' END AS what, count(*), 0 FROM {!} WHERE at >= ?1 "
            . "AND kind <> 'unsubscribe' GROUP BY one, what ORDER BY one, what";
        return isset(self::SECONDS[$by]) ? Internal::select($queue, $sql, [$since]) : [];
    }

    private static function group(string $by, string $time): string
    {
        return match ($by) {
            'type' => 'mail_type',
            'relay' => 'relay',
            default => "$time - $time % " . self::SECONDS[$by],
        };
    }

    /** @return array<int|string, array<int, int>> group → seconds → mails that waited so long */
    private static function waits(MailQueue $queue, string $by, int $since): array
    {
        $found = Internal::select($queue, 'SELECT ' . self::group($by, 'at') . ' AS one, waited, '
            . "count(*) FROM {H} WHERE at >= ?1 AND event = 'sent' AND waited IS NOT NULL "
            . 'GROUP BY one, waited ORDER BY one, waited', [$since]);
        $waits = [];
        foreach ($found as [$one, $seconds, $count]) {
            $waits[$one ?? ''][(int) $seconds] = (int) $count;
        }
        return $waits;
    }

    /** @param array<int, int> $waits seconds, ascending → how many */
    private static function quantile(array $waits, float $share): int
    {
        $left = $share * array_sum($waits);
        foreach ($waits as $seconds => $count) {
            $left -= $count;
            if ($left <= 0) {
                return $seconds;
            }
        }
        return (int) array_key_last($waits);
    }
}
