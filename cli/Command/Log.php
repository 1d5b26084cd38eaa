<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\Arguments;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\LogFiles;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** log: what the workers logged about a mail, and whether it was sent. */
final class Log extends Command
{
    /** Events that say how an attempt ended. The log has other events, too. */
    private const OUTCOMES = ['sent', 'try_later', 'refused', 'suppressed', 'parked', 'uncertain',
        'expired', 'orphan'];
    private const UNKNOWN = ['reference' => null, 'outcome' => null, 'at' => null];
    private const AT_ONCE = 10_000;

    /** @var list<array<string, mixed>> the last events that match: they are shown */
    private array $events = [];
    private int $left = 0;
    /** @var array<int, array{reference: ?string, outcome: ?string, at: ?string}> asked for */
    private array $mails = [];

    public function run(): int
    {
        $limit = $this->args->int('limit', 50, 1, 1_000_000);
        $id = $this->args->int('id', null, 1, PHP_INT_MAX);
        $reference = $this->args->text('reference');
        $asks = $id !== null || $reference !== null;
        $queue = $this->queue();
        $log = new LogFiles($this->args->text('log', 'MAIL_QUEUE_LOG', 'mailqueue.log')
            ?? $queue?->diagnostics()['log'] ?? throw Stop::config('Name the log with --log.'));
        foreach ($log->events($this->since()) as $event) {
            if (($id === null || ($event['id'] ?? null) === $id)
                && ($reference === null || (string) ($event['reference'] ?? '') === $reference)) {
                $this->keep($event, $limit);
                $asks && $this->note($event);
            }
        }
        $this->forget($limit);
        $waiting = $reference === null ? array_filter([$id]) : self::waiting($reference, $queue);
        foreach ($id === null ? $waiting : array_intersect($waiting, [$id]) as $one) {
            $this->mails[$one] ??= ['reference' => $reference] + self::UNKNOWN;
        }
        $answers = array_map(
            static fn (int $id, array $mail): array
            => self::answer($id, $mail, $queue),
            array_keys($this->mails),
            $this->mails
        );
        $isSent = $answers && !in_array(false, array_column($answers, 'sent'), true);
        $this->result(
            ['mails' => $answers, 'events' => $this->events, 'left' => $this->left],
            fn () => $this->show($answers, $asks)
        );
        foreach ($log->skipped as $file) {
            Terminal::error('mailqueue: ' . Terminal::safe($file) . ' cannot be read here.');
        }
        $log->unreadable === 0 || Terminal::error("mailqueue: $log->unreadable lines of the log "
            . 'cannot be read.');
        return $asks && !$isSent ? ExitCode::FINDINGS : ExitCode::OK;
    }

    /** @return list<int> mails with that reference in the queue, perhaps not in the log yet */
    private static function waiting(string $reference, ?MailQueue $queue): array
    {
        return array_column($queue?->jobs(limit: self::AT_ONCE, reference: $reference) ?? [], 'id');
    }

    /** Null if there is no queue but the log is named: the log can be read without a queue. */
    private function queue(): ?MailQueue
    {
        try {
            return $this->settings->queue();
        } catch (Stop | MailQueue\Exception $e) {
            return $this->args->text('log', 'MAIL_QUEUE_LOG', 'mailqueue.log') === null ? throw $e
                : null;
        }
    }

    private function since(): int
    {
        $text = $this->args->text('since');
        if ($text === null) {
            return 0;
        }
        $at = Arguments::time($text) ?? throw Stop::usage('--since takes a time, such as '
            . '2026-11-21, "2026-11-21 09:35" (UTC), yesterday or "2 hours ago", not "'
            . Terminal::safe(trim($text) === '' ? '(nothing)' : $text) . '".');
        return $at <= time() ? $at : throw Stop::usage('--since ' . Terminal::safe($text)
            . ' is in the future. ("2 hours ago" has its "ago".)');
    }

    /** @param array<string, mixed> $event */
    private function keep(array $event, int $limit): void
    {
        $this->events[] = $event;
        if (count($this->events) > 2 * $limit) {
            $this->forget($limit);
        }
    }

