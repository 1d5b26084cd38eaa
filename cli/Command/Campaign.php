<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\Arguments;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Import;
use MailQueue\Cli\Nearest;
use MailQueue\Cli\RecipientFile;
use MailQueue\Cli\Report\Campaigns;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Job;
use MailQueue\MessageException;

/** campaign: one message for many recipients. */
final class Campaign extends Command
{
    /** The entry in Commands::ALL. */
    public const ABOUT = [
        'args' => 'ACTION…',
        'words' => PHP_INT_MAX,
        'actions' => ['create', 'add', 'start', 'pause', 'resume', 'cancel', 'status', 'failures',
            'retry', 'preview', 'test'],
        'text' => 'One message for many recipients: create it, add them, start, pause, resume or '
            . 'cancel it, show its status, preview and test it, list its failures and retry them. '
            . 'Exit 1 if there is no such campaign, or if a line of the file cannot be taken '
            . '(add): the others are.',
        'examples' => [
            'mailqueue campaign create spring message.json',
            'mailqueue campaign add spring members.csv',
            'mailqueue campaign preview spring ann@example.net',
            "mailqueue campaign start spring --at 'tomorrow 08:00'",
            'mailqueue campaign status',
        ],
        'options' => [
            'type=TYPE' => 'create: the type of its mails (default campaign)',
            'priority=N' => 'create: -100 to 100 (default -10: behind other mail, which has 0)',
            'max-attempts=N' => 'create: how often a mail is tried (default: as --backoff says)',
            'envelope-from=ADDRESS' => "create: where bounces go (default: the message's from)",
            'relay=RELAY' => 'create: a key of the map of relays',
            'expires=TIME' => 'create: recipients not sent to by then get no mail (default: never)',
            'at=TIME' => 'start: when, such as 2026-12-01T08:00 or "tomorrow 08:00" (UTC)',
            'watch' => 'status: show it again every two seconds, as long as it runs or is paused',
            'as=ADDRESS' => 'test: whose mail (default: that of the first recipient)',
            'limit=N' => 'status, failures: how many (default 50)',
            'after=ID' => 'failures: only higher ids',
            'yes' => 'cancel without asking',
        ],
    ];
    /** What an action takes that does not take just a NAME. */
    private const TAKES = ['create' => 'NAME FILE', 'add' => 'NAME FILE', 'status' => '[NAME]',
        'preview' => 'NAME ADDRESS', 'test' => 'NAME ADDRESS…'];
    private const ENDED = ['finished', 'cancelled'];
    private const UNDER_WAY = ['running', 'paused'];
    private const WATCH_S = 2;

    public function run(): int
    {
        $words = $this->args->words;
        $action = array_shift($words) ?? '';
        $this->check($action, $words);
        $queue = $this->settings->queue();
        if ($action === 'create') {
            return $this->create($queue, ...$words);
        }
        if ($action === 'status') {
            return $this->status($queue, ...$words);
        }
        $campaign = Campaigns::find($queue, (string) array_shift($words));
        return match ($action) {
            'add' => $this->add($campaign, ...$words),
            'start' => $this->start($campaign),
            'pause' => $this->act($campaign, $campaign->pause(...)),
            'resume' => $this->act($campaign, $campaign->resume(...)),
            'cancel' => $this->cancel($campaign),
            'failures' => $this->failures($campaign),
            'retry' => $this->retry($campaign),
            'preview' => $this->preview($campaign, ...$words),
            default => $this->test($campaign, $words),
        };
    }

