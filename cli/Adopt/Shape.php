<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

/** The known kinds of tables, and how to read their columns and words. */
enum Shape: string
{
    case Jobs = 'mail_queue'; // reference, mail_type, status: composed when it is sent
    case Messages = 'email_queues';
    case Outbox = 'mail_outbox';

    /** The columns that a job needs, in addition to the reference. */
    public const LEAST = ['mail_type', 'status'];

    /** Columns of the other two, by ours; "message" and "to" are its text and recipients. */
    private const COLUMNS = [
        'message' => ['mail_body', 'message', 'raw_message', 'mime', 'body'],
        'to' => ['to', 'recipient', 'recipients', 'to_address'],
        'status' => ['status', 'state'],
        'attempts' => ['attempts'],
        'next_attempt_at' => ['next_attempt_at', 'available_at', 'send_at', 'scheduled_at'],
        'last_attempt_at' => ['last_attempt_at', 'attempted_at'],
        'last_error' => ['last_error', 'error'],
        'locked_until' => ['locked_until'],
        'locked_by' => ['locked_by'],
        'priority' => ['priority'],
        'created_at' => ['created_at'],
    ];
    /** Part of the message, or of how the old program sent it: they stay in the old table. */
    private const STAY = ['id', 'subject', 'config', 'from', 'sender', 'cc', 'bcc', 'updated_at',
        'sent_at'];

    private const WORDS = [
        'pending' => ['pending', 'queued', 'new', 'waiting', 'scheduled', 'retry', 'deferred'],
        'sending' => ['sending', 'dispatching', 'processing', 'in_progress', 'locked'],
        'failed' => ['failed', 'error'],
        'parked' => ['parked'],
        'held' => ['held'],
        'sent' => ['sent', 'delivered', 'done', 'completed', 'success'],
    ];
    private const STATES = ['pending', 'sending', 'failed', 'parked', 'held'];

    /** A state of ours, or "sent"; null: the word is not known. */
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
     * A row by our names.
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
        foreach (self::COLUMNS as $name => $spellings) {
            foreach ($spellings as $spelling) {
                if (array_key_exists($spelling, $row)) {
                    $read[$name] = $row[$spelling];
                    break;
                }
            }
        }
        return $read;
    }

    /** Whether the column is the application's own, and goes with the mail. */
    public function isOwn(string $column): bool
    {
        return $this === self::Jobs
            || !in_array(
                $column,
                [...self::STAY, ...array_merge(...array_values(self::COLUMNS))],
                true
            );
    }

    /**
     * The columns that the table lacks for this shape.
     *
     * @param list<string> $columns in lower case
     * @return list<string>
     */
    public function lacks(array $columns, string $reference): array
    {
        if ($this === self::Jobs) {
            return array_values(array_diff([strtolower($reference), ...self::LEAST], $columns));
        }
        $lacks = static fn (string $name): bool
            => !array_intersect(self::COLUMNS[$name], $columns);
        return array_values(array_filter(['message', 'status'], $lacks));
    }
}
