<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue;

/** The move of a queue into another database. */
final class Move
{
    public const CURE = 'A move that is not over goes on with the command below, or is given up '
        . 'with --abort behind it; after one that is over it brings what came since. Let the '
        . 'application and cron name the new database. Where that is gone for good: mailqueue '
        . 'config --unset with the key that is named here; mail that it sent is then sent again.';

    private float $drawn = 0.0;

    public function __construct(
        private readonly Arguments $args,
        private readonly Settings $settings,
    ) {
        if (count($args->words) !== 2) {
            throw Stop::usage('Usage: mailqueue migrate-store [options] FROM TO');
        }
        if ($args->has('abort') && ($args->has('delete') || $args->has('dry-run'))) {
            throw Stop::usage('--abort goes with neither --delete nor --dry-run.');
        }
    }

    /** What the database says of a move; null: nothing that keeps it from sending. */
    public static function note(Settings $settings): ?string
    {
        [$key, $state, $name] = self::find($settings);
        $name = Terminal::safe($name);
        $text = match ($state) {
            'moving' => "This queue is being moved to $name: nothing is sent from here",
            'moved' => "This queue was moved to $name: nothing is sent from here",
            'copying' => "This queue is being moved here from $name: "
                . 'nothing is sent before all is here',
            default => null,
        };
        return $text === null ? null : "$text (config key $key).";
    }

    /** The command of the move that the database speaks of. */
    public static function again(Settings $settings): string
    {
        [$key, , $there] = self::find($settings);
        $here = $settings->databasePath() ?? (new Named($settings->database()))->shown;
        $names = array_map(Terminal::word(...), [self::name($here), $there]);
        return $settings->command('migrate-store '
            . implode(' ', $key === 'mailQueueMovedTo' ? $names : array_reverse($names)), false);
    }

    /** @return array{string, string, string} key, state and the other database; "": no move */
    private static function find(Settings $settings): array
    {
        $table = strtolower($settings->table());
        foreach (['mailQueueMovedTo', 'mailQueueMovedFrom'] as $key) {
            $notes = json_decode($settings->queue()->config($key) ?? '', true);
            $note = array_change_key_case(is_array($notes) ? $notes : [])[$table] ?? '';
            [, $state, , , $name] = explode(' ', "$note    ", 5);
            if (in_array($state, ['moving', 'moved', 'copying'], true)) {
                return [$key, $state, trim($name)];
            }
        }
        return ['', '', ''];
    }

    /** What --unset leaves of a key: the notes of other job tables. Null: nothing. */
    public static function withoutNote(MailQueue $queue, string $key, string $table): ?string
    {
        $isNote = in_array($key, ['mailQueueMovedTo', 'mailQueueMovedFrom'], true);
        $notes = $isNote ? json_decode($queue->config($key) ?? '', true) : null;
        $others = array_filter(
            is_array($notes) ? $notes : [],
            static fn ($name): bool => strcasecmp((string) $name, $table) !== 0,
            ARRAY_FILTER_USE_KEY
        );
        return $others ? Terminal::json($others) : null;
    }

    public function run(): int
    {
        $args = $this->args;
        [$from, $to] = $args->words;
        $timeout = $args->int('timeout', 960, 0, 86_400);
        $dryRun = $args->has('dry-run');
        $names = [self::name($from), self::name($to)];
        $source = $this->settings->at($from, create: false);
        if ($args->has('abort')) {
            $source->abortMove($this->settings->at($to, create: false), $names[1]);
            echo $args->has('json') ? Terminal::json(['aborted' => true])
                : 'Given up: the source sends again.', "\n";
            return ExitCode::OK;
        }
        $target = $this->settings->at($to, create: !$dryRun);
        $shows = stream_isatty(STDERR) && !$args->has('json');
        $report = $source->moveTo(
            $target,
            ...$names,
            timeout: $timeout,
            delete: $args->has('delete'),
            dryRun: $dryRun,
            progress: $shows ? $this->progress(...) : null
        );
        $shows && $this->drawn > 0 && fwrite(STDERR, "\r\e[K");
        if ($args->has('json')) {
            echo Terminal::json($report), "\n";
        } else {
            $this->report($report, $dryRun, $names[1]);
        }
        return ExitCode::OK;
    }

    /** Without a password; a file by its full path. */
    private static function name(string $database): string
    {
        $named = new Named($database);
        $path = $named->path;
        return $path === null || $named->hasPassword ? $named->shown
            : (realpath(dirname($path)) ?: dirname($path)) . '/' . basename($path);
    }

    /** @param array{phase: string, done: int, total: int} $about */
    private function progress(array $about): void
    {
        if (microtime(true) - $this->drawn < 0.1) {
            return;
        }
        $this->drawn = microtime(true);
        $text = $about['phase'] === 'waiting' ? "waiting for $about[total] that are being sent"
            : "$about[phase] $about[done] of $about[total]";
        @fwrite(STDERR, "\r\e[K$text");
    }

    /** @param array<string, mixed> $report of moveTo() */
    private function report(array $report, bool $dryRun, string $to): void
    {
        $to = Terminal::safe($to);
        if ($dryRun) {
            echo $report['late'] ? 'The queue was moved already; ' : '',
            "$report[mails] mails would be copied to $to.\n";
        } elseif ($report['late']) {
            echo "Brought $report[copied] more mails to $to.\n";
        } else {
            $counts = array_filter($report['counts']);
            $words = static fn (int $count, string $status): string => "$count $status";
            $parts = array_map($words, $counts, array_keys($counts));
            echo "Moved $report[mails] mails to $to", $parts ? ': ' . implode(', ', $parts) : '',
            ".\nAll were compared: SHA-256 $report[checksum].\n";
        }
        $more = [
            'ignoredColumns' => "Columns that are not the queue's were not copied",
            'changedKeys' => 'Settings that were replaced there',
            'keptKeys' => 'Settings that only the target has stay there',
        ];
        foreach ($more as $key => $text) {
            $names = implode(', ', array_map(Terminal::safe(...), $report[$key]));
            echo $names === '' ? '' : "$text: $names.\n";
        }
        echo $report['deleted'] ? "Deleted $report[deleted] mails from the source.\n" : '';
    }
}