    /** @param list<string> $words */
    private function check(string $action, array $words): void
    {
        $known = self::ABOUT['actions'];
        in_array($action, $known, true) || throw Stop::usage('campaign takes '
            . implode(', ', $known) . ($action === '' ? '.'
                : ', not "' . Terminal::safe($action) . '".' . Nearest::hint($action, $known)));
        $takes = self::TAKES[$action] ?? 'NAME';
        $most = str_ends_with($takes, '…') ? PHP_INT_MAX : substr_count($takes, ' ') + 1;
        $least = $takes[0] === '[' ? 0 : substr_count($takes, ' ') + 1;
        if (count($words) < $least || count($words) > $most) {
            throw Stop::usage("campaign $action takes $takes"
                . (count($words) > $most ? ', but got "' . Terminal::safe($words[$most]) . '".'
                    : '.'));
        }
    }

    // ---- the message and the recipients

    private function create(MailQueue $queue, string $name, string $path): int
    {
        $message = self::message($path);
        $given = array_filter([
            'type' => $this->args->text('type'),
            'priority' => $this->args->int('priority', null),
            'maxAttempts' => $this->args->int('max-attempts', null),
            'envelopeFrom' => $this->args->text('envelope-from'),
            'relay' => $this->args->text('relay'),
            'expiresAt' => $this->time('expires'),
        ], static fn (mixed $value): bool => $value !== null);
        $campaign = $queue->campaign($name);
        try {
            $campaign->setMessage($message, ...$given);
        } catch (MessageException $e) {
            throw new Stop("$path: " . $e->getMessage(), ExitCode::DATAERR);
        } catch (\ValueError $e) {
            $text = $e->getMessage();
            isset($given[strtok($text, ' :')])
                || throw new Stop("$path: $text.", ExitCode::DATAERR); // such as its list
            throw Stop::usage('--' . strtr($text, ['maxAttempts' => 'max-attempts',
                'envelopeFrom' => 'envelope-from', 'expiresAt' => 'expires',
                ', or null for' => '; leave it out for']) . '.');
        }
        return $this->result($campaign->progress(), fn () => print('The message is set. Next: '
            . $this->settings->command('campaign add ' . Terminal::word($name) . ' FILE')
            . "\n"));
    }

    /** @return array<string, mixed> the fields of a message; paths in it begin at the file */
    private static function message(string $path): array
    {
        $message = json_decode((string) stream_get_contents(Import::open($path)), true);
        if (!is_array($message)) {
            throw new Stop("$path is not a JSON object with the fields of a message: "
                . json_last_error_msg() . '.', ExitCode::DATAERR);
        }
        $from = static fn (mixed $file): mixed => $path === '-' || !is_string($file)
            || str_starts_with($file, '/') ? $file : dirname($path) . "/$file";
        foreach (['attachments', 'inline'] as $field) {
            $files = is_array($message[$field] ?? null) ? $message[$field] : [];
            foreach ($files as $key => $file) {
                $message[$field][$key] = is_array($file) && isset($file['path'])
                    ? ['path' => $from($file['path'])] + $file : $from($file);
            }
        }
        return $message;
    }

    private function add(MailQueue\Campaign $campaign, string $path): int
    {
        $isShown = !$this->args->has('json') && stream_isatty(STDERR);
        $file = new RecipientFile($campaign, Import::open($path), $isShown);
        $added = $file->add();
        $import = $file->import;
        $import->showFaults();
        $code = $this->result(
            ['added' => $added, 'read' => $import->read, 'faulty' => $import->faulty],
            static fn () => print($import->text($added) . ".\n")
        );
        return $import->faulty > 0 ? ExitCode::FINDINGS : $code;
    }

    private function preview(MailQueue\Campaign $campaign, string $address): int
    {
        $mail = $campaign->preview($address);
        return $this->result(['message' => $mail], static fn () => print(stream_isatty(STDOUT)
            ? Terminal::safeLines($mail) : $mail));
    }

    /** @param list<string> $addresses */
    private function test(MailQueue\Campaign $campaign, array $addresses): int
    {
        try {
            $ids = $campaign->test($addresses, $this->args->text('as'));
        } catch (MessageException $e) {
            throw Stop::usage(ucfirst($e->getMessage()) . '.');
        }
        return $this->result($ids, static fn () => print(count($ids) === 1
            ? "It is mail $ids[0] of the queue.\n"
            : 'They are the mails ' . implode(', ', $ids) . " of the queue.\n"));
    }

