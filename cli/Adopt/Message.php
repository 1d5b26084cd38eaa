<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue;
use MailQueue\MessageException;

/**
 * A complete message of the old table, which the extension itself stores. Its recipients are those
 * that the row names (to, cc, bcc), because some programs have a row for each recipient: with the
 * recipients of the headers, each row would go to all. Those count only if the row names nobody.
 */
final class Message
{
    private const SERIALIZED = '/\A\s*(?:[aOC]:\d+:|s:\d+:"|[bid]:[-\d.E+]+;|N;)/';

    /**
     * @param list<string> $recipients empty: use those of the headers
     * @param bool $namesOthers whether the headers name somebody to whom this row is not sent
     */
    private function __construct(
        private readonly string $text,
        private readonly array $recipients,
        public readonly bool $namesOthers,
    ) {
    }

    /**
     * Reads the message of a row, or returns the reason why the row stays in the old table.
     *
     * @param array<string, mixed> $row as Shape::read() returns it
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
        $recipients = [];
        foreach (['to', 'cc', 'bcc'] as $name) {
            $found = self::addresses(Time::text($row[$name] ?? null));
            if ($found === null) {
                return "its column for $name holds no list of addresses";
            }
            $recipients = [...$recipients, ...$found];
        }
        try {
            ['recipients' => $named] = MailQueue::envelope($text);
        } catch (MessageException) {
            $named = [];
        }
        $lower = static fn (array $list): array => array_map(strtolower(...), $list);
        $others = $recipients ? array_diff($lower($named), $lower($recipients)) : [];
        return new self($text, array_values(array_unique($recipients)), $others !== []);
    }

    /** @return list<string>|null read like a header, with names and groups; null: unreadable */
    private static function addresses(string $text): ?array
    {
        if ($text === '') {
            return [];
        }
        $list = json_decode($text, true);
        if (is_array($list)) {
            if (!array_is_list($list) || $list !== array_filter($list, is_string(...))) {
                return null; // to leave out an entry would be to lose a recipient
            }
            $text = implode(', ', $list);
        }
        foreach ([$text, strtr($text, ';', ',')] as $try) {
            try {
                $line = preg_match('/[\r\n]/', $try) ? '' : $try;
                return MailQueue::envelope("To: $line\r\n\r\n")['recipients'] ?: null;
            } catch (MessageException) {
                continue;
            }
        }
        return null;
    }

    /** Stores the message. Returns its id, or the reason why it cannot be sent. */
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
