<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

use MailQueue\Internal;

/** Turns a row of the old table into one of the queue's. */
final class Row
{
    private const GIVEN_UP_S = 30 * 86_400; // a failed mail due later than this was given up
    private const NUMBERS = ['priority', 'attempts', 'max_attempts', 'uncertain'];
    private const ZERO = ['priority', 'attempts', 'uncertain'];
    private const MOST = 2_147_483_647; // what the columns hold on servers
    public const ID_MAX = 10 ** 17; // above it, ids could run out
    public const TIMES = ['next_attempt_at', 'expires_at', 'locked_until', 'last_attempt_at',
        'created_at'];
    private const TEXTS = ['last_error', 'parked_for', 'message_id', 'envelope_from', 'recipients',
        'refused', 'fields', 'subject'];
    private const SUBJECT = '/\A[^\p{Cc}]{0,255}\z/u';

    /** @var array<string, string> columns of ours that no other program fills, and their types */
    private readonly array $ours;

    public function __construct(
        private readonly Shape $shape,
        private readonly string $reference,
        private readonly int $now,
    ) {
        $converted = ['id', '{r}', 'mail_type', 'status', 'locked_by', ...self::NUMBERS,
            ...self::TIMES, ...self::TEXTS];
        $this->ours = array_diff_key(Internal::columns(null), array_flip($converted));
    }

    /** @return list<string> the queue's columns, in lower case */
    public static function names(string $reference): array
    {
        return [strtolower($reference), ...array_keys(Internal::columns(null))];
    }

    /**
     * Converts a row. Returns null if it was sent: then it stays in the old table.
     *
     * @param array<string, mixed> $row
     * @return array<string, int|string|null>|null
     * @throws Unfit
     */
    public function convert(array $row): ?array
    {
        $row = $this->shape->read(array_change_key_case($row));
        $state = $this->shape->state($row['status'] ?? null)
            ?? throw new Unfit('status', self::shown($row['status'] ?? null));
        if ($state === 'sent') {
            return null;
        }
        $new = ['id' => $this->id($row)] + $this->identity($row);
        foreach (self::NUMBERS as $name) {
            $value = Time::whole($row[$name] ?? null);
            $new[$name] = $value === false ? throw $this->unread($name, $row[$name], 'whole number')
                : $value ?? (in_array($name, self::ZERO, true) ? 0 : null);
        }
        $most = $new['max_attempts'];
        $new['max_attempts'] = $most > 0 ? $most : null; // 0: none is set
        foreach (self::TIMES as $name) {
            $value = Time::read($row[$name] ?? null);
            $new[$name] = $value === false ? throw $this->unread($name, $row[$name], 'time '
                . '(YYYY-MM-DD HH:MM:SS in UTC, or seconds since 1970)') : $value;
        }
        foreach (self::TEXTS as $name) {
            $text = Time::text($row[$name] ?? null);
            $new[$name] = $text === '' ? null : $text;
        }
        $this->checkMeaning($new, $row);
        $new['expires_at'] = $new['expires_at'] > 0 ? $new['expires_at'] : null; // 0: never
        $isTimed = array_key_exists('next_attempt_at', $row) || $this->shape !== Shape::Jobs;
        return $this->status($new, $state, $isTimed, Time::text($row['locked_by'] ?? null) !== '');
    }

    /**
     * Checks columns that an application may have under the same name, but with another meaning.
     *
     * @param array<string, int|string|null> $new
     * @param array<string, mixed> $row
     */
    private function checkMeaning(array $new, array $row): void
    {
        $json = static fn (string $name): mixed => json_decode((string) $new[$name], true);
        $list = $json('recipients');
        $isList = is_array($list) && array_is_list($list)
            && $list === array_filter($list, is_string(...));
        $id = '/\A<[!-;=?-~]+@[!-;=?-~]+>\z/';
        $reasons = ['refused', 'exhausted', 'uncertain', 'hold', 'unreadable', 'hours',
            'suppressed'];
        if (!preg_match(self::SUBJECT, (string) $new['subject'])) {
            throw $this->unread('subject', $row['subject'], 'line of at most 255 characters in '
                . 'UTF-8');
        }
        $isWrong = [
            'attempts' => $new['attempts'] < 0 || $new['attempts'] > self::MOST,
            'uncertain' => $new['uncertain'] < 0 || $new['uncertain'] > self::MOST,
            'recipients' => $new['recipients'] !== null && !$isList,
            'refused' => $new['refused'] !== null && !is_array($json('refused')),
            'fields' => $new['fields'] !== null && !is_array($json('fields')),
            'message_id' => !preg_match($id, (string) ($new['message_id'] ?? '<none@set>')),
            'parked_for' => !in_array($new['parked_for'], [null, ...$reasons], true),
        ];
        foreach ($this->ours as $name => $type) {
            $empty = ['', ...($type === 'text' ? [] : ['0'])];
            $isWrong[$name] = !in_array(Time::text($row[$name] ?? null), $empty, true);
        }
        foreach (array_keys(array_filter($isWrong)) as $name) {
            throw new Unfit($name, "column $name holds " . self::shown($row[$name]) . ', but the '
                . 'queue has a column of that name for another purpose. Rename the column');
        }
    }

