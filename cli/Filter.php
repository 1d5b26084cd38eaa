<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue;
use MailQueue\Internal;
use MailQueue\Job;
use MailQueue\Status;

/** Which mails a command is about: the options of Commands::FILTER. */
final class Filter
{
    private const JOBS_AT_ONCE = 1000;
    private const IDS_AT_ONCE = 10_000;

    /**
     * @var array{status?: Status, type?: string, reference?: string, recipient?: string,
     *     error?: string, subject?: string, campaign?: string, createdBefore?: int} arguments of
     *     MailQueue::jobs()
     */
    public readonly array $arguments;

    public function __construct(Arguments $args)
    {
        $this->arguments = array_filter([
            'status' => self::status(self::text($args, 'status')),
            'type' => self::text($args, 'type'),
            'reference' => self::text($args, 'reference'),
            'recipient' => self::text($args, 'recipient'),
            'error' => self::text($args, 'error'),
            'subject' => self::text($args, 'subject'),
            'campaign' => self::text($args, 'campaign'),
            'createdBefore' => self::before(self::text($args, 'older')),
        ], static fn (mixed $value): bool => $value !== null);
    }

    /** An empty value would match all mail; a shell's variable that is not set gives one. */
    private static function text(Arguments $args, string $name): ?string
    {
        return $args->text($name) !== '' ? $args->text($name)
            : throw Stop::usage("--$name is empty: give it a value, or leave the option out.");
    }

    private static function status(?string $word): ?Status
    {
        return $word === null ? null : Status::tryFrom($word)
            ?? throw Stop::usage('--status must be pending, sending, failed, parked or held.');
    }

    /** Turns "90m", "7d" or a time such as "2026-11-21" into the time before that. */
    private static function before(?string $older): ?int
    {
        if ($older === null) {
            return null;
        }
        $age = Arguments::span($older);
        $time = $age !== null ? time() - $age : Arguments::time($older);
        // PHP reads "30 days" as 30 days from now, which would match all mail.
        if (is_int($time) && $time > time() && !preg_match('/\A\d{4}-\d\d/', $older)) {
            throw Stop::usage('--older lies ahead, so all mail would match: write an age such as '
                . '90m, 12h or 30d, or a time such as 2026-11-21.');
        }
        return is_int($time) && $time > 0 ? $time : throw Stop::usage('--older must be an age '
            . 'such as 90m, 12h or 7d, or a time such as 2026-11-21.');
    }

    /**
     * @param array<string, mixed> $more arguments of MailQueue::jobs(), in addition
     * @return \Generator<int, list<Job>> all mails that match, some at a time
     */
    public function jobs(MailQueue $queue, array $more = []): \Generator
    {
        $after = 0;
        $all = $more + $this->arguments;
        while ($jobs = $queue->jobs(...$all, limit: self::JOBS_AT_ONCE, after: $after)) {
            $after = max(array_column($jobs, 'id'));
            yield $jobs;
        }
    }

    /**
     * @param non-empty-list<?Status> $states only mails in these; null: in any
     * @param bool $isUncertain only mails that may have arrived
     * @param int|null $until only mails up to this id; null: all
     * @return list<int> the ids of all mails that match
     */
    public function allIds(
        MailQueue $queue,
        array $states = [null],
        bool $isUncertain = false,
        ?int $until = null
    ): array {
        $all = [];
        $more = ['uncertain' => $isUncertain, 'until' => $until];
        foreach ($this->ids($queue, $states, $more) as $ids) {
            array_push($all, ...$ids);
        }
        return $all;
    }

    /**
     * @param non-empty-list<?Status> $states only mails in these; null: in any
     * @param array<string, mixed> $more as in jobs()
     * @return \Generator<int, non-empty-list<int>> the ids of all mails that match, some at a time
     */
    public function ids(MailQueue $queue, array $states = [null], array $more = []): \Generator
    {
        $own = $this->arguments['status'] ?? null;
        foreach ($states as $state) {
            if ($own !== null && $state !== null && $state !== $own) {
                continue;
            }
            $after = 0;
            $all = ['status' => $state ?? $own] + $more + $this->arguments;
            while ($ids = Internal::jobIds(
                $queue,
                ...$all,
                limit: self::IDS_AT_ONCE,
                after: $after
            )) {
                $after = $ids[count($ids) - 1];
                yield $ids;
            }
        }
    }
}
