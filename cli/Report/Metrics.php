<?php

declare(strict_types=1);

namespace MailQueue\Cli\Report;

use MailQueue;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;
use MailQueue\Stats;
use MailQueue\Status;

/** The queue's figures in Prometheus' text format (0.0.4). */
final class Metrics
{
    /** Up to this number counts are exact; larger ones are estimated, in a few milliseconds. */
    public const EXACT = 10_000;

    private string $text = '';

    public static function text(MailQueue $queue): string
    {
        $metrics = new self();
        $stats = $queue->stats(self::EXACT);
        $metrics->ofQueue($queue, $stats);
        $metrics->ofDomains($queue);
        $metrics->ofEvents($queue);
        return $metrics->text;
    }

    private function ofQueue(MailQueue $queue, Stats $stats): void
    {
        $mails = [];
        foreach (Status::cases() as $status) {
            $mails[] = [['status' => $status->value], $stats->{$status->value}];
        }
        $this->add('mails', 'gauge', 'Mails in the queue; over 10,000 estimated.', $mails);
        $overdue = $stats->due > 0 ? max(0, time() - (int) $stats->nextDueAt) : 0;
        foreach ([
            'due_mails' => ['Mails that are due now; over 10,000 estimated.', $stats->due],
            'due_age_seconds' => ['For how long the oldest mail has been due.', $overdue],
            'enabled' => ['Whether mail is sent (mailQueueEnabled).', (int) $stats->enabled],
            'workers' => ['Workers that run now.', Internal::workers($queue)],
            'last_run_timestamp_seconds' => ['When the last worker run ended.',
                $stats->lastRunAt],
            'limit_recipients_per_hour' => ['The hourly limit; 0 means none.', $stats->limit],
            'tokens' => ['Recipients that the limit allows at once.', $stats->tokens],
            'relay_paused_until_timestamp_seconds' => ['Until when a relay is paused; 0 if none '
                . 'is.', $stats->pausedUntil ?? 0],
        ] as $name => [$help, $value]) {
            $value === null || $this->add($name, 'gauge', $help, [[[], $value]]);
        }
    }

    private function ofDomains(MailQueue $queue): void
    {
        $slow = SlowDomains::of($queue);
        $help = 'Domains whose mail is slowed down, because too many recipients fail.';
        $this->add('slow_domains', 'gauge', $help, [[[], count($slow)]]);
        $pauses = [];
        foreach ($slow as $domain => $facts) {
            $pauses[] = [['domain' => $domain], $facts['pause']];
        }
        $help = 'The time from one mail to such a domain to the next.';
        $this->add('slow_domain_pause_seconds', 'gauge', $help, $pauses);
    }

    private function ofEvents(MailQueue $queue): void
    {
        $mails = $recipients = [];
        $rows = Internal::select($queue, 'SELECT mail_type, event, SUM(mails), SUM(recipients) '
            . 'FROM {C} GROUP BY mail_type, event ORDER BY mail_type, event');
        foreach ($rows as [$type, $event, $count, $of]) {
            $labels = ['type' => (string) $type, 'event' => (string) $event];
            $mails[] = [$labels, (int) $count];
            $recipients[] = [$labels, (int) $of];
        }
        $this->add('events_total', 'counter', 'Mails by what happened to them.', $mails);
        $this->add('recipients_total', 'counter', 'The same, in recipients.', $recipients);
    }

    /** @param list<array{array<string, string>, int|float}> $samples labels and value */
    private function add(string $name, string $type, string $help, array $samples): void
    {
        if ($samples === []) {
            return;
        }
        $this->text .= "# HELP mailqueue_$name $help\n# TYPE mailqueue_$name $type\n";
        foreach ($samples as [$labels, $value]) {
            $list = [];
            foreach ($labels as $label => $text) {
                $list[] = "$label=\"" . addcslashes(Terminal::safe($text), '\\"') . '"';
            }
            $this->text .= "mailqueue_$name" . ($list ? '{' . implode(',', $list) . '}' : '')
                . ' ' . (is_float($value) ? sprintf('%.4F', $value) : $value) . "\n";
        }
    }
}
