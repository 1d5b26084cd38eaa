<?php

declare(strict_types=1);

namespace MailQueue\Cli\Move;

use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;

/** Source and target of a move, the records that bind them, and the progress. */
final class Pair
{
    public ?Record $to = null; // the source's record
    public ?Record $from = null; // the target's record
    public readonly Rows $sourceRows;
    public readonly Rows $targetRows;
    public readonly Report $report;
    public int $total = 0; // number of rows, for the progress
    /** @var array<int, true> ids of the source's mails that this run has copied or compared */
    public array $seen = [];

    /** @param ?\Closure(array{phase: string, done: int, total: int}): void $progress */
    public function __construct(
        public readonly Store $source,
        public readonly Store $target,
        public readonly int $timeout,
        private readonly ?\Closure $progress,
    ) {
        $this->sourceRows = new Rows($source);
        $this->targetRows = new Rows($target);
        $this->report = new Report();
    }

    /** Reports the progress. Called outside of transactions. */
    public function tell(string $phase, int $done, int $total): void
    {
        if ($this->progress !== null) {
            ($this->progress)(['phase' => $phase, 'done' => $done, 'total' => max($done, $total)]);
        }
    }

    /** The target's record of this move, which must be there. */
    public function from(): Record
    {
        return $this->from ?? throw self::takenOver();
    }

    public static function takenOver(): Stop
    {
        return Stop::config('another migrate-store has taken over this move, or it was cancelled: '
            . 'nothing more was written by this one');
    }

    public function elsewhere(Record $to): Stop
    {
        return Stop::config("the source is being moved to $to->other: finish or abort that first");
    }

    public function busy(bool $isSending): Stop
    {
        $what = $isSending ? 'mails are still being sent' : 'transactions are still open';
        return new Stop("$what after $this->timeout s. The source stays paused: repeat the command "
            . 'to go on, or cancel the move with --abort', ExitCode::TEMPFAIL);
    }

    // ---- within transactions: what these methods check stays true until the transaction ends ----

    /** Checks that the source's record is of this move. */
    public function checkTo(): void
    {
        $now = $this->source->hold(Record::TO);
        if ($now === null || $now->id !== $this->to?->id) {
            throw self::takenOver();
        }
    }

    /** Checks that the target's record is still of this run. */
    public function checkFrom(): void
    {
        $now = $this->target->hold(Record::FROM);
        $own = $this->from();
        if ([$now?->id, $now?->run, $now?->isOver] !== [$own->id, $own->run, $own->isOver]) {
            throw self::takenOver();
        }
    }

    // ---- in their own transactions ----

    public function putTo(?Record $record): void
    {
        $this->source->transaction(function () use ($record): void {
            $this->checkTo();
            $this->source->put(Record::TO, $record);
        });
    }

    /** @param ?\Closure(): void $do what belongs to it, in the same transaction */
    public function putFrom(?Record $record, ?\Closure $do = null): void
    {
        $this->target->transaction(function () use ($record, $do): void {
            $this->checkFrom();
            $do === null || $do();
            $this->target->put(Record::FROM, $record);
        });
    }

    /** Makes this run the one that works on the move; an earlier run ends. */
    public function takeOver(): void
    {
        $this->from = $this->target->transaction(function (): Record {
            $now = $this->target->hold(Record::FROM);
            if ([$now?->id, $now?->isOver] !== [$this->from?->id, $this->from?->isOver]) {
                throw self::takenOver();
            }
            $now = $this->from()->with(run: self::run(), cursor: $now?->cursor);
            $this->target->put(Record::FROM, $now);
            return $now;
        });
    }

    public static function run(): string
    {
        return bin2hex(random_bytes(4));
    }

    /**
     * Runs $do while nobody can change the source's jobs; earlier transactions have ended.
     *
     * @param callable(int): void $do gets the last id of the move; mail after it is late
     * @return int that id
     */
    public function lockSource(callable $do): int
    {
        return $this->source->transaction(function () use ($do): int {
            // Before the first plain read: later ones of MySQL show no suppressions made since.
            $this->source->kind !== 'mysql' || $this->source->lock('mailSuppressed');
            $this->checkTo();
            $last = $this->sourceRows->lastId();
            // The cursor can be higher: the last mails may have been deleted, and others stored.
            $last = max($last, $this->from()->cursor);
            $do($last);
            return $last;
        }, true);
    }

    /** Checks that the source's ids are above 0 and below the target's own. */
    public function checkIds(int $base): void
    {
        if ($this->sourceRows->piece(PHP_INT_MIN, 0)[0] !== PHP_INT_MIN) {
            throw Stop::config('the source has ids below 1');
        }
        if ($this->sourceRows->lastId() >= $base) {
            throw Stop::config("the source has ids from $base on, where the target's own begin: "
                . 'let its producers store their mail in the target');
        }
    }
}
