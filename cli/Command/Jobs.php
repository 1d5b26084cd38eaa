<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Filter;
use MailQueue\Cli\Report\Timeline;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;
use MailQueue\Job;
use MailQueue\Status;

/** list and show: what is queued. */
final class Jobs extends Command
{
    public function list(): int
    {
        $filter = new Filter($this->args);
        $limit = $this->args->int('limit', 50, 1, 10_000);
        $after = $this->args->int('after', 0, 0, PHP_INT_MAX);
        $jobs = $this->settings->queue()
            ->jobs(...$filter->arguments, limit: $limit, after: $after, expected: $limit <= 100);
        return $this->result($jobs, static function () use ($jobs): void {
            $head = ['id', 'status', 'tries', 'next', 'recipients', 'type', 'reference',
                'subject'];
            $notes = []; // by row number; the head is row 0
            foreach ($jobs as $i => $job) {
                $job->lastError === null || $notes[$i + 1] = Terminal::safe($job->lastError);
            }
            $jobs ? Terminal::table([$head, ...array_map(self::row(...), $jobs)], $notes)
                : print("No mail.\n");
        });
    }

    /** @return non-empty-list<string> */
    private static function row(Job $job): array
    {
        $others = count($job->recipients ?? []) - 1;
        return [
            (string) $job->id,
            $job->status->value,
            (string) $job->attempts,
            self::next($job),
            Terminal::safe($job->recipients[0] ?? null) . ($others > 0 ? " +$others" : ''),
            Terminal::safe($job->type),
            Terminal::safe($job->reference),
            self::short($job->subject ?? '-'),
        ];
    }

    /** Cuts a long subject; `show` prints all of it. */
    public static function short(string $subject): string
    {
        $isLong = preg_match('/\A.{37}(?=.{4})/us', $subject, $match) === 1;
        return Terminal::safe($isLong ? "$match[0]..." : $subject);
    }

    /**
     * When the mail is expected to go, or is tried next; "-" while a worker has it, or while it
     * waits for a person.
     */
    public static function next(Job $job): string
    {
        $in = ($job->expectedAt ?? $job->nextAttemptAt) - time();
        return match (true) {
            !in_array($job->status, [Status::Pending, Status::Failed], true) => '-',
            $in <= 0 => 'now',
            default => 'in ' . preg_replace('/ h .*/', ' h', Terminal::span($in))
                . ($job->waitsFor === null ? '' : ' (' . Terminal::safe($job->waitsFor) . ')'),
        };
    }

    public function show(): int
    {
        $id = $this->args->ids(true)[0];
        $queue = $this->settings->queue();
        $job = $queue->job($id);
        [$history, $isCut] = Timeline::of($queue, $id);
        $past = ['history' => $history] + ($isCut ? ['historyIsCut' => true] : []);
        $new = $job === null ? self::resentAs($queue, $id) : null;
        if ($job === null && $history === [] && $new === null) {
            throw new Stop(
                "There is no mail with the id $id. Mail that was sent leaves the "
                . 'queue: ' . $this->settings->command("log --id $id") . ' says what became of it.',
                ExitCode::FINDINGS
            );
        }
        if ($job === null) {
            $gone = ['id' => $id, 'resentAs' => $new] + $past;
            return $this->result($gone, static function () use ($id, $new, $history, $isCut): void {
                echo "Mail $id ", $new === null ? "has left the queue.\n"
                    : "was sent again as mail $new.\n";
                self::timeline($history, $isCut);
            });
        }
        $shown = get_object_vars($job);
        if (!$this->args->has('message')) {
            unset($shown['message']);
            $shown['messageBytes'] = $job->message === null ? null : strlen($job->message);
        }
        $all = $history === [] ? $shown : $shown + $past;
        return $this->result($all, static function () use ($shown, $history, $isCut): void {
            foreach ($shown as $name => $value) {
                printf("%-15s %s\n", $name, self::cell($name, $value));
            }
            self::timeline($history, $isCut);
        });
    }

    /** The mail in the queue that took this one's place. */
    public static function resentAs(MailQueue $queue, int $id): ?int
    {
        $rows = Internal::select(
            $queue,
            'SELECT id FROM {t} WHERE resent_of = ?1 AND id > ?1 ORDER BY id LIMIT 1',
            [$id]
        );
        return isset($rows[0]) ? (int) $rows[0][0] : null;
    }

    /** @param list<array<string, int|string|null>> $history */
    private static function timeline(array $history, bool $isCut): void
    {
        $rows = [['at', 'attempt', 'event', 'phase', 'recipients', 'took', 'waited']];
        $notes = [];
        foreach ($history as $i => $row) {
            $rows[] = [
                Terminal::time((int) $row['at']),
                (string) $row['attempt'],
                Terminal::safe((string) $row['event']),
                Terminal::safe($row['phase'] === null ? null : (string) $row['phase']),
                (string) $row['recipients'],
                $row['ms'] === null ? '-' : "$row[ms] ms",
                $row['waited'] === null ? '-' : Terminal::span((int) $row['waited']),
            ];
            $row['reply'] === null || $notes[$i + 1] = Terminal::safe((string) $row['reply']);
        }
        if ($history !== []) {
            echo "\n", $isCut ? 'There are older attempts. The newest '
                . number_format(Timeline::SHOWN) . ":\n" : '';
            Terminal::table($rows, $notes);
        }
    }

    private static function cell(string $name, mixed $value): string
    {
        return match (true) {
            $value === null => '-',
            $value instanceof Status => $value->value,
            is_array($value) => Terminal::safe(Terminal::json($value, 0)),
            str_ends_with($name, 'At'), $name === 'lockedUntil' => Terminal::time($value),
            $name === 'waitsFor' && $value === 'hours' => 'its sending hours (mailHours)',
            $name === 'waitsFor' && $value === 'pause' => 'the end of a relay\'s pause',
            $name === 'message' => "\n\n" . Terminal::safeLines($value),
            $name === 'messageBytes' => "$value (--message shows them)",
            default => Terminal::safe((string) $value),
        };
    }
}
