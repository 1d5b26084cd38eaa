<?php

declare(strict_types=1);

namespace MailQueue\Cli\Move;

use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;

/**
 * Begins a move: checks whether the queue can be moved, writes the records, and waits for mail that
 * is being sent. The record in the source is committed before the one in the target, so neither
 * database sends from then on.
 */
final class Opening
{
    private const GAP = 1_000_000; // at least this many ids between the source's and the target's
    private const LAST = 10 ** 17; // a record holds 18 digits
    private const LOOK_US = 200_000;

    private string $seenTo = ''; // ids of the records as they were found; "": none
    private string $seenFrom = '';

    public function __construct(private readonly Pair $pair)
    {
    }

    /** Reads the records, refuses a move that is impossible, counts rows; changes nothing. */
    public function look(): void
    {
        $pair = $this->pair;
        if ($pair->source->isSameFile($pair->target)) {
            throw Stop::config('source and target are the same file: a queue is moved into another '
                . 'database');
        }
        $this->findRecords();
        $pair->from === null && $this->checkEmpty();
        $pair->checkIds($pair->from->base ?? PHP_INT_MAX);
        $isLate = $pair->from->isOver ?? false;
        $pair->total = $pair->sourceRows->count($isLate ? $pair->from()->cursor : 0, PHP_INT_MAX);
        $pair->report->late = $isLate;
        $pair->report->ignoredColumns = $pair->sourceRows->foreignColumns();
    }

    private function findRecords(): void
    {
        $pair = $this->pair;
        $to = $pair->source->record(Record::TO);
        $from = $pair->target->record(Record::FROM);
        $before = $pair->source->record(Record::FROM);
        if ($before !== null && !$before->isOver) {
            throw self::unfinished('source', $before);
        }
        $this->seenTo = $to->id ?? '';
        $this->seenFrom = $from->id ?? '';
        if ($to !== null && $from !== null && $to->id === $from->id) {
            $next = $pair->target->record(Record::TO);
            if ($next !== null) {
                throw Stop::config("the target itself was moved to $next->other");
            }
            [$pair->to, $pair->from] = [$to, $from];
            return;
        }
        if ($to?->isOver) {
            throw Stop::config("the source was moved to $to->other already");
        }
        if ($to !== null && $to->other !== $pair->target->name) {
            throw $pair->elsewhere($to);
        }
        if ($from !== null && !$from->isOver) {
            throw self::unfinished('target', $from);
        }
        $next = $pair->target->record(Record::TO);
        if ($next !== null && !$next->isOver) {
            throw Stop::config("the target is being moved to $next->other: finish or abort that "
                . 'first');
        }
        // If $to is set, its move never began in the target, or the target's record is gone.
    }

    private static function unfinished(string $which, Record $from): Stop
    {
        return Stop::config("the $which is the target of an unfinished move from $from->other: "
            . 'finish or abort that first');
    }

    /** Checks that the target has nothing that the move would replace. */
    private function checkEmpty(): void
    {
        (new Campaigns($this->pair->source, $this->pair->target))->check();
        (new Suppressions($this->pair->source, $this->pair->target))->check();
        $this->checkMail(PHP_INT_MAX);
    }

    /** Checks that the target has no mail with an id up to $to. */
    private function checkMail(int $to): void
    {
        $target = $this->pair->target;
        $rows = $this->pair->targetRows->count(PHP_INT_MIN, $to);
        // Messages of campaigns have ids below 0.
        $body = $target->value("SELECT min(id) FROM $target->bodies WHERE id >= 0");
        if ($rows > 0 || ($body !== null && (int) $body <= $to)) {
            throw Stop::config("the target has mail of its own already ($rows mails in "
                . "$target->table of $target->name): move into an empty queue");
        }
    }

    /** Writes the records, which pause source and target, or takes over a move that was begun. */
    public function start(): void
    {
        $pair = $this->pair;
        if ($pair->from !== null) {
            $pair->takeOver();
        } else {
            $this->recordInSource();
            $this->orGiveUp($this->recordInTarget(...));
        }
        if (!$pair->from()->isOver && $pair->from()->cursor === 0) {
            $this->orGiveUp($this->checkTarget(...));
        }
    }

