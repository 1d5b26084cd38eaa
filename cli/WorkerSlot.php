<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue\Internal;

/**
 * Holds one of the worker slots of an SQLite file while the queue is being opened, so that a start
 * that gets none ends before it waits for a locked database. The run then takes a slot itself. A
 * lock file that cannot be opened here counts as a free slot: the run reports the fault.
 */
final class WorkerSlot
{
    private readonly string $directory;
    private readonly string $log;
    /** @var resource|null */
    private $held = null;

    /** @param string $database the file, as SQLite names it */
    public function __construct(string $database)
    {
        $about = Internal::describe($database);
        $this->directory = (string) $about['runDirectory'];
        $this->log = (string) $about['log'];
    }

    public function __destruct()
    {
        $this->held === null || fclose($this->held);
    }

    /** Takes a free slot; false if other runs have all of them. */
    public function take(int $maxWorkers): bool
    {
        for ($i = 0; $i < $maxWorkers; $i++) {
            $file = @fopen("$this->directory/worker-$i.lock", 'r+e');
            if ($file === false || flock($file, LOCK_EX | LOCK_NB)) {
                $this->held = $file ?: null;
                return true;
            }
            if (flock($file, LOCK_SH | LOCK_NB)) {
                return true; // another process only looks at this slot
            }
        }
        return false;
    }

    /** Writes the log entry of a run that found all slots taken. */
    public function logLocked(?string $log): void
    {
        $log ??= $this->log;
        $stream = str_replace('/dev/std', 'php://std', $log);
        // Open it as the run does: no link, no waiting for a pipe's reader, no other user's file.
        $mode = $stream !== $log ? 'a' : (@lstat($log) ? 'ane' : 'xne');
        $mask = umask(077);
        $file = $log === '' || ($stream === $log && is_link($log)) ? false : @fopen($stream, $mode);
        umask($mask);
        if ($file !== false && ($stream !== $log || $this->isOwnFile($file, $log))) {
            $time = gmdate('Y-m-d\TH:i:s\Z');
            fwrite($file, Terminal::json(['time' => $time, 'event' => 'run',
                'reply' => 'end=locked', 'ms' => 0], 0) . "\n");
        }
    }

    /** @param resource $file */
    private function isOwnFile($file, string $name): bool
    {
        $is = fstat($file);
        $named = @lstat($name);
        return $is && $named && $named['ino'] === $is['ino'] && ($is['mode'] & 0170000) === 0100000
            && $is['nlink'] === 1 && $is['uid'] === (FileAccess::user() ?? $is['uid']);
    }
}
