<?php

declare(strict_types=1);

namespace MailQueue\Cli\Doctor;

use MailQueue\Cli\Terminal;

/** Checks of the worker's run directory and log. */
final class RunFiles extends Check
{
    public function __construct(
        Findings $findings,
        private readonly Paths $paths,
    ) {
        parent::__construct($findings);
    }

    public function runDirectory(string $path): void
    {
        if (!file_exists($path)) {
            $parent = self::whereMade($path);
            $this->add(
                is_writable($parent),
                "run directory $path does not exist yet",
                "Make $parent writable for the user of the cron job."
            );
            return;
        }
        $this->paths->writable(
            $path,
            'run directory',
            "chown -R $path to the user of the cron job."
        );
        $mode = fileperms($path);
        $this->add(
            ($mode & 0o022) === 0,
            sprintf('run directory has mode %04o', $mode & 0o7777),
            'Others can write to it, and the worker refuses that:',
            'chmod 700 ' . Terminal::word($path)
        );
        $type = Paths::fileSystem($path);
        if (in_array($type, Paths::NETWORK, true)) {
            $this->add(
                false,
                "the run directory is on $type",
                'Locks do not hold there: set mailqueue.run_dir to a local directory.'
            );
        }
    }

    /** The nearest existing directory above a path. */
    private static function whereMade(string $path): string
    {
        do {
            $path = dirname($path);
        } while (!file_exists($path));
        return $path;
    }

    public function log(string $path, string $runDirectory): void
    {
        if (in_array($path, ['/dev/stdout', '/dev/stderr'], true)) {
            $this->add(true, "the log goes to $path", '');
            return;
        }
        if (file_exists($path)) {
            $this->paths->rights($path, 'log');
            $isPrivate = (fileperms($path) & 0o044) === 0;
            $this->add(
                $isPrivate,
                'the log is ' . ($isPrivate ? 'private' : 'not private'),
                'It names recipients, and others can read it:',
                'chmod 600 ' . Terminal::word($path)
            );
        } else {
            $isBeside = dirname($path) === $runDirectory; // the worker makes that directory
            $directory = $isBeside ? self::whereMade($path) : dirname($path);
            $this->add(
                is_writable($directory),
                "log $path does not exist yet",
                "Make $directory writable for the user of the cron job."
            );
        }
        $this->paths->documentRoot($path, 'log', ' (MAIL_QUEUE_LOG or --log).');
    }
}
