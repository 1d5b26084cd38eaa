<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;
use MailQueue\Status;

/** retry, hold and delete. */
final class JobChanges extends Command
{
    private const AT_ONCE = 1000;

    public function retry(): int
    {
        $ids = $this->args->ids(false);
        $reset = !$this->args->has('once');
        $queue = $this->settings->queue();
        if ($this->args->has('all')) {
            $ids && throw Stop::usage('retry takes ids or --all, not both.');
            return $this->all($queue, $reset);
        }
        $count = $queue->retryFailed($ids ?: null, $reset);
        return $this->changed(
            $count,
            count($ids),
            'brought back',
            'neither parked nor failed'
        );
    }

    /** Brings back all mail that waits for its next attempt or is parked now, for any reason. */
    private function all(MailQueue $queue, bool $reset): int
    {
        $count = $queue->retryFailed(null, $reset);
        $last = 0;
        while ($jobs = $queue->jobs(Status::Parked, self::AT_ONCE, $last)) {
            $ids = array_column($jobs, 'id');
            $last = max($ids);
            $count += $queue->retryFailed($ids, $reset);
        }
        return $this->changed($count, $count, 'brought back', '');
    }

    public function hold(): int
    {
        $ids = $this->args->ids(true);
        $count = $this->settings->queue()->hold($ids);
        return $this->changed($count, count($ids), 'parked', 'not waiting');
    }

    public function delete(): int
    {
        $ids = $this->args->ids(true);
        $count = $this->settings->queue()->delete($ids);
        return $this->changed($count, count($ids), 'deleted', 'being sent at the moment');
    }

    private function changed(int $count, int $asked, string $what, string $whyNot): int
    {
        $others = $count === 0 ? 'they' : 'the others';
        $text = $count >= $asked ? "$count $what.\n"
            : "$count of $asked $what; $others do not exist or are $whyNot.\n";
        $this->result(['changed' => $count], static fn () => print($text));
        return $count === 0 && $asked > 0 ? ExitCode::FINDINGS : ExitCode::OK;
    }
}
