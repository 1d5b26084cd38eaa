<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue\Internal;
use PDO;

/** What the extension's parser says about a text that names a database. */
final class Named
{
    public readonly string $shown; // without user and secrets
    public readonly bool $hasPassword;
    public readonly bool $isServer;
    public readonly ?string $path; // of a file; null: none is named

    public function __construct(string $database)
    {
        $about = Internal::describe($database);
        // A mistyped DSN may be taken for the name of a file.
        $isMistyped = $about['path'] !== null && $about['password'] === false
            && preg_match('/^(.*?(?:password|pwd)\s*=)./is', $database, $match) === 1;
        $this->shown = $isMistyped ? "$match[1]***" : $about['shown'];
        $this->hasPassword = $isMistyped
            || ($about['password'] ?? preg_match('/pass|pwd|@/i', $database) === 1);
        $this->isServer = $about['server'];
        $this->path = $about['path'];
    }

    /**
     * The SQLite file over PDO. When such a connection closes, it may copy the WAL into the
     * database: src/db/sqlite/failed_sync.c says why that can destroy the file.
     */
    public function pdo(): PDO
    {
        $path = (string) $this->path;
        if (file_exists((realpath($path) ?: $path) . '-unsynced')) {
            throw new Stop("The disk did not store the write-ahead log of $path: run mailqueue "
                . 'doctor first.', ExitCode::IOERR);
        }
        return new PDO("sqlite:$path");
    }
}
