<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\Changes;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Filter;
use MailQueue\Cli\Stop;
use MailQueue\Internal;
use MailQueue\Status;

/** retry, hold and delete. */
final class JobChanges extends Command
{
    private const ROWS_AT_ONCE = 10_000;
    private const FROM = [Status::Pending, Status::Failed, Status::Parked]; // what retry changes

    public function retry(): int
    {
        $reset = !$this->args->has('once');
        $all = $this->args->has('all');
        $filter = $this->filter($all ? '--all' : 'ids', false);
        $queue = $this->settings->queue();
        $isNamed = $filter !== null || $this->args->ids(false) !== [];
        $isNamed && $all && throw Stop::usage('retry takes ids or --all, not both.');
        return $this->each(
            $isNamed ? $this->named($filter, 'Bring % back', true) : $this->failed($queue, $all),
            static fn (array $ids): int => $queue->retryFailed($ids, $reset),
            'brought back',
            'neither parked nor failed'
        );
    }

    /** @return list<int> the failed mails, with $all also all parked ones, once agreed */
    private function failed(MailQueue $queue, bool $all): array
    {
        // One state after the other: no index finds them together.
        $states = ["status = 'failed' AND status IN ('failed','held')",
            "status = 'parked'" . ($all ? '' : ' AND {%}')];
        $ids = [];
        $twice = 0;
        foreach ($states as $where) {
            $last = 0;
            do {
                $rows = Internal::select($queue, 'SELECT id, CASE WHEN uncertain_to IS NULL THEN 0 '
                    . "ELSE 1 END FROM {t} WHERE $where AND id > ?1 ORDER BY id LIMIT "
                    . self::ROWS_AT_ONCE, [$last]);
                $some = array_map(intval(...), array_column($rows, 0));
                $last = end($some) ?: $last;
                array_push($ids, ...$some);
                $twice += (int) array_sum(array_column($rows, 1));
            } while (count($rows) === self::ROWS_AT_ONCE);
        }
        $ids === [] || $this->agree('Bring ' . self::mails(count($ids)) . ' back'
            . self::warning($twice));
        return $ids;
    }

    public function hold(): int
    {
        $filter = $this->filter('ids', true);
        $hold = $this->settings->queue()->hold(...);
        $ids = $this->named($filter, 'Park %');
        return $this->each($ids, $hold, 'parked', 'not waiting');
    }

    public function delete(): int
    {
        $filter = $this->filter('ids', true);
        $delete = $this->settings->queue()->delete(...);
        $ids = $this->named($filter, 'Delete %');
        return $this->each($ids, $delete, 'deleted', 'being sent at the moment');
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
     * Changes mails, some at a time.
     *
     * @param list<int> $ids
     * @param callable(list<int>): int $change
     */
    private function each(array $ids, callable $change, string $what, string $whyNot): int
    {
        $count = 0;
        Changes::make($ids, $change, $count);
        return $this->changed($count, count($ids), $what, $whyNot);
    }

    /** @return list<int> the ids; or what the filter finds, once a person or --yes has agreed */
    private function named(?Filter $filter, string $question, bool $sendsAgain = false): array
    {
        if ($filter === null) {
            return $this->args->ids(true);
        }
        $queue = $this->settings->queue();
        $ids = $filter->allIds($queue);
        $asks = $sendsAgain && $ids !== [] && !$this->args->has('yes');
        $twice = $asks ? count($filter->allIds($queue, self::FROM, true)) : 0;
        $ids === [] || $this->agree(str_replace('%', self::mails(count($ids)), $question)
            . self::warning($twice));
        return $ids;
    }

    private static function warning(int $twice): string
    {
        return $twice === 0 ? '' : " ($twice may arrive twice)";
    }

    private static function mails(int $count): string
    {
        return $count === 1 ? '1 mail' : "$count mails";
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
