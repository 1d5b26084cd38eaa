<?php

declare(strict_types=1);

namespace MailQueue\Cli\Move;

use MailQueue;
use MailQueue\Cli\Adopt\Names;
use MailQueue\Cli\Stop;
use MailQueue\Internal;

/** Copies and compares ranges of ids. Each transaction stores rows and the cursor after them. */
final class Copying
{
    /** The report's checksum includes the target's rows up to this id. */
    private int $summed = PHP_INT_MAX;

    public function __construct(private readonly Pair $pair)
    {
    }

    /** Copies from where the last transaction ended, up to an id or to the last row. */
    public function upTo(int $limit): void
    {
        $pair = $this->pair;
        while (true) {
            $from = $pair->from()->cursor;
            [$end] = $pair->sourceRows->piece($from, $limit);
            if ($end === $from) {
                return;
            }
            $this->write($from, $end, $end);
            $pair->tell('copying', $pair->report->copied, $pair->total);
        }
    }

    public function all(): void
    {
        $this->upTo($this->pair->from()->base - 1);
    }

    private function write(int $from, int $to, int $cursor): void
    {
        $pair = $this->pair;
        $record = $pair->from()->with(cursor: max($cursor, $pair->from()->cursor));
        $writer = $pair->target->transaction(function () use ($pair, $record, $from, $to): Writer {
            $pair->checkFrom();
            $writer = new Writer($pair, $this->summed);
            $writer->write($from, $to);
            if ($pair->from()->isOver) { // late mail has numbers of the source's own suppressions
                $pair->target->run("UPDATE {$pair->target->jobs} SET cleared = NULL "
                    . 'WHERE id > ? AND id <= ?', [$from, $to]);
            }
            if ($record->cursor > $pair->from()->cursor) {
                $pair->target->put(Record::FROM, $record);
            }
            return $writer;
        });
        $pair->from = $record;
        $pair->report->copied += $writer->rows;
        $pair->report->sum($writer->sum);
    }

    /** Compares all rows and bodies, and makes the target's equal to the source's. */
    public function compare(): void
    {
        $pair = $this->pair;
        $limit = $pair->from()->base - 1;
        $pair->report->reset();
        for ($from = $done = 0; $from < $limit; $from = $to) {
            [$end, $hasMore] = $pair->sourceRows->piece($from, $limit);
            $to = $hasMore ? $end : $limit;
            [$source, $counts] = $pair->sourceRows->hashes($from, $to, true);
            [$target] = $pair->targetRows->hashes($from, $to, true);
            $this->summed = $to;
            $pair->report->sum(...array_values($target));
            $this->repair($source, $target);
            $pair->report->count($counts);
            $done += count($source);
            $pair->tell('verifying', $done, $pair->total);
        }
        $this->summed = PHP_INT_MAX;
    }

    /**
     * Reads the target's rows, without bodies, before the source is locked.
     *
     * @return list<array{int, int, string}> ranges of ids, each with a hash of its rows
     */
    public function knowTarget(): array
    {
        $pages = [];
        $limit = $this->pair->from()->base - 1;
        for ($from = 0; $from < $limit; $from = $to) {
            $to = $this->pair->sourceRows->pageEnd($from, $limit);
            [$hashes] = $this->pair->targetRows->hashes($from, $to, false);
            $pages[] = [$from, $to, self::digest($hashes)];
        }
        return $pages;
    }

    /**
     * Compares once more without the bodies, which never change, while the source is locked.
     *
     * @param list<array{int, int, string}> $pages
     * @param int $last the last id of the move
     */
    public function compareLocked(array $pages, int $last): void
    {
        $pair = $this->pair;
        $pair->report->counts = array_map(static fn (): int => 0, $pair->report->counts);
        foreach ($pages as [$from, $to, $known]) {
            [$source, $counts] = $pair->sourceRows->hashes($from, min($to, $last), false);
            if (self::digest($source) !== $known) {
                $this->repair($source, $pair->targetRows->hashes($from, $to, false)[0]);
            }
            $pair->seen += array_fill_keys(array_keys($source), true);
            $pair->report->count($counts);
        }
        if ($pair->report->counts['sending'] > 0) {
            throw $pair->busy(true);
        }
    }

