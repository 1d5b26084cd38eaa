<?php

declare(strict_types=1);

namespace MailQueue\Cli\Move;

use MailQueue\Cli\Stop;
use MailQueue\Internal;
use PDO;
use PDOException;
use PDOStatement;

/**
 * Makes the target's rows of a range of ids equal to the source's, and reads them back, within a
 * transaction of the target. Of the target's own mail it only deletes what clearPair() says.
 */
final class Writer
{
    public int $rows = 0;
    public string $sum; // XOR of the hashes of the rows written and replaced
    private readonly Rows $from;
    private readonly Rows $to;
    private readonly Store $target;
    private readonly PDOStatement $insert;
    private readonly PDOStatement $body;
    private readonly int $now;

    /** @param int $summed the report's checksum includes the target's rows up to this id */
    public function __construct(
        private readonly Pair $pair,
        private readonly int $summed,
    ) {
        $this->sum = str_repeat("\0", 32);
        $this->from = $pair->sourceRows;
        $this->to = $pair->targetRows;
        $this->target = $target = $pair->target;
        $this->now = $target->now();
        $names = array_map($target->quoted(...), array_keys($this->to->columns));
        $marks = implode(', ', array_fill(0, count($names), '?'));
        $this->insert = $target->prepare("INSERT INTO $target->jobs ("
            . implode(', ', $names) . ") VALUES ($marks)");
        $this->body = $target->prepare("INSERT INTO $target->bodies (id, content) "
            . 'VALUES (?, ?)');
    }

    /** Writes the rows with ids above $from up to $to. */
    public function write(int $from, int $to): void
    {
        $this->clear($from, $to, $this->pair->from()->cursor);
        $sent = [];
        foreach ($this->from->read($from, $to, true) as $id => $row) {
            if ($this->from->of($row, 'status') === 'sending') {
                throw $this->pair->busy(true);
            }
            $sent[$id] = Rows::hash($row);
            $this->check($id, $row);
            $this->clearPair($id, $row, $from, $to);
            $this->store($id, $row);
        }
        [$stored] = $this->to->hashes($from, $to, true);
        foreach ($sent as $id => $hash) {
            if (($stored[$id] ?? null) !== $hash) {
                throw $this->difference($id);
            }
            $this->sum ^= $hash;
        }
        $this->rows = count($sent);
        $this->pair->seen += array_fill_keys(array_keys($sent), true);
    }

    /** Deletes the target's rows of a range; refuses ids above $own, which are not the move's. */
    private function clear(int $from, int $to, int $own): void
    {
        [$old] = $this->to->hashes($from, $to, true);
        foreach ($old as $id => $hash) {
            if ($id > $own) {
                throw Stop::config("the target has mail $id, which this move did not write: delete "
                    . 'it there, or cancel the move with --abort');
            }
            $id <= $this->summed && $this->sum ^= $hash;
        }
        $this->target->delete(array_keys($old));
        // Bodies without a job, if somebody has deleted rows in the target.
        $range = "id > $from AND id <= $to";
        $this->target->run("DELETE FROM {$this->target->bodies} WHERE $range AND id NOT IN "
            . "(SELECT id FROM {$this->target->jobs} WHERE $range)");
    }

    /**
     * Makes room for a row whose reference and type the target already has. A copy there is out of
     * date: the source now has the pair under a newer id. The target's own mail is deleted if it is
     * parked or has expired, as enqueue() does; otherwise a person must decide.
     *
     * @param list<?string> $row
     */
    private function clearPair(int $id, array $row, int $from, int $to): void
    {
        $reference = $this->from->of($row, $this->from->reference);
        $type = $this->from->of($row, 'mail_type');
        if ($reference === null) {
            return;
        }
        $there = Internal::select($this->target->queue, 'SELECT id, CASE WHEN {>} THEN 1 ELSE 0 '
            . 'END FROM {t} WHERE {r} = ?2 AND mail_type = ?3', [$this->now, $reference, $type]);
        if ($there === []) {
            return;
        }
        $there = $there[0];
        $other = (int) $there[0];
        $record = $this->pair->from();
        $isCopy = !$record->isOver && $other > 0 && $other < $record->base
            && ($other <= $record->cursor || ($other > $from && $other <= $to));
        if ($isCopy) {
            $this->clear($other - 1, $other, $other);
        } elseif ((int) $there[1] === 1) {
            $this->target->delete([$other]);
        } else {
            throw Stop::config("mail $id ($reference, $type) is queued in the target already, as "
                . "mail $other: delete one of them and repeat the command");
        }
    }

    /**
     * Checks that the target's columns can hold the row.
     *
     * @param list<?string> $row
     */
    private function check(int $id, array $row): void
    {
        $isFile = $this->target->kind === 'sqlite';
        foreach ($this->from->columns as $name => $type) {
            $value = $this->from->of($row, $name);
            if ($value === null) {
                continue;
            }
            $isText = $type === 'text';
            $isUtf8 = $isText && !str_contains($value, "\0") && preg_match('//u', $value);
            $why = match (true) {
                !$isText && (string) (int) $value !== $value => 'holds no integer',
                $type === 'integer' && !$isFile && abs((int) $value) > 2_147_483_647
                    => 'holds a number that is too large there',
                $isText && !$isFile && !$isUtf8 => 'holds octets that are not UTF-8 text',
                default => null,
            };
            if ($why !== null) {
                throw Stop::config("mail $id cannot be moved: its column $name $why. Correct the "
                    . 'row in the source, or delete the mail, and repeat the command');
            }
        }
    }

    /** @param list<?string> $row */
    private function store(int $id, array $row): void
    {
        $i = 0;
        try {
            foreach ($this->from->columns as $type) {
                $value = $row[$i++];
                $value = $value === null || $type === 'text' ? $value : (int) $value;
                $this->insert->bindValue($i, $value, Store::type($value));
            }
            $this->insert->execute();
            if ($row[$i] !== null) {
                $this->body->bindValue(1, $id, PDO::PARAM_INT);
                $this->body->bindValue(2, $row[$i], PDO::PARAM_LOB);
                $this->body->execute();
            }
        } catch (PDOException $e) {
            $failed = $this->target->failed($e);
            throw new Stop(
                "mail $id could not be stored: {$failed->getMessage()}",
                $failed->getCode()
            );
        }
    }

    /** The error for a row that was not stored as it is: names the column that differs. */
    private function difference(int $id): Stop
    {
        [$one, $two] = array_map(static function (Rows $rows) use ($id): array {
            foreach ($rows->read($id - 1, $id, true) as $row) {
                return $row;
            }
            return [];
        }, [$this->from, $this->to]);
        $names = [...array_keys($this->from->columns), 'content'];
        $name = 'id'; // for a missing row
        foreach ($two as $i => $value) {
            if ($value !== $one[$i]) {
                $name = $names[$i];
                break;
            }
        }
        return Stop::config("mail $id is not read back as it was stored: its column $name differs "
            . '(too long there, or cut). Correct the row in the source, or delete the mail');
    }
}
