<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue;
use MailQueue\MessageException;

/** A complete message of the old table; the extension itself stores it. */
final class Message
{
    private const SERIALIZED = '/\A\s*(?:[aOC]:\d+:|s:\d+:"|[bid]:[-\d.E+]+;|N;)/';

    /** @param list<string> $recipients beside those that its headers name */
    private function __construct(
        private readonly string $text,
        private readonly array $recipients,
    ) {
    }

    /**
     * A text instead of a message says why the row stays in the old table.
     *
     * @param array<string, mixed> $row by the shape's names
     */
    public static function of(array $row): self|string
    {
        $value = $row['message'] ?? '';
        $text = is_resource($value) ? (string) stream_get_contents($value, -1, 0) : (string) $value;
        if (preg_match(self::SERIALIZED, $text)) {
            return 'serialized PHP, which is not read: only its own program can send it';
        }
        if (!preg_match('/\A[!-9;-~]+:/', $text)) {
            return 'not a complete message, which begins with its headers';
        }
        try {
            ['recipients' => $named] = MailQueue::envelope($text);
        } catch (MessageException) {
            $named = [];
        }
        $to = is_scalar($row['to'] ?? null) ? (string) $row['to'] : '';
        preg_match_all('/[^\s<>,;"]+@[^\s<>,;"]+/', $to, $match);
        $known = array_map(strtolower(...), $named);
        $isNew = static fn (string $one): bool => !in_array(strtolower($one), $known, true);
        return new self($text, array_values(array_unique([
            ...$named, ...array_filter($match[0], $isNew)])));
    }

    /** The id, or why it cannot be sent. */
    public function store(MailQueue $queue): int|string
    {
        try {
            $id = $queue->enqueue($this->text, recipients: $this->recipients ?: null);
            return $id ?? 'stored already';
        } catch (MessageException | \ValueError $e) {
            return $e->getMessage();
        }
    }
}
