<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\Failure;
use MailQueue\Cli\Move\Migration;
use MailQueue\Cli\Move\Notice;
use MailQueue\Cli\Move\Report;
use MailQueue\Cli\Move\Store;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** migrate-store: moves a queue to another database. */
final class MigrateStore extends Command
{
    private float $drawn = 0.0;

    public function run(): int
    {
        $args = $this->args;
        if (count($args->words) !== 2) {
            throw Stop::usage('Usage: mailqueue migrate-store [options] FROM TO');
        }
        if ($args->has('abort') && ($args->has('delete') || $args->has('dry-run'))) {
            throw Stop::usage('--abort cannot be combined with --delete or --dry-run.');
        }
        $timeout = $args->int('timeout', 960, 0, 86_400);
        ini_set('memory_limit', '-1'); // a row with its body must fit
        $isDry = $args->has('dry-run');
        $names = array_map(
            static fn (string $word): string => Terminal::safe(Notice::name($word)),
            $args->words
        );
        $source = Store::open($this->settings, $args->words[0], $names[0], false);
        $creates = !$isDry && !$args->has('abort');
        $target = $this->target($names[1], $creates);
        $shows = stream_isatty(STDERR) && !$args->has('json');
        $progress = $shows ? $this->progress(...) : null;
        $migration = new Migration($source, $target, $timeout, $progress);
        $aborts = $args->has('abort');
        $report = $aborts ? $migration->abort() : $migration->run($args->has('delete'), $isDry);
        $this->drawn > 0 && fwrite(STDERR, "\r\e[K");
        if ($aborts) {
            return $this->result(
                ['aborted' => true],
                static fn () => print("Given up: the source sends again.\n")
            );
        }
        return $this->result(
            $report->toArray(),
            fn () => $this->report($report, $isDry, $names[1])
        );
    }

    private function target(string $name, bool $creates): Store
    {
        try {
            return Store::open($this->settings, $this->args->words[1], $name, $creates);
        } catch (\Exception $e) {
            throw $this->args->has('abort') ? new Stop(rtrim($e->getMessage(), '.') . '. If TO is '
                . 'gone for good, let FROM send again with mailqueue config --unset '
                . 'mailQueueMovedTo; what TO has sent is then sent again.', Failure::code($e)) : $e;
        }
    }

    /** @param array{phase: string, done: int, total: int} $about */
    private function progress(array $about): void
    {
        if (microtime(true) - $this->drawn < 0.1) {
            return;
        }
        $this->drawn = microtime(true);
        $text = $about['phase'] === 'waiting' ? "waiting for $about[total] mails being sent"
            : "$about[phase] $about[done] of $about[total]";
        @fwrite(STDERR, "\r\e[K$text");
    }

    private function report(Report $report, bool $isDry, string $to): void
    {
        if ($isDry) {
            echo $report->late ? 'The queue was moved already; ' : '',
            "$report->mails mails would be copied to $to.\n";
        } elseif ($report->late) {
            echo "Brought $report->copied more mails to $to.\n";
        } else {
            $counts = array_filter($report->counts);
            $words = static fn (int $count, string $status): string => "$count $status";
            $parts = array_map($words, $counts, array_keys($counts));
            echo "Moved $report->mails mails to $to", $parts ? ': ' . implode(', ', $parts) : '',
            ".\nAll were compared: SHA-256 ", bin2hex($report->checksum), ".\n";
        }
        $more = [
            "Columns that are not the queue's were not copied" => $report->ignoredColumns,
            'Settings that were replaced there' => $report->changedKeys,
            'Settings that only the target has stay there' => $report->keptKeys,
        ];
        foreach ($more as $text => $names) {
            $list = implode(', ', array_map(Terminal::safe(...), $names));
            echo $list === '' ? '' : "$text: $list.\n";
        }
        echo $report->deleted ? "Deleted $report->deleted mails from the source.\n" : '';
        echo $report->kept ? "Kept $report->kept mails in the source that the target lacks: it "
            . "has sent or deleted them, or they were never moved (mailqueue list).\n" : '';
    }
}
