<?php

declare(strict_types=1);

namespace MailQueue\Cli\Move;

use MailQueue\Cli\Stop;

/**
 * Moves a queue from one database to another: SQLite, PostgreSQL, MySQL in any direction.
 *
 * - No mail is lost, and none is sent twice. Once the move has begun, no mail is claimed from the
 *   source, nor from the target until all mail is there: their config tables say so (Record), and
 *   each claim reads that in its transaction. Copying begins after mail that was being sent is
 *   settled or recovered.
 * - The source takes new mail all the time. Mail stored before the move ends is copied. Mail
 *   stored later is copied when the same command is run again; the target already sends by then.
 * - After a kill at any point, the same command continues.
 * - Every row is read back before it is committed. At the end all rows and bodies are compared by
 *   SHA-256, in a form that does not depend on the database; then once more without the bodies,
 *   which never change, while the source is locked.
 *
 * Ids are kept. The target's own ids begin at least a million above the source's, so that late
 * mail keeps its id too, and the application may store mail in the target during the move.
 */
final class Migration
{
    private readonly Pair $pair;
    private readonly Copying $copying;

    /**
     * @param int $timeout seconds to wait for mail that is being sent
     * @param ?\Closure(array{phase: string, done: int, total: int}): void $progress called outside
     *        of transactions, in each phase: waiting, copying, verifying, deleting
     */
    public function __construct(
        Store $source,
        Store $target,
        int $timeout = 960,
        ?\Closure $progress = null,
    ) {
        $this->pair = new Pair($source, $target, $timeout, $progress);
        $this->copying = new Copying($this->pair);
    }

    /** @param bool $deletes whether to delete from the source, at the end, what was copied */
    public function run(bool $deletes = false, bool $isDry = false): Report
    {
        $report = $this->pair->report;
        $opening = new Opening($this->pair);
        $opening->look();
        if ($isDry) {
            $report->mails = $this->pair->total;
            return $report;
        }
        $opening->start();
        if ($report->late) {
            $this->copyLate();
        } else {
            $opening->drain();
            $this->copying->all();
            $this->copying->compare();
            $this->copying->campaigns();
            $this->copying->all(); // again, to leave little for finish(), for which enqueues wait
            $this->finish();
        }
        $deletes && $this->delete($this->pair->source, $this->pair->sourceRows, Record::TO);
        return $report;
    }

    /**
     * Finds which mails of a range are no longer needed. A mail of the source is deleted only if
     * this run has read it, or if the target has it. One that was stored under an older id since,
     * which no run copies, must not be lost.
     *
     * @return list<int>
     */
    private function copied(Rows $rows, int $from, int $to): array
    {
        $ids = $rows->ids($from, $to);
        if ($rows === $this->pair->targetRows) {
            return array_keys($ids);
        }
        $there = array_intersect_assoc($ids, $this->pair->targetRows->ids($from, $to));
        $copied = array_intersect_key($ids, $there + $this->pair->seen);
        $this->pair->report->kept += count($ids) - count($copied);
        return array_keys($copied);
    }

    /** Ends the move, the source's record first: after a kill in between, neither sends. */
    private function finish(): void
    {
        $pair = $this->pair;
        $pages = $this->copying->knowTarget();
        $last = $pair->lockSource(function (int $last) use ($pair, $pages): void {
            $pair->checkIds($pair->from()->base);
            $this->copying->compareLocked($pages, $last);
            $this->copying->settings();
            $pair->source->put(Record::TO, $pair->to?->with(isOver: true));
        });
        $done = $pair->from()->with(cursor: $last, isOver: true);
        $pair->putFrom($done, (new History($pair->source, $pair->target))->carry(...));
        $pair->from = $done;
        $pair->report->mails = array_sum($pair->report->counts);
    }

    /**
     * Copies mail that came after the move had ended, up to an id below which all is committed. The
     * next run begins after that id.
     */
    private function copyLate(): void
    {
        $last = $this->pair->lockSource(
            fn () => $this->pair->checkIds($this->pair->from()->base)
        );
        $this->copying->upTo($last);
        $this->pair->report->mails = $this->pair->report->copied;
    }

    /** Deletes the mails that this move copied, in source or target, while its record is there. */
    private function delete(Store $store, Rows $rows, string $key): void
    {
        $pair = $this->pair;
        $limit = $pair->from()->cursor;
        $total = $rows->count(0, $limit);
        for ($from = 0; $from < $limit; $from = $end) {
            [$end, $hasMore] = $rows->piece($from, $limit);
            $ids = $this->copied($rows, $from, $end);
            $store->transaction(function () use ($pair, $store, $key, $ids): void {
                $key === Record::TO ? $pair->checkTo() : $pair->checkFrom();
                $store->delete($ids);
            });
            $pair->report->deleted += count($ids);
            $pair->tell('deleting', $pair->report->deleted, $total);
            $end = $hasMore ? $end : $limit;
        }
    }

    /** Gives an unfinished move up: deletes the copies from the target; the source sends again. */
    public function abort(): Report
    {
        $pair = $this->pair;
        $pair->source->aborts = $pair->target->aborts = true;
        $to = $pair->to = $pair->source->record(Record::TO);
        $from = $pair->target->record(Record::FROM);
        $isSame = $to !== null && $from !== null && $to->id === $from->id;
        if ($to === null || ($to->isOver && !$isSame)) {
            throw Stop::config('there is no unfinished move to cancel');
        }
        if ($isSame && $from->isOver) {
            throw Stop::config('the move is over, and the target sends: to go back, move the '
                . 'target into an empty queue');
        }
        if (!$isSame && $to->other !== $pair->target->name) {
            throw $pair->elsewhere($to);
        }
        if ($isSame) {
            $pair->from = $from;
            $pair->takeOver();
            $this->delete($pair->target, $pair->targetRows, Record::FROM);
            $pair->target->transaction(static function () use ($pair): void {
                $pair->checkFrom();
                (new Campaigns($pair->source, $pair->target))->drop();
            });
            $pair->putFrom(null);
        }
        $pair->putTo(null);
        return $pair->report;
    }
}
