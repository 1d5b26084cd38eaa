<?php

declare(strict_types=1);

namespace MailQueue\Cli\Move;

use MailQueue;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/**
 * The record of a move for one job table. The config table holds it in a JSON object keyed by table
 * name, as "ID.RUN STATE CURSOR BASE NAME". src/queue/config/settings.c reads it at each claim.
 */
final class Record
{
    public const TO = 'mailQueueMovedTo'; // in the source
    public const FROM = 'mailQueueMovedFrom'; // in the target
    private const STATES = [self::TO => ['moving', 'moved'], self::FROM => ['copying', 'copied']];

    /**
     * @param string $id of the move: the same in source and target
     * @param string $run of the command that works on the move; the next command replaces it
     * @param int $cursor in the target: rows up to this id were copied
     * @param int $base in the target: its own ids begin here
     * @param string $other the name of the other database, without a password
     */
    public function __construct(
        public readonly string $id,
        public readonly string $other,
        public readonly string $run = '-',
        public readonly bool $isOver = false,
        public readonly int $cursor = 0,
        public readonly int $base = 0,
    ) {
    }

    public function with(?string $run = null, ?int $cursor = null, bool $isOver = false): self
    {
        return new self(
            $this->id,
            $this->other,
            $run ?? $this->run,
            $isOver || $this->isOver,
            $cursor ?? $this->cursor,
            $this->base
        );
    }

    public static function find(MailQueue $queue, string $key, string $table): ?self
    {
        return self::in($queue->config($key) ?? '', $key, $table);
    }

    /** Reads a table's record from the key's value. */
    public static function in(string $value, string $key, string $table): ?self
    {
        $found = array_change_key_case(self::all($value, $key))[strtolower($table)] ?? null;
        if ($found === null) {
            return null;
        }
        $states = implode('|', self::STATES[$key]);
        $form = "/\\A([0-9a-f]{32})\\.([-0-9a-f]{1,8}) ($states) (\\d{1,18}) (\\d{1,18}) (.*)\\z/s";
        if (!is_string($found) || !preg_match($form, $found, $part)) {
            throw self::unreadable($key);
        }
        $isOver = $part[3] === self::STATES[$key][1];
        return new self($part[1], $part[6], $part[2], $isOver, (int) $part[4], (int) $part[5]);
    }

    /** Writes a table's record, or removes it; those of other tables stay. */
    public static function put(MailQueue $queue, string $key, string $table, ?self $record): void
    {
        $all = self::others($queue, $key, $table);
        if ($record !== null) {
            $all[$table] = "$record->id.$record->run " . self::STATES[$key][(int) $record->isOver]
                . " $record->cursor $record->base " . Terminal::safe($record->other);
        }
        $queue->setConfig($key, $all ? Terminal::json($all, 0) : null);
    }

    public static function isKey(string $key): bool
    {
        return isset(self::STATES[$key]);
    }

    /**
     * @return ?string a key's value without a table's record; null: nothing is left, or the value
     *     is unreadable
     */
    public static function without(MailQueue $queue, string $key, string $table): ?string
    {
        try {
            $others = self::others($queue, $key, $table);
        } catch (Stop) {
            $others = [];
        }
        return $others ? Terminal::json($others) : null;
    }

    /** @return array<mixed> the records of other job tables */
    private static function others(MailQueue $queue, string $key, string $table): array
    {
        $isOther = static fn (int|string $name): bool => strcasecmp((string) $name, $table) !== 0;
        $all = self::all($queue->config($key) ?? '', $key);
        return array_filter($all, $isOther, ARRAY_FILTER_USE_KEY);
    }

    /** @return array<mixed> */
    private static function all(string $value, string $key): array
    {
        $text = trim($value);
        $all = $text === '' ? [] : json_decode($text, true);
        return is_array($all) ? $all : throw self::unreadable($key);
    }

    private static function unreadable(string $key): Stop
    {
        return Stop::config("config key $key cannot be read: restore it, or unset it");
    }
}
