<?php

declare(strict_types=1);

namespace MailQueue\Cli\Move;

use MailQueue;
use MailQueue\Cli\Named;
use MailQueue\Cli\Settings;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** The texts about a move that keeps a queue from sending. */
final class Notice
{
    public const CURE = 'mailqueue migrate-store continues an unfinished move; --abort cancels it. '
        . 'After a finished move it copies the mail stored since. Point the application and cron '
        . 'at the new database. If that database is gone for good, run mailqueue config --unset '
        . 'with the key named above; mail that it already sent is then sent again.';

    /** Says which move keeps the queue from sending; null: none does. */
    public static function text(Settings $settings): ?string
    {
        [$key, $record] = self::find($settings->queue(), $settings->table());
        if ($record === null) {
            return null;
        }
        $name = Terminal::safe($record->other);
        $text = match (true) {
            $key === Record::FROM => "This queue is being moved here from $name: "
                . 'nothing is sent until all of it has arrived',
            $record->isOver => "This queue was moved to $name: nothing is sent from here",
            default => "This queue is being moved to $name: nothing is sent from here",
        };
        return "$text (config key $key).";
    }

    /** The command that continues the move that text() names; null: the database has no name. */
    public static function again(Settings $settings): ?string
    {
        if ($settings->bootstrap->queue !== null && $settings->databasePath() === null) {
            return null; // a server, over the application's PDO
        }
        [$key, $record] = self::find($settings->queue(), $settings->table());
        $here = $settings->databasePath() ?? (new Named($settings->database()))->shown;
        $names = array_map(Terminal::word(...), [self::name($here), (string) $record?->other]);
        return $settings->command('migrate-store '
            . implode(' ', $key === Record::TO ? $names : array_reverse($names)), false);
    }

    /** A database's name to show: without a password; a file with its full path. */
    public static function name(string $database): string
    {
        $named = new Named($database);
        $path = $named->path;
        return $path === null || $named->hasPassword ? $named->shown
            : (realpath(dirname($path)) ?: dirname($path)) . '/' . basename($path);
    }

    /** @return array{string, ?Record} key and record of the move that stops the queue */
    public static function find(MailQueue $queue, string $table): array
    {
        foreach ([Record::TO, Record::FROM] as $key) {
            try {
                $record = Record::find($queue, $key, $table);
            } catch (Stop) {
                continue; // each claim reports a record that cannot be read
            }
            if ($record !== null && ($key === Record::TO || !$record->isOver)) {
                return [$key, $record];
            }
        }
        return ['', null];
    }
}
