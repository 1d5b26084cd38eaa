<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Report\Timeline;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;
use MailQueue\Job;
use MailQueue\MessageException;
use MailQueue\Status;

/** forget: exports and erases what the queue knows of an address. */
final class Forget extends Command
{
    private const AT_ONCE = 1000;
    private const LOOK_US = 200_000;

    private string $address = '';

    /** @var list<string> the address, and as it was typed */
    private array $names = [];

    public function run(): int
    {
        $typed = $this->args->words[0] ?? '';
        if (!str_contains(substr($typed, 1), '@')) {
            throw Stop::usage('forget takes an address, such as name@example.org.');
        }
        $this->address = self::stored($typed);
        $this->names = array_values(array_unique([$this->address, $typed]));
        $wait = $this->args->int('timeout', 60, 0, 86400);
        $queue = $this->settings->queue();
        $dry = $this->args->has('dry-run');
        $jobs = $this->jobs($queue);
        $mails = count($jobs) === 1 ? '1 mail' : count($jobs) . ' mails';
        $dry || $this->agree(
            "Erase $this->address, with $mails",
            'Add --yes, or look first with --dry-run.'
        );
        $export = array_map($this->exported(...), array_values($jobs));
        $history = $this->history($queue, $jobs);
        $bounces = $this->bounces($queue);
        $suppressed = $this->suppressions($queue, $dry);
        $recipients = $this->recipients($queue, $dry); // first: a claim makes mails of them
        $kept = $dry ? $this->kept($jobs) : $this->erase($queue, $history, $wait);
        $report = ['address' => $this->address, 'dryRun' => $dry, 'jobs' => $export,
            'history' => array_values($history), 'suppressions' => $suppressed,
            'bounces' => $bounces, 'campaigns' => $recipients, 'kept' => $kept];
        $this->result($report, fn () => $this->tell($report));
        return $kept === [] || $dry ? ExitCode::OK : ExitCode::FINDINGS;
    }

    /** The form in which the queue has an address: the domain in A-labels. */
    private static function stored(string $typed): string
    {
        try {
            $found = MailQueue::envelope("To: $typed\r\n\r\n")['recipients'];
            return count($found) === 1 ? $found[0] : $typed;
        } catch (MessageException) {
            return $typed; // no mail can be sent to it, but the history may name it
        }
    }

    /** @return array<int, Job> the mails from or to the address, by id */
    private function jobs(MailQueue $queue): array
    {
        $found = [];
        foreach (['{t}.recipients', '{t}.refused', '{t}.envelope_from'] as $column) {
            $rows = Internal::select($queue, "SELECT id FROM {t} WHERE {F}(lower(CAST($column AS "
                . '{A})), lower(CAST(?1 AS {A}))) > 0 ORDER BY id', [$this->address]);
            foreach ($rows as [$id]) {
                $job = $queue->job((int) $id);
                if ($job !== null && $this->isIn($job)) {
                    $found[$job->id] = $job;
                }
            }
        }
        ksort($found);
        return $found;
    }

    private function isIn(Job $job): bool
    {
        return $this->isIt($job->envelopeFrom ?? '')
            || array_filter($this->addresses($job), $this->isIt(...)) !== [];
    }

    /** @return list<string> recipients that are left, and those that were refused */
    private function addresses(Job $job): array
    {
        return [...$job->recipients ?? [], ...array_map(strval(...), array_keys($job->refused))];
    }

    private function isIt(string $address): bool
    {
        return strcasecmp($address, $this->address) === 0;
    }

    /**
     * The address's suppressions. Their hashes stay, so that no mail is sent to it in future.
     *
     * @return list<array<string, int|string|null>>
     */
    private function suppressions(MailQueue $queue, bool $dry): array
    {
        try {
            $found = $queue->suppression($this->address);
            $dry || Internal::forgetSuppressed($queue, $this->address);
            return $found;
        } catch (MessageException) {
            return []; // no mail can be sent to such an address
        }
    }

    /**
     * What came back from the address, which forgetting its suppressions deletes.
     *
     * @return list<array{at: int, kind: int|string|null}>
     */
    private function bounces(MailQueue $queue): array
    {
        try {
            $hash = Internal::addressHash($queue, $this->address);
            $sql = 'SELECT at, kind FROM {!} WHERE hash = ?1 ORDER BY at, kind';
            $rows = Internal::select($queue, $sql, [$hash]);
        } catch (MessageException) {
            $rows = []; // no mail can be sent to such an address
        }
        return array_map(static fn (array $row): array
            => ['at' => (int) $row[0], 'kind' => $row[1]], $rows);
    }

