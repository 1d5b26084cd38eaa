<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Job;
use MailQueue\Status;

/** list and show: what is queued. */
final class Jobs extends Command
{
    public function list(): int
    {
        $word = $this->args->text('status');
        $status = $word === null ? null : Status::tryFrom($word)
            ?? throw Stop::usage('--status must be pending, sending, failed, parked or held.');
        $limit = $this->args->int('limit', 50, 1, 10_000);
        $after = $this->args->int('after', 0, 0, PHP_INT_MAX);
        $jobs = $this->settings->queue()->jobs($status, $limit, $after);
        return $this->result($jobs, static function () use ($jobs): void {
            $head = ['id', 'status', 'type', 'reference', 'tries', 'next attempt', 'recipients',
                'last error'];
            $jobs ? Terminal::table([$head, ...array_map(self::row(...), $jobs)])
                : print("No mail.\n");
        });
    }

    /** @return list<string> */
    private static function row(Job $job): array
    {
        $others = count($job->recipients ?? []) - 1;
        return [
            (string) $job->id,
            $job->status->value,
            Terminal::safe($job->type),
            Terminal::safe($job->reference),
            (string) $job->attempts,
            Terminal::time($job->nextAttemptAt),
            Terminal::safe($job->recipients[0] ?? null) . ($others > 0 ? " +$others" : ''),
            Terminal::safe($job->lastError),
        ];
    }

    public function show(): int
    {
        $id = $this->args->ids(true)[0];
        $job = $this->settings->queue()->job($id)
            ?? throw new Stop("There is no mail with the id $id.", ExitCode::FINDINGS);
        $shown = get_object_vars($job);
        if (!$this->args->has('message')) {
            unset($shown['message']);
            $shown['messageBytes'] = $job->message === null ? null : strlen($job->message);
        }
        return $this->result($shown, static function () use ($shown): void {
            foreach ($shown as $name => $value) {
                printf("%-15s %s\n", $name, self::cell($name, $value));
            }
        });
    }

    private static function cell(string $name, mixed $value): string
    {
        return match (true) {
            $value === null => '-',
            $value instanceof Status => $value->value,
            is_array($value) => Terminal::safe(Terminal::json($value, 0)),
            str_ends_with($name, 'At'), $name === 'lockedUntil' => Terminal::time($value),
            $name === 'message' => "\n\n" . Terminal::safeLines($value),
            $name === 'messageBytes' => "$value (--message shows them)",
            default => Terminal::safe((string) $value),
        };
    }
}