    /** Runs $do. If that refuses the move, removes the records. */
    private function orGiveUp(callable $do): void
    {
        try {
            $do();
        } catch (Stop $e) {
            if ($e->getCode() === ExitCode::CONFIG) {
                $this->removeRecords();
            }
            throw $e;
        }
    }

    private function removeRecords(): void
    {
        try {
            $this->pair->from === null || $this->pair->putFrom(null);
            $this->pair->putTo(null);
        } catch (Stop) {
            // Another run has taken over the move and its records.
        }
    }

    private function recordInSource(): void
    {
        $pair = $this->pair;
        $pair->to = new Record(bin2hex(random_bytes(16)), $pair->target->name);
        $pair->source->alone(fn () => $this->replace(
            $pair->source,
            Record::TO,
            $pair->to,
            $this->seenTo
        ));
        if ($pair->target->record(Record::TO)?->id === $pair->to->id) {
            $pair->putTo(null);
            throw Stop::config('source and target are the same table of the same database');
        }
    }

    /** Writes a record, unless another run has replaced the one that look() found. */
    private function replace(Store $store, string $key, Record $record, string $seen): void
    {
        if (($store->hold($key)->id ?? '') !== $seen) {
            throw Pair::takenOver();
        }
        $store->put($key, $record);
    }

    private function recordInTarget(): void
    {
        $pair = $this->pair;
        $next = max($pair->source->findNextId(), $pair->target->findNextId());
        if ($next > self::LAST) {
            throw Stop::config("the next id would be $next, and ids above 10^17 cannot be moved: "
                . 'delete the mails with such ids, and set the counter back (AUTOINCREMENT, '
                . 'sequence)');
        }
        $gaps = intdiv($next + intdiv($next, 10) + self::GAP, self::GAP) + 1;
        $from = new Record(
            (string) $pair->to?->id,
            $pair->source->name,
            Pair::run(),
            false,
            0,
            $gaps * self::GAP
        );
        $pair->target->alone(function () use ($pair, $from): void {
            $this->replace($pair->target, Record::FROM, $from, $this->seenFrom);
            if ($pair->target->record(Record::TO) !== null) {
                History::clear($pair->target); // it was moved away, and its history with it
                (new Campaigns($pair->source, $pair->target))->drop();
                $pair->target->put(Record::TO, null);
            }
            $this->checkEmpty();
            $pair->target->beginIds($from->base);
        }, true);
        $pair->from = $from;
    }

    /**
     * Checks once more that the target has no mail below its own ids: an insert may have got a low
     * id just before beginIds(), and have stored its row after the first check.
     */
    private function checkTarget(): void
    {
        $this->pair->target->transaction(
            fn () => $this->checkMail($this->pair->from()->base - 1),
            true
        );
    }

    /**
     * Waits until all mail that was claimed before the pause is settled or recovered, and no
     * transaction is open that can have read the settings before the pause.
     */
    public function drain(): void
    {
        $source = $this->pair->source;
        $begun = $source->now();
        while (true) {
            $source->queue->recoverStuckSending();
            $sending = (int) $source->value("SELECT count(*) FROM $source->jobs "
                . "WHERE status = 'sending' AND locked_until > 0");
            if ($sending === 0 && !$this->hasOlder($begun + 1)) {
                return;
            }
            if ($source->now() - $begun >= $this->pair->timeout) {
                throw $this->pair->busy($sending > 0);
            }
            $this->pair->tell('waiting', 0, $sending);
            $this->pair->target->now(); // a server ends sessions that idle
            usleep(self::LOOK_US);
        }
    }

    /**
     * Whether a transaction that began before $second is open. Only PostgreSQL is asked: on the
     * other databases locks make that impossible.
     */
    private function hasOlder(int $second): bool
    {
        return $this->pair->source->kind === 'pgsql' && $this->pair->source->value(
            'SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datname = current_database() '
            . "AND pid <> pg_backend_pid() AND usename IS NOT NULL AND state <> 'idle' "
            . "AND xact_start < to_timestamp($second)"
        ) !== '0';
    }
}
