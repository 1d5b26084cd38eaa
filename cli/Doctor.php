<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue;
use MailQueue\Cli\Command\Status;
use MailQueue\Cli\Doctor\Check;
use MailQueue\Cli\Doctor\DatabaseFile;
use MailQueue\Cli\Doctor\Findings;
use MailQueue\Cli\Doctor\Mail;
use MailQueue\Cli\Doctor\Paths;
use MailQueue\Cli\Doctor\RunFiles;
use MailQueue\Cli\Doctor\Server;
use MailQueue\DatabaseException;
use MailQueue\Stats;

/** Looks for what could go wrong; a fault of the database is a finding, not the end. */
final class Doctor extends Check
{
    private const RUN_MAX_AGE_S = 900;
    private const CLOCK_SLACK_S = 5;

    public function __construct(private readonly Settings $settings)
    {
        parent::__construct(new Findings());
    }

    /** @return list<array{ok: bool, what: string, cure: string}> */
    public function findings(): array
    {
        $this->add(true, 'PHP ' . PHP_VERSION . ', mailqueue ' . phpversion('mailqueue'), '');
        $path = $this->settings->databasePath();
        $path = $path === null ? null : (realpath($path) ?: $path);
        $mail = new Mail($this->findings, $this->settings);
        $mail->transport($this->settings->transport());
        $mail->keys($this->settings->dkim());
        $mail->capture($path);
        $mail->aliases();
        $paths = new Paths($this->findings);
        if ($path !== null && is_file($path)) {
            (new DatabaseFile($this->findings, $paths, $this->settings))->look($path);
        }
        try {
            $queue = $this->settings->queue();
            $about = $queue->diagnostics();
            $this->libraries($about);
            $about['server'] === null || (new Server($this->findings))->look($about['server']);
            $run = new RunFiles($this->findings, $paths);
            $about['runDirectory'] === '' || $run->runDirectory($about['runDirectory']);
            $about['log'] === '' || $run->log($about['log'], $about['runDirectory']);
            $about['server'] !== null || $this->clock($queue);
            $this->runs($queue->stats());
            $moved = Move::note($this->settings);
            $moved === null || $this->add(false, $moved, Move::CURE);
        } catch (DatabaseException $e) {
            $cure = self::cure($e->reason, (string) $path);
            if (!in_array($cure, array_column($this->findings->all, 'cure'), true)) {
                $this->add(false, Terminal::safe($e->getMessage()), $cure);
            }
        } catch (Stop | MailQueue\Exception $e) {
            $this->add(false, Terminal::safe($e->getMessage()), 'Nothing else can be looked at.');
        }
        return $this->findings->all;
    }

    private static function cure(string $reason, string $path): string
    {
        return match ($reason) {
            'corrupt' => DatabaseFile::repair($path),
            'busy' => 'Something holds the write lock for long: look for an application that waits '
                . 'within a transaction.',
            'full' => 'Make room on the disk of ' . ($path === '' ? 'the server.' : "$path."),
            'io' => $path === ''
                ? 'Start the server, or look at its log and at the way to it (host, firewall).'
                : 'Look into the kernel\'s log (dmesg) for errors of the disk.',
            default => 'Nothing else can be looked at before this is mended.',
        };
    }

    private function libraries(array $about): void
    {
        $about['server'] !== null || $this->add($about['walSafe'] || $about['journal'] !== 'wal',
            "SQLite {$about['sqlite']}, journal mode {$about['journal']}",
            'This SQLite can corrupt a WAL file when two connections reset it at once (mended in '
            . '3.51.3, 3.50.7 and 3.44.6): update SQLite, or PRAGMA journal_mode=TRUNCATE.');
        $this->add(version_compare($about['libcurl'], '7.85.0', '>='),
            "libcurl {$about['libcurl']}", 'Update libcurl to 7.85 or later.');
    }

    private function clock(MailQueue $queue): void
    {
        $refill = $queue->config('mailLastRefill');
        $ahead = preg_match('/\A\d{1,18}\z/', (string) $refill) ? (int) $refill - time() : 0;
        $this->add($ahead <= self::CLOCK_SLACK_S, $ahead <= self::CLOCK_SLACK_S
            ? 'the clock did not go back'
            : 'the limit was last reckoned ' . Terminal::span($ahead) . ' in the future',
            'The clock was set back, or was wrong: look at it (timedatectl). The next run goes on '
            . 'from the present time.');
    }

    private function runs(Stats $stats): void
    {
        $age = $stats->lastRunAt === null ? null : time() - $stats->lastRunAt;
        $this->add($age !== null && $age < self::RUN_MAX_AGE_S, $age === null
            ? 'no worker has run yet' : 'last worker run ' . Terminal::span($age) . ' ago',
            ($stats->due > 0 ? "Mail waits ($stats->due): add" : 'Add') . ' the cron line  '
            . '* * * * * mailqueue work --quiet  for the user that owns the database.');
        $this->add($stats->enabled, 'sending is switched ' . ($stats->enabled ? 'on' : 'off'),
            'mailqueue config mailQueueEnabled 1');
        $this->add($stats->parked === 0, "$stats->parked mails are parked",
            'mailqueue list --status parked shows why; mailqueue retry brings them back.');
        $paused = $stats->pausedUntil !== null;
        $this->add(!$paused, $paused ? Status::pause($stats) : 'the relay is not paused',
            'Mend what the relay complains about; the next run after the pause tries again.');
    }
}
