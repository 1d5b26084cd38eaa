<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Filter;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Job;
use MailQueue\MessageException;
use MailQueue\Status;

/** resend and uncertain: what a person decides about mail that went wrong. */
final class Resend extends Command
{
    private const AT_ONCE = 1000;

    public function resend(): int
    {
        $id = $this->args->ids(true)[0];
        $to = $this->args->text('to');
        $instead = $this->args->text('instead');
        if ($instead !== null && $to === null) {
            throw Stop::usage('--instead needs --to, the address that replaces it.');
        }
        $queue = $this->settings->queue();
        try {
            $new = $queue->resend($id, $to, $instead);
        } catch (MessageException $e) {
            $why = str_replace('(instead)', '(--instead)', $e->getMessage());
            throw new Stop(ucfirst($why) . '.', ExitCode::FINDINGS, $e);
        }
        $for = $queue->job($new)->recipients ?? [];
        $result = ['id' => $new, 'resentOf' => $id, 'recipients' => $for];
        return $this->result($result, static fn () => print("Mail $new takes the place of mail $id"
            . ($for === [] ? '' : ', for ' . Terminal::safe(implode(', ', $for))) . ".\n"));
    }

    public function uncertain(): int
    {
        $again = $this->args->has('send-again');
        $sent = $this->args->has('sent');
        if ($again && $sent) {
            throw Stop::usage('uncertain takes --send-again or --sent, not both.');
        }
        $ids = $this->args->ids(false);
        $filter = new Filter($this->args);
        if ($ids !== [] && $filter->arguments !== []) {
            throw Stop::usage('uncertain takes ids or a filter, not both.');
        }
        $queue = $this->settings->queue();
        $jobs = self::found($queue, $filter);
        $ids === [] || $jobs = array_intersect_key($jobs, array_flip($ids));
        if (!$again && !$sent) {
            $jobs = array_values($jobs);
            $none = $ids === [] ? 'No mail is uncertain.' : 'None of these mails is uncertain.';
            $this->result($jobs, fn () => $jobs === [] ? print("$none\n") : $this->tell($jobs));
            return $jobs === [] && $ids !== [] ? ExitCode::FINDINGS : ExitCode::OK;
        }
        $held = !$again ? []
            : array_filter($jobs, static fn (Job $job): bool => $job->status === Status::Held);
        $code = $this->decide($queue, array_keys(array_diff_key($jobs, $held)), $ids, $again);
        $held === [] || $this->args->has('json') || print('Mail that is held must wait for its '
            . "campaign: resume sends it again.\n");
        return $code;
    }

    /** @return array<int, Job> what waits for its next attempt, a campaign or a person, by id */
    private static function found(MailQueue $queue, Filter $filter): array
    {
        $found = [];
        foreach ([Status::Failed, Status::Parked, Status::Held] as $status) {
            if (($filter->arguments['status'] ?? $status) !== $status) {
                continue;
            }
            foreach ($filter->jobs($queue, ['status' => $status, 'uncertain' => true]) as $jobs) {
                $found += array_column($jobs, null, 'id');
            }
        }
        ksort($found);
        return $found;
    }

    /** @param list<Job> $jobs */
    private function tell(array $jobs): void
    {
        $notes = []; // by row number; the head is row 0
        foreach ($jobs as $i => $job) {
            $job->lastError === null || $notes[$i + 1] = Terminal::safe($job->lastError);
        }
        $head = ['id', 'status', 'next', 'may have it', 'not yet', 'type', 'reference', 'subject'];
        Terminal::table([$head, ...array_map(self::row(...), $jobs)], $notes);
        echo "\n", Terminal::wrap('These may have arrived. Ask a recipient, or look in the '
            . "relay's log for their Message-ID (mailqueue show ID). Then send them again, or "
            . 'count them as sent:', 0), "\n  ",
        $this->settings->command('uncertain --send-again ID'), "\n  ",
        $this->settings->command('uncertain --sent ID'), "\n";
    }

    /** @return non-empty-list<string> */
    private static function row(Job $job): array
    {
        $may = count($job->uncertainTo);
        $others = count($job->recipients ?? []) - $may;
        return [
            (string) $job->id,
            $job->status->value,
            Jobs::next($job),
            Terminal::safe($job->uncertainTo[0] ?? null) . ($may > 1 ? ' +' . $may - 1 : ''),
            $others > 0 ? (string) $others : '-',
            Terminal::safe($job->type),
            Terminal::safe($job->reference),
            Jobs::short($job->subject ?? '-'),
        ];
    }

    /**
     * @param list<int> $found
     * @param list<int> $asked the ids that were given; none: all that were found
     */
    private function decide(MailQueue $queue, array $found, array $asked, bool $again): int
    {
        $count = count($found);
        $mails = $count === 1 ? '1 mail' : "$count mails";
        $asked !== [] || $count === 0
            || $this->agree($again ? "Send $mails again" : "Count $mails as sent");
        $change = $again ? $queue->retryFailed(...) : $queue->countAsSent(...);
        $changed = 0;
        foreach (array_chunk($found, self::AT_ONCE) as $some) {
            $changed += $change($some);
        }
        $what = $again ? 'brought back' : 'counted as sent';
        $of = $asked === [] ? $count : count($asked);
        $text = $changed >= $of ? "$changed $what.\n" : "$changed of $of $what; "
            . ($changed === 0 ? 'they' : 'the others')
            . ($again ? ' do not exist, are held' : ' do not exist') . " or are not uncertain.\n";
        $this->result(['changed' => $changed], static fn () => print($text));
        return $changed === 0 && $asked !== [] ? ExitCode::FINDINGS : ExitCode::OK;
    }
}
