<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue;
use MailQueue\Cli\Command\Status;
use MailQueue\Cli\Doctor\Check;
use MailQueue\Cli\Doctor\DatabaseFile;
use MailQueue\Cli\Doctor\Findings;
use MailQueue\Cli\Doctor\Limits;
use MailQueue\Cli\Doctor\Mail;
use MailQueue\Cli\Doctor\Paths;
use MailQueue\Cli\Doctor\RunFiles;
use MailQueue\Cli\Doctor\Server;
use MailQueue\Cli\Move\Notice;
use MailQueue\Cli\Report\SlowDomains;
use MailQueue\Cli\Report\Waiting;
use MailQueue\DatabaseException;
use MailQueue\Job;
use MailQueue\Stats;
use MailQueue\Status as MailStatus;

/** Finds what could go wrong. A database error is a finding, too, not a failure. */
final class Doctor extends Check
{
    private const RUN_MAX_AGE_S = 900;
    private const CLOCK_SLACK_S = 5;
    private const PARKED_MAX = 10_000;
    /** An error of src/worker/relay/relay_list.c. */
    private const NO_RELAY = 'the mail names the relay';

    public function __construct(private readonly Settings $settings)
    {
        parent::__construct(new Findings());
    }

    /** @return list<array{ok: bool, what: string, cure: string, run: ?string}> */
    public function findings(): array
    {
        $this->add(true, 'PHP ' . PHP_VERSION . ', mailqueue ' . phpversion('mailqueue'), '');
        $path = $this->path();
        foreach (Retries::unread() as $name => $hint) {
            $this->add(false, "$name in the environment has no effect.$hint", 'Correct its name, '
                . 'or unset it: mailqueue work --help lists the names.');
        }
        $mail = new Mail($this->findings, $this->settings);
        $mail->relays($this->settings->transport());
        $mail->keys($this->settings->dkim());
        $mail->capture($path);
        $mail->aliases();
        $mail->verdicts();
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
            $this->runs($queue);
        } catch (DatabaseException $e) {
            $cure = self::cure($e->reason, (string) $path);
            if (!in_array($cure, array_column($this->findings->all, 'cure'), true)) {
                $run = self::adopts($e) ? $this->settings->command('adopt --dry-run') : null;
                $this->add(false, $e->getMessage(), $run ? 'To see what that does:' : $cure, $run);
            }
        } catch (Stop | MailQueue\Exception $e) {
            $this->add(
                false,
                $e->getMessage(),
                'Nothing else can be checked.',
                $this->command($e)
            );
        }
        return $this->findings->all;
    }

    /** The database's file. Null: it is not a file, or the connection of a bootstrap file is lost. */
    private function path(): ?string
    {
        try {
            $path = $this->settings->databasePath();
            return $path === null ? null : (realpath($path) ?: $path);
        } catch (DatabaseException) { // asking the queue once more, below, adds the finding
            return null;
        }
    }

    private static function cure(string $reason, string $path): string
    {
        return match ($reason) {
            'corrupt' => DatabaseFile::repair($path),
            'busy' => 'A program has held the write lock for a long time: look for an '
                . 'application that waits within a transaction.',
            'full' => 'Make room on the disk of ' . ($path === '' ? 'the server.' : "$path."),
            'io' => $path === ''
                ? 'Start the server, or check its log and the way to it (host, firewall).'
                : 'Look for disk errors in the kernel\'s log (dmesg).',
            default => 'Nothing else can be checked until this is fixed.',
        };
    }

    /** The one command that helps when nothing else can be checked, or null. */
    private function command(Stop|MailQueue\Exception $e): ?string
    {
        $isSetting = preg_match('/\Aconfig key (\w+) cannot be read/', $e->getMessage(), $match);
        return match (true) {
            $isSetting === 1 => $this->settings->command("config --unset $match[1]"),
            self::adopts($e) => $this->settings->command('adopt --dry-run'),
            $e->getCode() === ExitCode::CANTCREAT => $this->settings->command('migrate'),
            default => null,
        };
    }

    /** Whether another program's table has the name of the queue's. */
    private static function adopts(\Throwable $e): bool
    {
        return str_contains($e->getMessage(), '`mailqueue adopt`');
    }

    /** @param array<string, mixed> $about of MailQueue::diagnostics() */
    private function libraries(array $about): void
    {
        $about['server'] !== null || $this->add(
            $about['walSafe'] || $about['journal'] !== 'wal',
            "SQLite {$about['sqlite']}, journal mode {$about['journal']}",
            'This SQLite can corrupt a WAL file when two connections reset it at once (fixed in '
            . '3.51.3, 3.50.7 and 3.44.6): update SQLite, or switch the WAL off while no program '
            . 'has the file open:',
            'sqlite3 ' . Terminal::word($about['database'])
            . " 'PRAGMA journal_mode=TRUNCATE'"
        );
        $this->add(
            version_compare($about['libcurl'], '7.85.0', '>='),
            "libcurl {$about['libcurl']}",
            'Update libcurl to 7.85 or later.'
        );
    }

    private function clock(MailQueue $queue): void
    {
        $refill = $queue->config('mailLastRefill');
        $ahead = preg_match('/\A\d{1,18}\z/', (string) $refill) ? (int) $refill - time() : 0;
        $this->add(
            $ahead <= self::CLOCK_SLACK_S,
            $ahead <= self::CLOCK_SLACK_S
            ? 'the clock did not go back'
            : 'the limit was last calculated for a time ' . Terminal::span($ahead) . ' ahead',
            'The clock was set back, or was wrong: check it (timedatectl). The next run continues '
            . 'from the present time.'
        );
    }

    private function runs(MailQueue $queue): void
    {
        $stats = $queue->stats(Status::EXACT);
        $test = Status::testMode($queue, $stats);
        $own = Status::machine('REDIRECT_TO') !== null;
        $test === null || $this->add(
            false,
            $test,
            $own ? 'On the machine that sends to the recipients, unset MAILQUEUE_REDIRECT_TO '
                . '(ini mailqueue.redirect_to).' : 'To send to the recipients:',
            $own ? null
                : $this->settings->command(($key = Status::redirectKey($queue)) === 'mailRedirectTo'
                    ? "config --unset $key" : "config $key 0")
        );
        $moved = Notice::text($this->settings);
        if ($moved !== null) {
            $this->add(false, $moved, Notice::CURE, Notice::again($this->settings));
        } else {
            $this->lastRun($stats);
            $this->add(
                $stats->enabled,
                'sending is switched ' . ($stats->enabled ? 'on' : 'off'),
                'To switch it on:',
                $this->settings->command('config mailQueueEnabled 1')
            );
        }
        $this->strays($queue);
        $this->unknownRelays($queue);
        $this->parked($queue, $stats);
        foreach (Status::pauses($queue) ?: [null] as $pause) {
            $this->add(
                $pause === null,
                $pause ?? 'the relay is not paused',
                'Fix what the relay complains about. The next run after the pause tries again. To '
                . 'try at once:',
                $this->settings->command('config --unset mailRelayPause')
            );
        }
        foreach (SlowDomains::texts($queue) as $text) {
            $this->add(
                false,
                $text,
                'Its mail goes faster again when more of it is accepted. If the domain asks for '
                . 'less mail, set a limit for it (mailLimits, "to @…"). To forget what is '
                . 'known of all domains:',
                $this->settings->command('config --unset mailSlowDomains')
            );
        }
        (new Limits($this->findings, $this->settings))->look($queue);
        foreach ([...$this->limits($queue, $stats), ...Status::pipelining($queue)] as $text) {
            $this->add(true, $text, '');
        }
    }

    /**
     * Mail that waits for a limit or for its sending hours is not a fault.
     *
     * @return list<string> what it waits for
     */
    private function limits(MailQueue $queue, Stats $stats): array
    {
        $token = Status::nextToken($stats);
        $texts = $token === '' ? []
            : ["limit of $stats->limit recipients an hour: no token is left$token"];
        foreach ($stats->limits as $limit) {
            $limit['fullUntil'] === null
                || $texts[] = 'the limit ' . Terminal::safe($limit['limit']) . ' is full until '
                    . Terminal::time($limit['fullUntil']);
        }
        $closed = (array) Status::closed($stats);
        return [...$texts, ...Waiting::texts($queue, $stats), ...$closed];
    }

    private function lastRun(Stats $stats): void
    {
        $age = $stats->lastRunAt === null ? null : time() - $stats->lastRunAt;
        $this->add(
            $age !== null && $age < self::RUN_MAX_AGE_S,
            $age === null
            ? 'no worker has run yet' : 'last worker run ' . Terminal::span($age) . ' ago',
            ($stats->due > 0 ? "Mail waits ($stats->due): add" : 'Add')
            . ' to the crontab of the user that owns the database (crontab -e)'
            . (getenv('MAILQUEUE_TRANSPORT') ? ', below MAILQUEUE_TRANSPORT=…' : '')
            . ":\n        " . $this->settings->cronLine()
        );
    }

    private function strays(MailQueue $queue): void
    {
        $text = Strays::text($queue);
        if ($text === null) {
            return;
        }
        $sql = Strays::cure($queue, $this->settings->table());
        $path = $this->settings->databasePath();
        $this->add(
            false,
            $text,
            'If a newer version runs beside this one, update this one. Otherwise this command '
            . 'parks them for mailqueue show, retry or delete' . ($path === null ? ": $sql" : ':'),
            $path === null ? null : 'sqlite3 ' . Terminal::word($path) . ' ' . Terminal::word($sql)
        );
    }

    /** Mail that the worker put back because the map of relays lacks the relay that it names. */
    private function unknownRelays(MailQueue $queue): void
    {
        $jobs = $queue->jobs(limit: self::PARKED_MAX, error: self::NO_RELAY);
        $names = array_unique(array_map(static fn (Job $job): ?string => $job->relay, $jobs));
        $jobs === [] || $this->add(
            false,
            count($jobs) . ' waiting for a relay that the map of relays does not have: '
                . implode(', ', array_slice($names, 0, 10)),
            'Add it to the relays file (mailqueue work --relays). It is looked for once an hour. '
            . 'To try at once:',
            $this->settings->command('retry --error ' . Terminal::word(self::NO_RELAY) . ' --yes')
        );
    }

    private function parked(MailQueue $queue, Stats $stats): void
    {
        $why = array_count_values(array_map(
            static fn (Job $job): string => $job->parkedFor ?? '?',
            $queue->jobs(MailStatus::Parked, self::PARKED_MAX)
        ));
        $all = isset($why['hold']) || isset($why['uncertain']);
        $words = array_map(
            static fn (string $reason, int $count): string => "$count $reason",
            array_keys($why),
            $why
        );
        $count = $stats->parked === 1 ? '1 mail is parked' : "$stats->parked mails are parked";
        $this->add(
            $stats->parked === 0,
            $count . ($why ? ': ' . implode(', ', $words) : ''),
            $this->settings->command('list --status parked') . ' shows why. To bring them back'
            . (isset($why['uncertain']) ? ' (those that are uncertain may arrive twice):' : ':'),
            $this->settings->command($all ? 'retry --all' : 'retry')
        );
    }
}