    /** Whether a number can be an id: the queue needs room for the ids that follow. */
    public static function isId(mixed $id): bool
    {
        return is_int($id) && $id > 0 && $id <= self::ID_MAX;
    }

    /** @param array<string, mixed> $row */
    private function id(array $row): ?int
    {
        $id = Time::whole($row['id'] ?? null);
        if (!array_key_exists('id', $row)
            || ($this->shape !== Shape::Jobs && !self::isId($id))) {
            return null;
        }
        return self::isId($id) ? (int) $id
            : throw new Unfit('id', 'its id ' . self::shown($row['id']) . ' is not a whole number '
                . 'from 1 to 10^17. Correct it, or give the column another name');
    }

    /**
     * @param array<string, mixed> $row
     * @return array<string, string|null>
     */
    private function identity(array $row): array
    {
        if ($this->shape !== Shape::Jobs) {
            return [$this->reference => null, 'mail_type' => 'mail'];
        }
        $reference = $row[strtolower($this->reference)] ?? null;
        $type = is_scalar($row['mail_type'] ?? null) ? (string) $row['mail_type'] : '';
        return [
            $this->reference => $reference === null || $reference === '' ? null
                : (is_resource($reference) ? Time::text($reference) : (string) $reference),
            'mail_type' => $type !== '' ? $type : throw new Unfit(
                'mail_type',
                'it has no mail_type. Give it one, or delete it'
            ),
        ];
    }

    /**
     * Sets the status, its times and its lease. A mail in "sending" keeps that status, because only
     * the old program knows what became of the mail: when its lease ends, recovery treats it as
     * one that may have arrived. A waiting mail is not tried before its lease, if any, ends.
     *
     * @param array<string, int|string|null> $new
     * @return array<string, int|string|null>
     */
    private function status(array $new, string $state, bool $isTimed, bool $isLocked): array
    {
        [$next, $until] = [$new['next_attempt_at'], $new['locked_until']];
        $isGivenUp = $state === 'failed' && (($next === null && $isTimed)
            || $next > $this->now + self::GIVEN_UP_S
            // Outboxes leave the time of the last attempt there when they give up.
            || ($this->shape !== Shape::Jobs && $next < $this->now - self::GIVEN_UP_S));
        $waits = in_array($state, ['pending', 'failed'], true);
        if ($this->shape !== Shape::Jobs && $waits && $isLocked && $until === null) {
            $state = 'sending';
            $isGivenUp = false;
        }
        $isSending = $state === 'sending';
        return [
            'status' => $isGivenUp ? 'parked' : $state,
            'parked_for' => $isGivenUp ? 'exhausted'
                : ($state === 'parked' ? $new['parked_for'] ?? 'hold' : null),
            'next_attempt_at' => max(
                $next ?? $this->now,
                $waits && $until > $this->now ? $until : 0
            ),
            'locked_until' => $isSending ? max(1, $until ?? $this->now) : null,
            'locked_by' => $isSending ? bin2hex(random_bytes(16)) : null, // of no run
            'attempts' => max($new['attempts'], $isSending ? 1 : 0),
            'created_at' => $new['created_at']
                ?? ($next > 0 && $next < $this->now ? $next : $this->now),
            'message_id' => $new['message_id'] ?? '<' . bin2hex(random_bytes(16)) . '@localhost>',
        ] + $new;
    }

    private function unread(string $name, mixed $value, string $what): Unfit
    {
        return new Unfit($name, "column $name holds " . self::shown($value)
            . ", which is not a $what. Correct it");
    }

    private static function shown(mixed $value): string
    {
        return $value === null ? '"NULL"' : '"' . substr(Time::text($value), 0, 60) . '"';
    }
}
