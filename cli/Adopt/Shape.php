<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

/** The known kinds of tables, and how to read their columns and words. */
enum Shape: string
{
    case Jobs = 'mail_queue'; // reference, mail_type, status; a message is composed when it is sent
    case Messages = 'email_queues';
    case Outbox = 'mail_outbox';

    /** The columns that a job needs, in addition to the reference. */
    public const LEAST = ['mail_type', 'status'];

    /**
     * Column names of Messages and Outbox, keyed by our names. "message" is the text; "to", "cc"
     * and "bcc" are its recipients. Several kinds of programs have a table called mail_outbox.
     * These are the usual names of its columns; a table with other names is refused.
     */
    private const COLUMNS = [
        'message' => ['mail_body', 'message', 'raw_message', 'mime', 'body'],
        'to' => ['to', 'recipient', 'recipients', 'to_address'],
        'cc' => ['cc'],
        'bcc' => ['bcc'],
        'status' => ['status', 'state'],
        'attempts' => ['attempts', 'tries'],
        'max_attempts' => ['max_attempts', 'max_tries'],
        'next_attempt_at' => ['next_attempt_at', 'available_at', 'send_at', 'scheduled_at'],
        'expires_at' => ['expires_at', 'valid_until'],
        'last_attempt_at' => ['last_attempt_at', 'attempted_at'],
        'last_error' => ['last_error', 'error'],
        'locked_until' => ['locked_until'],
        'locked_by' => ['locked_by'],
        'priority' => ['priority'],
        'created_at' => ['created_at'],
    ];
    /** Of each, the table may have only one column: with several, nobody knows which one counts. */
    private const ONE_OF = ['message', 'to', 'status'];
    /** Columns of the message, or of the old program's work; they stay in the old table. */
    private const STAY = ['id', 'subject', 'config', 'from', 'sender', 'updated_at', 'sent_at'];

    private const WORDS = [
        'pending' => ['pending', 'queued', 'new', 'waiting', 'scheduled', 'retry', 'deferred'],
        'sending' => ['sending', 'dispatching', 'processing', 'in_progress', 'locked'],
        'failed' => ['failed', 'error'],
        'parked' => ['parked'],
        'held' => ['held'],
        'sent' => ['sent', 'delivered', 'done', 'completed', 'success'],
    ];
    private const STATES = ['pending', 'sending', 'failed', 'parked', 'held'];

    /** Returns our state for the old program's word, or "sent"; null if the word is not known. */
    public function state(mixed $word): ?string
    {
        $word = strtolower(Time::text($word));
        if ($this === self::Jobs) {
            return in_array($word, self::STATES, true) ? $word : null;
        }
        $word = trim((string) preg_replace('/\A\[[^\]]*\]\s*/', '', $word)); // "[x] PENDING"
        foreach (self::WORDS as $state => $words) {
            if (in_array($word, $words, true)) {
                return $state;
            }
        }
        return null;
    }

    /**
     * Chooses the columns to read, keyed by our names.
     *
     * @param list<string> $columns in lower case
     * @return array<string, string>
     */
    private function chosen(array $columns): array
    {
        $chosen = [];
        foreach (self::COLUMNS as $name => $spellings) {
            $there = array_values(array_intersect($spellings, $columns));
            $chosen += $there ? [$name => $there[0]] : [];
        }
        return $chosen;
    }

    /**
     * Returns a row with our names as its keys.
     *
     * @param array<string, mixed> $row with names in lower case
     * @return array<string, mixed>
     */
    public function read(array $row): array
    {
        if ($this === self::Jobs) {
            return $row;
        }
        $read = array_intersect_key($row, ['id' => 0]);
        foreach ($this->chosen(array_keys($row)) as $name => $column) {
            $read[$name] = $row[$column];
        }
        return $read;
    }

    /**
     * Lists the columns whose values stay in the old table.
     *
     * @param list<string> $columns all that are not the application's own, in lower case
     * @return list<string>
     */
    public function leaves(array $columns): array
    {
        return $this === self::Jobs ? []
            : array_values(array_diff($columns, ['id', ...$this->chosen($columns)]));
    }

    /**
     * Whether the column is the application's own, which is copied with the mail.
     *
     * @param list<string> $columns all, in lower case
     */
    public function isOwn(string $column, array $columns): bool
    {
        return $this === self::Jobs
            || !in_array($column, [...self::STAY, ...$this->chosen($columns)], true);
    }

    /**
     * Lists, for an error text, what the table lacks to have this shape.
     *
     * @param list<string> $columns in lower case
     * @return list<string>
     */
    public function lacks(array $columns, string $reference): array
    {
        if ($this === self::Jobs) {
            return array_values(array_diff([strtolower($reference), ...self::LEAST], $columns));
        }
        $lacks = [];
        foreach (['message', 'status'] as $name) {
            if (!array_intersect(self::COLUMNS[$name], $columns)) {
                $lacks[] = "a $name (a column " . implode(' or ', self::COLUMNS[$name]) . ')';
            }
        }
        return $lacks;
    }

    /**
     * Finds columns with the same meaning: only a person knows which one counts.
     *
     * @param list<string> $columns in lower case
     * @return list<string>
     */
    public function doubtful(array $columns): array
    {
        $twice = array_diff_key($columns, array_unique($columns)); // "Status" and status
        if ($twice) {
            return array_values($twice);
        }
        foreach ($this === self::Jobs ? [] : self::ONE_OF as $name) {
            $there = array_values(array_intersect(self::COLUMNS[$name], $columns));
            if (count($there) > 1) {
                return $there;
            }
        }
        return [];
    }
}