    /**
     * What campaigns have of the address; deletes it unless $dry.
     *
     * @return list<array{campaign: int|string|null, name: int|string|null, fields: mixed}>
     */
    private function recipients(MailQueue $queue, bool $dry): array
    {
        $rows = array_filter(
            Internal::select($queue, 'SELECT {p}.id, {p}.address, {M}.name, {p}.name, {p}.fields '
                . 'FROM {p} JOIN {M} ON {M}.id = {p}.campaign_id WHERE {F}(lower(CAST({p}.address '
                . 'AS {A})), lower(CAST(?1 AS {A}))) > 0 ORDER BY {p}.id', [$this->address]),
            fn (array $row): bool => $this->isIt((string) (json_decode((string) $row[1])[0] ?? ''))
        );
        foreach ($dry ? [] : array_chunk(array_column($rows, 0), self::AT_ONCE) as $ids) {
            Internal::eraseRecipients($queue, array_map(intval(...), $ids));
        }
        return array_values(array_map(fn (array $row): array => ['campaign' => $row[2],
            'name' => $row[3], 'fields' => json_decode((string) ($row[4] ?? 'null'))], $rows));
    }

    /** Whether the mail is for others, too: then it is not deleted. */
    private function isForOthers(Job $job): bool
    {
        return array_filter(
            $this->addresses($job),
            fn (string $address): bool => !$this->isIt($address)
        ) !== [];
    }

    /** @return array<string, mixed> */
    private function exported(Job $job): array
    {
        return ['status' => $job->status->value] + get_object_vars($job);
    }

    /**
     * @param array<int, Job> $jobs
     * @return array<int, array<string, int|string|null>> rows of the history by their ids
     */
    private function history(MailQueue $queue, array $jobs): array
    {
        $rows = [];
        foreach ($this->names as $name) {
            $rows += array_column(Timeline::naming($queue, $name), null, 'id');
        }
        foreach ($jobs as $job) {
            $rows += $this->isForOthers($job) ? []
                : array_column(Timeline::all($queue, $job->id), null, 'id');
        }
        ksort($rows);
        return $rows;
    }

    /**
     * Deletes the mails and the rows of the history, to which it adds those of mails that are sent
     * meanwhile.
     *
     * @param array<int, array<string, int|string|null>> $history
     * @return array<int, string> what stays, and why, by the id of the mail
     */
    private function erase(MailQueue $queue, array &$history, int $wait): array
    {
        $seen = [];
        for ($end = hrtime(true) + $wait * 1_000_000_000;;) {
            $mine = array_filter(
                $this->jobs($queue),
                fn (Job $job): bool => !$this->isForOthers($job)
            );
            $seen += $mine; // one that is being sent can leave the queue, with rows in the history
            $queue->delete(array_keys($mine));
            $sending = array_filter($mine, fn (Job $job) => $job->status === Status::Sending);
            if ($sending === [] || hrtime(true) >= $end) {
                break;
            }
            usleep(self::LOOK_US);
        }
        $history += $this->history($queue, $seen);
        foreach (array_chunk(array_keys($history), self::AT_ONCE) as $ids) {
            Internal::eraseHistory($queue, $ids);
        }
        return $this->kept($this->jobs($queue));
    }

    /**
     * @param array<int, Job> $jobs
     * @return array<int, string>
     */
    private function kept(array $jobs): array
    {
        return array_filter(array_map(fn (Job $job): ?string => match (true) {
            $this->isForOthers($job) => 'is for others too',
            $job->status === Status::Sending => 'is being sent',
            default => null,
        }, $jobs));
    }

    /**
     * @param array{dryRun: bool, jobs: list<mixed>, history: list<mixed>,
     *     suppressions: list<mixed>, bounces: list<mixed>, campaigns: list<mixed>,
     *     kept: array<int, string>} $report
     */
    private function tell(array $report): void
    {
        $mails = count($report['jobs']) - count($report['kept']);
        printf(
            "%s %d %s and %d %s of the history.\n",
            $report['dryRun'] ? 'Would erase' : 'Erased',
            max(0, $mails),
            $mails === 1 ? 'mail' : 'mails',
            count($report['history']),
            count($report['history']) === 1 ? 'row' : 'rows'
        );
        if ($report['campaigns'] !== []) {
            echo $report['dryRun'] ? 'It is' : 'It was', ' a recipient of ',
            count($report['campaigns']) === 1 ? "a campaign.\n"
                : count($report['campaigns']) . " campaigns.\n";
        }
        if ($report['bounces'] !== []) {
            $count = count($report['bounces']);
            echo $report['dryRun'] ? "Bounces: $count.\n" : "Bounces erased: $count.\n";
        }
        if ($report['suppressions'] !== []) {
            echo 'It stays suppressed, by ', count($report['suppressions']) === 1
                ? "a hash instead of the address.\n" : "hashes instead of the address.\n";
        }
        foreach ($report['kept'] as $id => $why) {
            echo Terminal::paint("Mail $id stays: it $why. ", Terminal::YELLOW),
            $why === 'is being sent' ? "Repeat the command when it has left.\n"
                : 'Let it be sent, or: ' . $this->settings->command("delete $id") . "\n";
        }
        echo Terminal::wrap("The worker's log names addresses, too, until logrotate deletes it. "
            . 'Messages to others that mention the address are not searched.', 0), "\n";
    }
}