    /** @param array<string, mixed> $event */
    private function note(array $event): void
    {
        $id = $event['id'] ?? null;
        if (!is_int($id)) {
            return;
        }
        $this->mails[$id] ??= self::UNKNOWN;
        $mail = &$this->mails[$id];
        $mail['reference'] = (string) ($event['reference'] ?? '') ?: $mail['reference'];
        if (in_array($event['event'], self::OUTCOMES, true)) {
            [$mail['outcome'], $mail['at']] = [$event['event'], $event['time']];
        }
    }

    private function forget(int $limit): void
    {
        $excess = max(0, count($this->events) - $limit);
        $this->left += $excess;
        $this->events = array_slice($this->events, $excess);
    }

    /**
     * Says what became of a mail. A mail in the queue was not sent to all its recipients.
     *
     * @param array{reference: ?string, outcome: ?string, at: ?string} $mail
     * @return array{id: int, reference: ?string, sent: bool, outcome: ?string, at: ?string,
     *     status: ?string}
     */
    private static function answer(int $id, array $mail, ?MailQueue $queue): array
    {
        $status = $queue?->job($id)?->status->value;
        return ['id' => $id, 'reference' => $mail['reference'],
            'sent' => $status === null && $mail['outcome'] === 'sent',
            'outcome' => $mail['outcome'], 'at' => $mail['at'], 'status' => $status];
    }

    /** @param list<array<string, mixed>> $answers */
    private function show(array $answers, bool $asks): void
    {
        echo $this->left === 0 ? '' : "($this->left earlier lines; --limit shows more)\n";
        foreach ($this->events as $event) {
            printf(
                "%s  %-13s  %s\n",
                self::time($event['time']),
                Terminal::safe($event['event']),
                rtrim(($event['id'] ?? '') . '  '
                    . Terminal::safe((string) ($event['reference'] ?? '')))
            );
            $more = self::details($event);
            echo $more === '' ? '' : '    ' . Terminal::wrap($more, 4, cuts: false) . "\n";
        }
        foreach ($answers as $mail) {
            echo Terminal::paint(
                Terminal::wrap($this->sentence($mail), 0, cuts: false),
                Terminal::BOLD
            ), "\n";
        }
        if (!$this->events && (!$asks || !$answers)) {
            echo "The log says nothing about that.\n";
        }
    }

    private static function time(string $time): string
    {
        return Terminal::time((int) strtotime($time));
    }

    /** @param array<string, mixed> $event */
    private static function details(array $event): string
    {
        $parts = [];
        $one = ($event['recipients'] ?? 0) === 1;
        $forms = ['relay' => '%s', 'recipients' => $one ? '%s recipient' : '%s recipients',
            'attempt' => 'attempt %s', 'uncertain' => '%s earlier uncertain', 'ms' => '%s ms',
            'next_attempt_at' => 'again %s'];
        foreach ($forms as $key => $form) {
            $value = $event[$key] ?? null;
            if (is_scalar($value)) {
                $text = $key === 'next_attempt_at' ? self::time((string) $value) : (string) $value;
                $parts[] = sprintf($form, Terminal::safe($text));
            }
        }
        $reply = is_string($event['reply'] ?? null) ? Terminal::safe($event['reply']) : '';
        return implode(', ', $parts) . ($parts && $reply !== '' ? ': ' : '') . $reply;
    }

    /** @param array<string, mixed> $mail an answer */
    private function sentence(array $mail): string
    {
        $name = "Mail $mail[id]" . ($mail['reference'] === null ? ''
            : ' (' . Terminal::safe($mail['reference']) . ')');
        $last = $mail['outcome'] === null ? ''
            : " The last outcome is $mail[outcome], " . self::time($mail['at']) . '.';
        return match (true) {
            $mail['sent'] => "$name was sent, " . self::time($mail['at']) . '.',
            $mail['status'] !== null => "$name is in the queue ($mail[status]).$last "
                . $this->settings->command("show $mail[id]") . ' says more.',
            in_array($mail['outcome'], ['expired', 'orphan', 'suppressed'], true)
                => "$name was not sent: $mail[outcome], " . self::time($mail['at']) . '.',
            default => "$name: the log does not say that it was sent.$last",
        };
    }
}
