<?php

declare(strict_types=1);

namespace MailQueue\Web;

use MailQueue;
use MailQueue\Internal;
use MailQueue\Job;
use MailQueue\Status;

/**
 * A page of the list. No index serves most filters, so it looks at mails in the order of their ids,
 * for a short time; a link goes on from there.
 */
final class Search
{
    private const AT_ONCE = 50;
    private const STEP = 10_000;
    /** Of mails that an index finds: they are far apart, and take as long as several others. */
    private const STEP_BY_INDEX = 2_500;
    /** With the rest of the view, less than 0.1 s. */
    public const SECONDS = 0.05;
    /** Other states are few, or indexed by id: as MQ_SQL_TABLES has it. */
    private const INDEXED = [
        'failed' => "status = 'failed' AND status IN ('failed','held') AND ",
        'parked' => "status = 'parked' AND ",
        'held' => "status = 'held' AND status IN ('failed','held') AND ",
    ];

    /** @var list<Job> */
    public readonly array $jobs;
    /** The id after which there may be more; null: that was all. */
    public readonly ?int $next;
    /** Whether the time was over before the page was full. */
    public readonly bool $isPart;

    /** @param bool $isUncertain only mail that may have arrived */
    public function __construct(
        private readonly MailQueue $queue,
        private readonly Selection $selection,
        int $after,
        float $seconds = self::SECONDS,
        private readonly bool $isUncertain = false,
    ) {
        $jobs = [];
        $isPart = false;
        $begun = $after;
        $now = hrtime(true);
        $end = $now + (int) ($seconds * 1e9);
        while (count($jobs) <= self::AT_ONCE && ($until = $this->reach($after)) !== null) {
            [$before, $now] = [$now, hrtime(true)];
            // The next step takes about as long as the last one.
            if ($after > $begun && $now + ($now - $before) > $end) {
                $isPart = true;
                break;
            }
            array_push($jobs, ...$this->find($after, $until, self::AT_ONCE + 1 - count($jobs)));
            $after = $until;
        }
        $isFull = count($jobs) > self::AT_ONCE;
        $this->jobs = array_slice($jobs, 0, self::AT_ONCE);
        $this->next = $isFull ? $this->jobs[self::AT_ONCE - 1]->id : ($isPart ? $after : null);
        $this->isPart = $isPart;
    }

    /** @return ?int the last id of the next step; null: all mails were looked at */
    private function reach(int $after): ?int
    {
        $status = $this->selection->filter->arguments['status'] ?? null;
        if (isset($this->selection->fields['reference']) || $status === Status::Sending) {
            return $after === PHP_INT_MAX ? null : PHP_INT_MAX; // an index has them all
        }
        $of = self::INDEXED[$status->value ?? ''] ?? '';
        $last = Internal::select($this->queue, "SELECT max(id) FROM (SELECT id FROM {t} WHERE $of"
            . 'id > ?1 ORDER BY id LIMIT ' . ($of === '' ? self::STEP : self::STEP_BY_INDEX)
            . ') AS step', [$after])[0][0];
        return $last === null ? null : (int) $last;
    }

    /** @return list<Job> */
    private function find(int $after, int $until, int $most): array
    {
        return $this->queue->jobs(
            ...$this->selection->filter->arguments,
            limit: $most,
            after: $after,
            uncertain: $this->isUncertain,
            expected: true,
            // Without an end SQLite chooses the index of the few that are under way.
            until: $until === PHP_INT_MAX ? null : $until
        );
    }
}