    /** @param array<int, string> $hashes */
    private static function digest(array $hashes): string
    {
        $text = '';
        foreach ($hashes as $id => $hash) {
            $text .= "$id:$hash";
        }
        return hash('sha256', $text, true);
    }

    /**
     * @param array<int, string> $source hashes by id
     * @param array<int, string> $target
     */
    private function repair(array $source, array $target): void
    {
        $ids = array_keys($source + $target);
        sort($ids);
        $lastThere = array_key_last($target) ?? 0;
        foreach ($ids as $id) {
            if ($id > $lastThere) {
                // The target has no row from here on: write the rest in one transaction.
                $last = (int) array_key_last($source);
                $this->write($id - 1, $last, $last);
                return;
            }
            if (($source[$id] ?? null) !== ($target[$id] ?? null)) {
                $this->write($id - 1, $id, 0);
            }
        }
    }

    /** Copies most of the campaigns' recipients before the source is locked. */
    public function campaigns(): void
    {
        $pair = $this->pair;
        $pair->target->transaction(static function () use ($pair): void {
            $pair->checkFrom();
            (new Campaigns($pair->source, $pair->target))->copy();
        });
    }

    /** Copies the settings and what the limits count, within a transaction of the source. */
    public function settings(): void
    {
        $pair = $this->pair;
        $pair->target->transaction(function () use ($pair): void {
            $pair->checkFrom();
            (new Campaigns($pair->source, $pair->target))->copy();
            $own = (new Suppressions($pair->source, $pair->target))->copy($pair->from()->base);
            $newest = (int) $pair->target->queue->config('mailSuppressed');
            foreach (MailQueue::configKeys() as $key => $about) {
                // Each database has its own version of the tables, and its own records.
                if (!in_array($key, [Names::VERSION, Names::KEY, Record::TO, Record::FROM], true)) {
                    $this->setting($key, $about['internal']);
                }
            }
            if ($newest > (int) $pair->target->queue->config('mailSuppressed')) {
                // Other job tables of this config table go on counting.
                $pair->target->queue->setConfig('mailSuppressed', (string) $newest);
            }
            $pair->target->run("DELETE FROM {$pair->target->spent}");
            $rows = $pair->source->all("SELECT at, ABS(n) FROM {$pair->source->spent}");
            foreach ($rows as [$at, $n]) {
                $pair->target->run(
                    "INSERT INTO {$pair->target->spent} (at, n) VALUES (?, ?)",
                    [(int) $at, (int) $n]
                );
            }
            $pair->target->run("DELETE FROM {$pair->target->windows}");
            $rows = $pair->source->all("SELECT scope, at, ABS(n) FROM {$pair->source->windows}");
            foreach ($rows as [$scope, $at, $n]) {
                $pair->target->run(
                    "INSERT INTO {$pair->target->windows} (scope, at, n) VALUES (?, ?, ?)",
                    [$scope, (int) $at, (int) $n]
                );
            }
            $own === [] || Internal::suppressMany($pair->target->queue, $own); // by the new key
        });
    }

    private function setting(string $key, bool $isInternal): void
    {
        $report = $this->pair->report;
        $from = $this->pair->source->queue->config($key);
        $to = $this->pair->target->queue->config($key);
        if ($from !== null && $from !== $to) {
            try {
                $this->pair->target->queue->setConfig($key, $from);
            } catch (\ValueError $e) {
                throw Stop::config("the source's setting {$e->getMessage()}. Correct it there, and "
                    . 'repeat the command');
            }
        }
        if ($to !== null && $from !== $to && !$isInternal) {
            $from === null ? $report->keptKeys[] = $key : $report->changedKeys[] = $key;
        }
    }
}
