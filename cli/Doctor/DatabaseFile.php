<?php

declare(strict_types=1);

namespace MailQueue\Cli\Doctor;

use MailQueue\Cli\Settings;
use MailQueue\Cli\Terminal;

/** Checks of an SQLite database's file, and of the volume that it is on. */
final class DatabaseFile extends Check
{
    private const DISK_MIN = 50 << 20;
    private const WAL_MAX = 64 << 20;
    private const CHECK_MAX = 512 << 20; // larger files take too long to read here
    private const LOCKED_MAX = 64 << 20; // the same without a WAL: writers wait for the check
    private const SQLITE_CORRUPT = 11;
    private const SQLITE_NOTADB = 26;

    public function __construct(
        Findings $findings,
        private readonly Paths $paths,
        private readonly Settings $settings,
    ) {
        parent::__construct($findings);
    }

    public function look(string $path): void
    {
        $this->volume($path); // first: reading the file may shorten its WAL
        if (file_exists("$path-unsynced")) {
            $this->unsynced($path);
        } else {
            $this->integrity($path);
        }
        clearstatcache();
        $beside = ["$path-wal", "$path-shm", "$path-journal"];
        $beside = array_values(array_filter($beside, file_exists(...)));
        $this->paths->rights($path, 'database', ...$beside);
        $this->owner($path);
        $open = Paths::open(0o004, $path, ...$beside);
        $this->add(
            $open === [],
            $open === [] ? 'the database cannot be read by everybody'
            : 'the database can be read by every user of this machine',
            'So can the mails in it:',
            'chmod o-r ' . implode(' ', array_map(Terminal::word(...), $open))
        );
        $this->paths->documentRoot($path, 'database', '.');
        $directory = dirname($path);
        $this->paths->writable(
            $directory,
            'directory',
            "SQLite needs to create its journal there: make $directory writable."
        );
        foreach ($beside as $file) {
            is_writable($file) || !file_exists($file) || $this->add( // a WAL can go meanwhile
                false,
                "$file cannot be written by this user",
                "chown it to the owner of the database: all its users must write it."
            );
        }
    }

    /**
     * A connection over PDO could be the last one, and copy the WAL into the database when it
     * closes: src/db/sqlite/failed_sync.c says why that can destroy the file.
     */
    private function unsynced(string $path): void
    {
        $this->add(
            false,
            "the disk did not store the write-ahead log: $path-unsynced says so",
            'Look for disk errors in the kernel\'s log (dmesg). Once the disk works, the next '
            . 'enqueue(), run or command repairs the database and removes this file; this command '
            . 'tries it, too. Run doctor again: if the file is gone, it checks the database.'
        );
    }

    /** Runs SQLite's quick check over PDO. Without pdo_sqlite, only opening the queue checks it. */
    private function integrity(string $path): void
    {
        $canRead = in_array('sqlite', class_exists('PDO') ? \PDO::getAvailableDrivers() : [], true)
            && is_readable($path)
            && is_writable($path); // else SQLite may create a WAL that the owner cannot open
        if (!$canRead || $this->settings->bootstrap->queue !== null) {
            return;
        }
        try {
            $pdo = new \PDO("sqlite:$path");
            $pdo->setAttribute(\PDO::ATTR_TIMEOUT, 2);
            $mode = ($pdo->query('PRAGMA journal_mode') ?: null)?->fetchColumn();
            if (filesize($path) > ($mode === 'wal' ? self::CHECK_MAX : self::LOCKED_MAX)) {
                $this->add(true, 'the database was not checked: it has '
                    . self::mebibytes((int) filesize($path)) . ', which takes too long here '
                    . '(sqlite3 ' . Terminal::word($path) . " 'PRAGMA quick_check' does it)", '');
                return;
            }
            $said = (string) ($pdo->query('PRAGMA quick_check(1)') ?: null)?->fetchColumn();
        } catch (\PDOException $e) {
            $code = $e->errorInfo[1] ?? 0;
            if ($code !== self::SQLITE_CORRUPT && $code !== self::SQLITE_NOTADB) {
                return; // busy or unreachable: opening the queue reports that
            }
            $said = $e->getMessage();
        }
        $this->add($said === 'ok', $said === 'ok' ? 'the database passes SQLite\'s quick check'
            : 'the database is corrupt: ' . trim($said), self::repair($path));
    }

    /** Files that root creates beside another user's file cannot be written by that user. */
    private function owner(string $path): void
    {
        $me = function_exists('posix_geteuid') ? posix_geteuid() : -1;
        $owner = (int) fileowner($path);
        if ($me === 0 && $owner !== 0) {
            $name = posix_getpwuid($owner)['name'] ?? (string) $owner;
            $this->add(
                false,
                "the database belongs to $name, and this is root",
                "Run mailqueue as $name (crontab -u $name), or its log and run directory become "
                . 'root\'s.'
            );
        }
    }

    private function volume(string $path): void
    {
        $type = Paths::fileSystem($path);
        $this->add(
            !in_array($type, Paths::NETWORK, true),
            "the database is on $type",
            'SQLite\'s locks cannot be relied on across a network: move it to a local disk.'
        );
        $free = @disk_free_space(dirname($path));
        if ($free !== false) {
            $this->add(
                $free >= self::DISK_MIN,
                self::mebibytes($free) . ' free on its disk',
                'A full disk stops enqueueing and sending: make room.'
            );
        }
        $wal = (int) @filesize("$path-wal");
        $this->add(
            $wal <= self::WAL_MAX,
            'the write-ahead log has ' . self::mebibytes($wal),
            'A program reads in one long transaction, or no worker runs that could shorten it.'
        );
    }

    private static function mebibytes(float|int $bytes): string
    {
        return sprintf('%.0F MiB', floor($bytes / (1 << 20)));
    }

    public static function repair(string $path): string
    {
        $file = $path === '' ? 'FILE' : Terminal::word($path);
        return "Stop the site and cron. Take the file of a backup, or recover one:  sqlite3 $file "
            . '.recover | sqlite3 recovered.sqlite  Move the corrupt file away with its -wal, '
            . '-shm and -journal, which would damage the new file, and put that in its place. '
            . 'Enqueueing again a reference that is still queued does no harm.';
    }
}
