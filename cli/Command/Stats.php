<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\Arguments;
use MailQueue\Cli\Report\Activity;
use MailQueue\Cli\Report\Metrics;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** stats and metrics: what the queue has done. */
final class Stats extends Command
{
    private const SINCE = ['hour' => '24h', 'day' => '30d', 'type' => '7d', 'relay' => '7d'];
    private const EVENTS = ['sent', 'try_later', 'refused', 'parked', 'uncertain', 'expired'];
    private const RARE = ['bounced', 'complaint']; // columns that are only there if needed
    private const BAR = 20;

    public function metrics(): int
    {
        $text = Metrics::text($this->settings->queue());
        return $this->result(['text' => $text], static fn () => print($text));
    }

    public function run(): int
    {
        $by = $this->args->text('by') ?? 'hour';
        if (!in_array($by, Activity::BY, true)) {
            throw Stop::usage('--by must be hour, day, type or relay.');
        }
        $span = Arguments::span($this->args->text('since') ?? self::SINCE[$by])
            ?? throw Stop::usage('--since must be a span such as 90m, 12h or 7d.');
        $since = time() - $span;
        $since -= $by === 'day' ? $since % 86400 : $since % 3600;
        $queue = $this->settings->queue();
        $rows = Activity::rows($queue, $by, $since);
        $days = (int) $queue->config('mailHistoryDays');
        return $this->result($this->facts($rows, $by), function () use ($rows, $by, $days): void {
            $this->table($rows, $by);
            $days > 0 || print("\nWaiting times" . ($by === 'relay' ? ' and relays' : '')
                . " come from the history, which is off:\n  "
                . $this->settings->command('config mailHistoryDays 30') . "\n");
        });
    }

    /**
     * @param array<int|string, array{events: array<string, int>, recipients: int, p50: ?int,
     *     p95: ?int}> $rows
     * @return list<array<string, mixed>>
     */
    private function facts(array $rows, string $by): array
    {
        $facts = [];
        foreach ($rows as $one => $row) {
            $facts[] = [$by => $one, ...$row];
        }
        return $facts;
    }

    /**
     * @param array<int|string, array{events: array<string, int>, recipients: int, p50: ?int,
     *     p95: ?int}> $rows
     */
    private function table(array $rows, string $by): void
    {
        if ($rows === []) {
            echo "Nothing happened in this time.\n";
            return;
        }
        $most = max(1, ...array_map(self::sent(...), array_values($rows)));
        $seen = array_merge(...array_column($rows, 'events'));
        $rare = array_keys(array_intersect_key(array_flip(self::RARE), $seen));
        $events = [...self::EVENTS, ...$rare];
        $table = [[$by, ...$events, 'wait p50', 'p95']];
        foreach ($rows as $one => $row) {
            $line = [self::name($one, $by)];
            foreach ($events as $event) {
                $line[] = (string) ($row['events'][$event] ?? 0);
            }
            $table[] = [...$line, self::wait($row['p50']), self::wait($row['p95'])];
        }
        $width = self::BAR;
        foreach (array_keys($table[0]) as $i) {
            $width += max([0, ...array_map(Terminal::width(...), array_column($table, $i))]) + 2;
        }
        if (stream_isatty(STDOUT) && $width <= Terminal::columns(STDOUT)) {
            $bars = array_map(static fn (array $row): string
                => str_repeat('█', (int) round(self::BAR * self::sent($row) / $most)), $rows);
            $table = array_map(static fn (array $line, string $bar): array
                => [...$line, $bar], $table, ['', ...array_values($bars)]);
        }
        Terminal::table($table);
    }

    /** @param array{events: array<string, int>, recipients: int, p50: ?int, p95: ?int} $row */
    private static function sent(array $row): int
    {
        return $row['events']['sent'] ?? 0;
    }

    private static function wait(?int $seconds): string
    {
        return $seconds === null ? '-' : Terminal::span($seconds);
    }

    private static function name(int|string $one, string $by): string
    {
        return match ($by) {
            'hour' => gmdate('Y-m-d H\Z', (int) $one),
            'day' => gmdate('Y-m-d', (int) $one),
            default => $one === '' ? '-' : Terminal::safe((string) $one),
        };
    }
}
