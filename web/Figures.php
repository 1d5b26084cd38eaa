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
    /** Of more rows in an hour, each minute is estimated by so many. */
    private const ROWS = 20_000;
    private const SAMPLE = 25;
    /** Of a table on a server, so many rows are counted; InnoDB would take long for a million. */
    private const COUNTED = 50_000;

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

    /**
     * @return array{array<int, int>, bool}|null the begin of each of the last 60 minutes →
     *     recipients; whether they are estimated
     */
    public static function hour(MailQueue $queue): ?array
    {
        if ((int) $queue->config('mailHistoryDays') === 0) {
            return null;
        }
        $first = intdiv(time(), 60) * 60 - 59 * 60;
        $isAbout = (int) Internal::select($queue, 'SELECT count(*) FROM (SELECT id FROM {H} WHERE '
            . 'at >= ?1 LIMIT ' . self::ROWS + 1 . ') latest', [$first])[0][0] > self::ROWS;
        $ids = $isAbout ? self::firstIds($queue, range($first, $first + 59 * 60, 60)) : [];
        $found = Internal::select($queue, 'SELECT at - at % 60 AS minute, SUM(recipients) FROM {H} '
            . 'WHERE ' . ($isAbout ? 'id IN (' . implode(', ', self::sample($ids)) . ') AND ' : '')
            . "at >= ?1 AND event = 'sent' GROUP BY minute", [$first]);
        $series = self::series($first, 60, 60, $found);
        foreach ($isAbout ? array_keys($series) : [] as $i => $minute) {
            $share = max(1, ($ids[$i + 1] - $ids[$i]) / self::SAMPLE);
            $series[$minute] = (int) round($series[$minute] * $share);
        }
        return [$series, $isAbout];
    }

    /**
     * @param list<int> $times
     * @return list<int> the first id of the history from each time on, and the one that comes next
     */
    private static function firstIds(MailQueue $queue, array $times): array
    {
        $each = ['SELECT ' . PHP_INT_MAX . ' AS time, (SELECT max(id) + 1 FROM {H})'];
        foreach ($times as $time) {
            $each[] = "SELECT $time, (SELECT id FROM {H} WHERE at >= $time ORDER BY at LIMIT 1)";
        }
        $found = Internal::select($queue, implode(' UNION ALL ', $each) . ' ORDER BY 1 DESC', []);
        $next = (int) $found[0][1];
        $ids = [];
        foreach ($found as [, $id]) {
            $ids[] = $next = min($next, (int) ($id ?? $next));
        }
        return array_reverse($ids);
    }

    /**
     * @param list<int> $ids where minutes begin
     * @return list<int> at most SAMPLE of each minute: one of each part, the same each time
     */
    private static function sample(array $ids): array
    {
        $sample = [];
        foreach (array_slice($ids, 0, -1) as $at => $id) {
            $rows = $ids[$at + 1] - $id;
            for ($i = 0, $most = min($rows, self::SAMPLE); $i < $most; $i++) {
                $sample[] = $id + (int) (($i + crc32("$id $i") / 2 ** 32) * $rows / $most);
            }
        }
        return $sample;
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

    /**
     * The rows of the application's table that $orphanCheck ("table.column") names.
     *
     * @return array{int, bool}|null how many, and whether a server estimates them
     */
    public static function registrations(MailQueue $queue, ?string $orphanCheck): ?array
    {
        if (preg_match('/\A([A-Za-z_]\w*)\.[A-Za-z_]\w*\z/', (string) $orphanCheck, $match) !== 1) {
            return null;
        }
        $number = static fn (string $sql): int => (int) Internal::select($queue, $sql)[0][0];
        $table = "{m}{q}$match[1]{q}"; // as the orphan check has it: a word such as "order" may be
        $rows = $number("SELECT count(*) FROM (SELECT 1 FROM $table LIMIT "
            . self::COUNTED + 1 . ') counted');
        if ($rows <= self::COUNTED) {
            return [$rows, false];
        }
        $kind = $queue->diagnostics()['server']['kind'] ?? null;
        return $kind === null ? [$number("SELECT count(*) FROM $table"), false] : [max(
            $rows,
            $number($kind === 'pgsql' ? 'SELECT CAST(reltuples AS bigint) FROM pg_catalog.pg_class '
                . "WHERE oid = to_regclass('$table')" : 'SELECT table_rows FROM '
                . 'information_schema.tables WHERE table_schema = DATABASE() AND table_name = '
                . "'$match[1]'")
        ), true];
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

    /** @return list<string> the names of the newest campaigns */
    public static function campaigns(MailQueue $queue): array
    {
        return array_map(strval(...), array_column(Internal::select(
            $queue,
            'SELECT name FROM {M} ORDER BY id DESC LIMIT 100'
        ), 0));
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
