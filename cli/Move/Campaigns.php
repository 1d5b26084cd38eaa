<?php

declare(strict_types=1);

namespace MailQueue\Cli\Move;

use MailQueue\Cli\Stop;
use PDO;
use PDOException;

/** Copies campaigns, their messages and their recipients, which keep their ids. */
final class Campaigns
{
    private const ROWS_READ = 1000;
    private const ROWS_WRITTEN = 100;
    private const IDS = 1 << 40; // ids of recipients that each campaign has
    private const CAMPAIGN = ['id', 'name', 'state', 'mail_type', 'priority', 'max_attempts',
        'message_id', 'envelope_from', 'relay', 'scope', 'list_url', 'start_at', 'created_at',
        'started_at', 'finished_at', 'on_finished', 'last_id', 'fed_to', 'recipients', 'fed',
        'sent', 'suppressed', 'uncertain'];
    // Without `cleared`: the target looks them up again, because the campaign may get another list.
    private const RECIPIENT = ['id', 'campaign_id', 'hash', 'address', 'name', 'fields'];

    public function __construct(
        private readonly Store $source,
        private readonly Store $target,
    ) {
    }

    /**
     * Refuses a move into a database with other campaigns: they would have the same ids. Those of a
     * queue that was moved away are copies.
     */
    public function check(): void
    {
        $target = $this->target;
        $count = (int) $target->value("SELECT count(*) FROM $target->campaigns");
        if ($count > 0 && $target->record(Record::TO) === null) {
            throw Stop::config("the target has campaigns of its own already ($count in "
                . "$target->name): move into an empty queue");
        }
    }

    /** Copies within a transaction of the target; what is there already only if it can change. */
    public function copy(): void
    {
        [$from, $to] = [$this->source, $this->target];
        $to->run("DELETE FROM $to->campaigns");
        $to->run("DELETE FROM $to->bodies WHERE id < 0");
        $this->rows($from->campaigns, $to->campaigns, self::CAMPAIGN, 0, PHP_INT_MAX);
        foreach ($from->all("SELECT id FROM $from->campaigns ORDER BY id") as [$id]) {
            $id = (int) self::text($id);
            [$first, $end] = [$id * self::IDS, ($id + 1) * self::IDS];
            $there = $to->value("SELECT max(id) FROM $to->recipients WHERE id > $first "
                . "AND id < $end");
            $there = $this->areSame($first, (int) ($there ?? $first)) ? $there : null;
            $this->rows(
                $from->recipients,
                $to->recipients,
                self::RECIPIENT,
                (int) ($there ?? $first),
                $end
            );
            $this->message(-$id);
        }
        $this->beginIds();
    }

    /** Whether all recipients up to an id are there still; otherwise deletes the target's. */
    private function areSame(int $first, int $last): bool
    {
        $range = "id > $first AND id <= $last";
        $count = static fn (Store $store): ?string
            => $store->value("SELECT count(*) FROM $store->recipients WHERE $range");
        $same = $count($this->source) === $count($this->target);
        $same || $this->target->run("DELETE FROM {$this->target->recipients} WHERE $range");
        return $same;
    }

    /** Deletes the copies from the target. */
    public function drop(): void
    {
        $to = $this->target;
        $to->run("DELETE FROM $to->recipients");
        $to->run("DELETE FROM $to->campaigns");
        $to->run("DELETE FROM $to->bodies WHERE id < 0");
    }

    private function message(int $id): void
    {
        [$from, $to] = [$this->source, $this->target];
        foreach ($from->all("SELECT content FROM $from->bodies WHERE id = $id") as [$content]) {
            $octets = is_resource($content) ? stream_get_contents($content) : $content;
            $insert = $to->prepare("INSERT INTO $to->bodies (id, content) VALUES ($id, ?)");
            $insert->bindValue(1, $octets, PDO::PARAM_LOB);
            try {
                $insert->execute();
            } catch (PDOException $e) {
                throw $to->failed($e);
            }
        }
    }

    /**
     * Copies rows with ids above $last and below $end.
     *
     * @param list<string> $columns
     */
    private function rows(string $from, string $to, array $columns, int $last, int $end): void
    {
        $list = implode(', ', $columns);
        do {
            $rows = $this->source->all("SELECT $list FROM $from WHERE id > $last AND id < $end "
                . 'ORDER BY id LIMIT ' . self::ROWS_READ);
            foreach (array_chunk($rows, self::ROWS_WRITTEN) as $some) {
                $this->write($to, $list, $some);
            }
            $last = $rows === [] ? $end : (int) self::text($rows[count($rows) - 1][0]);
        } while ($rows !== []);
    }

    /** @param list<list<mixed>> $rows */
    private function write(string $to, string $list, array $rows): void
    {
        $values = [];
        foreach ($rows as $row) {
            foreach ($row as $value) {
                $values[] = $value === null ? null : self::text($value);
            }
        }
        $marks = '(' . implode(', ', array_fill(0, count($rows[0]), '?')) . ')';
        $marks = implode(', ', array_fill(0, count($rows), $marks));
        $this->target->run("INSERT INTO $to ($list) VALUES $marks", $values);
    }

    /** PostgreSQL's next campaign must not get an id that was copied. */
    private function beginIds(): void
    {
        $to = $this->target;
        if ($to->kind === 'pgsql') {
            $to->value("SELECT setval(pg_get_serial_sequence('$to->campaigns', 'id'), "
                . "(SELECT max(id) FROM $to->campaigns) + 1, false) "
                . "WHERE EXISTS (SELECT 1 FROM $to->campaigns)");
        }
    }

    private static function text(mixed $value): string
    {
        return is_resource($value) ? (string) stream_get_contents($value)
            : (is_scalar($value) ? (string) $value : '');
    }
}
