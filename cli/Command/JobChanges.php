<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Filter;
use MailQueue\Cli\Stop;
use MailQueue\Status;

/** retry, hold and delete. */
final class JobChanges extends Command
{
    private const AT_ONCE = 1000;

    public function retry(): int
    {
        $reset = !$this->args->has('once');
        $filter = $this->filter($this->args->has('all') ? '--all' : 'ids', false);
        $queue = $this->settings->queue();
        if ($filter === null && $this->args->ids(false) === []) {
            $count = $this->args->has('all') ? $this->all($queue, $reset)
                : $queue->retryFailed(null, $reset);
            return $this->changed($count, 0, 'brought back', '');
        }
        $this->args->has('all') && throw Stop::usage('retry takes ids or --all, not both.');
        return $this->each(
            $filter,
            static fn (array $ids): int => $queue->retryFailed($ids, $reset),
            'Bring % back',
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
        return $count;
    }

    public function hold(): int
    {
        $filter = $this->filter('ids', true);
        $hold = $this->settings->queue()->hold(...);
        return $this->each($filter, $hold, 'Park %', 'parked', 'not waiting');
    }

    public function delete(): int
    {
        $filter = $this->filter('ids', true);
        $delete = $this->settings->queue()->delete(...);
        return $this->each(
            $filter,
            $delete,
            'Delete %',
            'deleted',
            'being sent at the moment'
        );
    }

    /** The filter; null if ids, or $others, name the mails. */
    private function filter(string $others, bool $needed): ?Filter
    {
        $filter = new Filter($this->args);
        $isGiven = $filter->arguments !== [];
        $ids = $this->args->ids($needed && !$isGiven);
        if (!$isGiven) {
            return null;
        }
        $both = $others === '--all' || $ids !== [];
        $both && throw Stop::usage("{$this->args->command} takes $others or a filter, not both.");
        return $filter;
    }

    /**
     * Changes the mails that the ids or the filter name, some at a time.
     *
     * @param callable(list<int>): int $change
     */
    private function each(
        ?Filter $filter,
        callable $change,
        string $question,
        string $what,
        string $whyNot
    ): int {
        $ids = $filter === null ? $this->args->ids(true) : $this->found($filter, $question);
        $count = 0;
        for ($i = 0; $i < count($ids); $i += self::AT_ONCE) {
            $count += $change(array_slice($ids, $i, self::AT_ONCE));
        }
        return $this->changed($count, count($ids), $what, $whyNot);
    }

    /** @return list<int> what the filter finds, once a person or --yes has agreed */
    private function found(Filter $filter, string $question): array
    {
        $ids = [];
        foreach ($filter->ids($this->settings->queue()) as $some) {
            array_push($ids, ...$some);
        }
        $count = count($ids);
        $mails = $count === 1 ? '1 mail' : "$count mails";
        $count > 0 && $this->agree(str_replace('%', $mails, $question));
        return $ids;
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
