<?php

declare(strict_types=1);

namespace MailQueue\Web;

use MailQueue;
use MailQueue\Cli\Move\Notice;
use MailQueue\Cli\Move\Record;
use MailQueue\Cli\Report\Metrics;
use MailQueue\Internal;

/** Numbers of the queue, for views and for programs; each in a few milliseconds. */
final class Figures
{
    /** Up to this number counts are exact. */
    public const EXACT = Metrics::EXACT;

    /** @return array<string, mixed> status.json */
    public static function status(MailQueue $queue): array
    {
        $stats = $queue->stats(self::EXACT);
        $about = get_object_vars($stats);
        unset($about['redirectTo'], $about['pausedRelay'], $about['pauseReason']);
        return $about + ['testMode' => $stats->redirectTo !== null, 'now' => time()];
    }

    /** @return array{string, ?Record} config key and record of a move that stops the queue */
    public static function move(MailQueue $queue): array
    {
        $table = (string) Internal::select($queue, "SELECT '{t}'", [])[0][0]; // schema.`name`
        return Notice::find($queue, (string) preg_replace('/\A.*\W(?=\w)|\W+\z/', '', $table));
    }

    /** Mails that were given up in the last seven days. */
    public static function failures(MailQueue $queue): int
    {
        return (int) (Internal::select($queue, "SELECT SUM(mails) FROM {C} WHERE hour >= ?1 "
            . "AND event = 'parked'", [time() - 7 * 86400])[0][0] ?? 0);
    }

    /** @return array<int, int> the begin of each of the last 24 hours → recipients */
    public static function day(MailQueue $queue): array
    {
        $first = intdiv(time(), 3600) * 3600 - 23 * 3600;
        return self::series($first, 3600, 24, Internal::select(
            $queue,
            'SELECT hour, '
            . "SUM(recipients) FROM {C} WHERE hour >= ?1 AND event = 'sent' GROUP BY hour",
            [$first]
        ));
    }

    /** @return array<int, int>|null the begin of each of the last 60 minutes → recipients */
    public static function hour(MailQueue $queue): ?array
    {
        if ((int) $queue->config('mailHistoryDays') === 0) {
            return null;
        }
        $first = intdiv(time(), 60) * 60 - 59 * 60;
        return self::series($first, 60, 60, Internal::select(
            $queue,
            'SELECT at - at % 60 AS minute, SUM(recipients) FROM {H} '
                . "WHERE at >= ?1 AND event = 'sent' GROUP BY minute",
            [$first]
        ));
    }

    /**
     * @param list<list<int|string|null>> $found
     * @return array<int, int>
     */
    private static function series(int $first, int $step, int $count, array $found): array
    {
        $series = array_fill_keys(range($first, $first + ($count - 1) * $step, $step), 0);
        foreach ($found as [$at, $number]) {
            isset($series[(int) $at]) && $series[(int) $at] = (int) $number;
        }
        return $series;
    }

    /** The rows of the application's table that $orphanCheck ("table.column") names. */
    public static function registrations(MailQueue $queue, ?string $orphanCheck): ?int
    {
        $isName = preg_match('/\A([A-Za-z_]\w*)\.[A-Za-z_]\w*\z/', (string) $orphanCheck, $match);
        return $isName !== 1 ? null
            : (int) Internal::select($queue, "SELECT count(*) FROM $match[1]")[0][0];
    }

    /**
     * How the last attempts ended, by relay.
     *
     * @return array<string, array<string, int>> relay → event → attempts
     */
    public static function relays(MailQueue $queue): array
    {
        $relays = [];
        foreach (Internal::select($queue, 'SELECT relay, event, count(*) FROM (SELECT relay, event '
            . 'FROM {H} ORDER BY id DESC LIMIT 10000) latest GROUP BY relay, event') as $row) {
            [$relay, $event, $count] = $row;
            $relay === null || $relays[(string) $relay][(string) $event] = (int) $count;
        }
        return $relays;
    }

    /** @return list<string> the mail types of the last 30 days */
    public static function types(MailQueue $queue): array
    {
        return array_map(strval(...), array_column(Internal::select(
            $queue,
            'SELECT DISTINCT '
            . 'mail_type FROM {C} WHERE hour >= ?1 ORDER BY mail_type LIMIT 100',
            [time() - 30 * 86400]
        ), 0));
    }
}
