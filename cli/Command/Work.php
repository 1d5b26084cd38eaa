<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\Classes;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Move\Notice;
use MailQueue\Cli\Progress;
use MailQueue\Cli\Terminal;
use MailQueue\Cli\Work\Process;
use MailQueue\Cli\Work\Processes;
use MailQueue\Cli\Work\Summary;
use MailQueue\DatabaseException;
use MailQueue\Report;
use MailQueue\Stats;

/** work: runs the worker and reports what it did. */
final class Work extends Command
{
    private const LOOK_NS = 30_000_000_000;

    public function run(): int
    {
        $args = $this->args;
        $settings = $this->settings;
        $daemon = $args->has('daemon');
        $daemon && Classes::loadAll();
        // Checked before the queue is opened: a run that cannot start should touch nothing.
        $options = [
            'transport' => $settings->transport(),
            'relays' => $settings->relays(),
            'compose' => $settings->bootstrap->compose,
            'sign' => $settings->bootstrap->sign,
            'onFinished' => $settings->bootstrap->onFinished,
            'connections' => $settings->workInt('connections'),
            'batch' => $settings->workInt('batch'),
            'lease' => $settings->workInt('lease'),
            'timeLimit' => $settings->workIntOrNull('timeLimit', 'time-limit')
                ?? ($daemon ? null : 55),
            'messageLimit' => $settings->workIntOrNull('messageLimit', 'message-limit'),
            'maxWorkers' => $settings->workIntOrNull('maxWorkers', 'workers')
                ?? Processes::count($args),
            'grace' => $settings->workInt('grace'),
            'daemon' => $daemon,
            'onUncertain' => $settings->onUncertain(),
            'log' => $args->text('log'),
            'maxBytes' => $args->bytes('max-bytes') ?? $settings->workDefaults()['maxBytes'],
            'verbose' => $args->has('verbose'),
        ];
        if ($settings->dkim() !== null) {
            $options['dkim'] = $settings->dkim();
        }
        $settings->verdicts();
        $look = $this->look(!$daemon, $options['maxWorkers'], $options['log']);
        if ($look === null) {
            return $this->nothing('locked', 'another worker is running');
        }
        [$queue, $before] = $look;
        if ($queue === null || $before === null) {
            // The first mail that is queued creates the tables.
            return $this->nothing('empty', 'there is no queue yet; the first mail creates it');
        }
        $quiet = $args->has('quiet') || $args->has('json');
        $progress = $quiet || $daemon || !stream_isatty(STDERR) ? null
            : new Progress(min($before->due, $options['messageLimit'] ?? PHP_INT_MAX));
        $own = $settings->bootstrap->onEvent;
        $options['onEvent'] = $progress === null ? $own
            : static function (array $event) use ($progress, $own): void {
                $progress->event($event);
                $own === null || $own($event);
            };
        $this->showLogFault();
        $report = $queue->runWorker(...$options);
        restore_error_handler();
        $progress?->end();
        $this->tell($this->summary($report, $queue, $before));
        return $report->end === 'relay' ? ExitCode::UNAVAILABLE : ExitCode::OK;
    }

    /**
     * Opens the queue. If all worker slots are taken, returns at once, without waiting for a locked
     * database. Else tries a locked database for 30 s, because cron sends mail about each failure.
     *
     * @return array{?MailQueue, ?Stats}|null null: no slot is free; with nulls: no queue yet
     */
    private function look(bool $mayBeNone, int $maxWorkers, ?string $log): ?array
    {
        $slot = $this->settings->workerSlot();
        if ($slot?->take($maxWorkers) === false) {
            $slot->logLocked($log);
            return null;
        }
        for ($end = hrtime(true) + self::LOOK_NS;;) {
            try {
                if ($mayBeNone && $this->settings->hasNoQueueYet()) {
                    return [null, null];
                }
                $queue = $this->settings->queue();
                return [$queue, $queue->stats(Status::EXACT)];
            } catch (DatabaseException $e) {
                if ($e->reason !== 'busy' || hrtime(true) >= $end) {
                    throw $e;
                }
            }
        }
    }

    private function nothing(string $end, string $why): int
    {
        $this->tell(Summary::none($end, $why));
        return ExitCode::OK;
    }

    /** Prints it, or tells it to the process that adds up the summaries of several. */
    private function tell(Summary $summary): void
    {
        if (Process::isOne()) {
            Process::tell($summary);
        } else {
            $summary->show($this->args);
        }
    }

    /** Shows PHP's warning about a log that cannot be written, even if php.ini hides warnings. */
    private function showLogFault(): void
    {
        $isOurs = '/\AMailQueue::runWorker\(\): (?=the log )/';
        $before = set_error_handler(function (int $type, string $text, mixed ...$where) use (
            &$before,
            $isOurs
        ): bool {
            if (!preg_match($isOurs, $text)) {
                return $before !== null && $before($type, $text, ...$where) !== false;
            }
            $text = Terminal::safe(preg_replace($isOurs, '', $text));
            Terminal::error($this->args->has('json')
                ? Terminal::json(['error' => $text, 'exit' => ExitCode::OK], 0)
                : "mailqueue: $text");
            return true;
        });
    }

    private function summary(Report $report, MailQueue $queue, Stats $before): Summary
    {
        return new Summary(
            get_object_vars($report) + ['redirectTo' => $before->redirectTo],
            $this->end($report),
            Status::testMode($queue, $before),
            $before->pausedUntil !== null && $report->claimed === 0
        );
    }

    private function end(Report $report): string
    {
        $until = $report->resumeAt ? ' until ' . Terminal::time($report->resumeAt) : '';
        return match ($report->end) {
            'empty' => 'nothing more is due',
            'tokens' => ($report->reason === null ? 'the hourly limit'
                : 'the limit ' . Terminal::safe($report->reason)) . " is reached$until",
            'time' => 'the time limit is reached',
            'messages' => 'the message limit is reached',
            'signal' => 'stopped by a signal',
            'locked' => 'another worker is running',
            'disabled' => rtrim(lcfirst(Notice::text($this->settings) ?? 'mailQueueEnabled is 0; '
                . $this->settings->command('config mailQueueEnabled 1') . ' switches it on'), '.'),
            'relay' => "the relay cannot be used$until: " . Terminal::safe($report->reason),
            default => Terminal::safe($report->end),
        };
    }
}