    // ---- its way

    private function start(MailQueue\Campaign $campaign): int
    {
        $at = $this->time('at');
        $of = $campaign->progress();
        $of['recipients'] > 0 || throw Stop::config('The campaign has no recipients yet: '
            . $this->settings->command('campaign add ' . Terminal::word($of['name']) . ' FILE'));
        return $this->act($campaign, static fn () => $campaign->start($at));
    }

    private function time(string $option): ?int
    {
        $text = $this->args->text($option);
        $at = $text === null ? null : Arguments::time($text) ?? throw Stop::usage("--$option takes "
            . 'a time, such as 2026-12-01T08:00 or "tomorrow 08:00" (UTC), not "'
            . Terminal::safe($text) . '".');
        $at === null || $at > time() || throw Stop::usage("--$option " . Terminal::safe($text)
            . ' is in the past.');
        return $at;
    }

    /** @param callable(): void $change */
    private function act(MailQueue\Campaign $campaign, callable $change): int
    {
        $change();
        $of = $campaign->progress();
        return $this->result($of, static fn () => print(Campaigns::sentence($of) . "\n"));
    }

    private function cancel(MailQueue\Campaign $campaign): int
    {
        $of = $campaign->progress();
        $left = number_format(Campaigns::left($of));
        in_array($of['state'], self::ENDED, true)
            || $this->agree("Cancel $of[name], so that $left recipients never get it");
        return $this->act($campaign, $campaign->cancel(...));
    }

    private function status(MailQueue $queue, ?string $name = null): int
    {
        $campaign = $name === null ? null : Campaigns::find($queue, $name);
        $limit = $this->args->int('limit', 50, 1, 1000);
        $watches = $this->args->has('watch');
        if ($watches && $this->args->has('json')) {
            throw Stop::usage('--watch is for people: leave out one of --watch and --json.');
        }
        for (;;) {
            $of = $campaign?->progress();
            $all = $of === null ? $queue->campaigns($limit) : [$of];
            echo $watches && stream_isatty(STDOUT) ? "\e[2J\e[H" : '';
            $code = $this->result($of ?? $all, static fn () => $of === null
                ? Campaigns::table($all) : Campaigns::show($of));
            if (!$watches || array_intersect(array_column($all, 'state'), self::UNDER_WAY) === []) {
                return $code;
            }
            sleep(self::WATCH_S);
        }
    }

    // ---- failures

    private function failures(MailQueue\Campaign $campaign): int
    {
        $jobs = $campaign->failures(
            $this->args->int('limit', 50, 1, 10_000),
            $this->args->int('after', 0, 0, PHP_INT_MAX)
        );
        return $this->result($jobs, static function () use ($jobs): void {
            $notes = [];
            foreach ($jobs as $i => $job) {
                $job->lastError === null || $notes[$i + 1] = Terminal::safe($job->lastError);
            }
            $jobs === [] ? print("None.\n") : Terminal::table([
                ['id', 'recipient', 'why', 'tries', 'last'],
                ...array_map(self::row(...), $jobs),
            ], $notes);
        });
    }

    /** @return non-empty-list<string> */
    private static function row(Job $job): array
    {
        $recipients = [...($job->recipients ?? []), ...array_keys($job->refused)];
        return [(string) $job->id, Terminal::safe((string) ($recipients[0] ?? '-')),
            Terminal::safe($job->parkedFor), (string) $job->attempts,
            Terminal::time($job->lastAttemptAt)];
    }

    private function retry(MailQueue\Campaign $campaign): int
    {
        $count = $campaign->retryFailed();
        return $this->result(
            ['changed' => $count],
            static fn () => print("$count brought back.\n")
        );
    }
}
