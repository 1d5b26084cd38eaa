<?php

declare(strict_types=1);

namespace MailQueue\Cli\Report;

use MailQueue;
use MailQueue\Campaign;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Nearest;
use MailQueue\Cli\Progress;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;

/**
 * Campaigns, and what became of their recipients, for people.
 *
 * @phpstan-import-type Progress from Campaign as Figures
 */
final class Campaigns
{
    private const KNOWN = 1000;
    private const BAR = 40;

    /** The campaign of a name; MailQueue::campaign() would create it. */
    public static function find(MailQueue $queue, string $name): Campaign
    {
        if (Internal::select($queue, 'SELECT 1 FROM {M} WHERE name = ?1', [$name]) === []) {
            $names = array_column($queue->campaigns(self::KNOWN), 'name');
            throw new Stop('There is no campaign "' . Terminal::safe($name) . '".'
                . Nearest::hint($name, $names), ExitCode::FINDINGS);
        }
        return $queue->campaign($name);
    }

    /**
     * How many recipients still get their mail, or another attempt.
     *
     * @param Figures $of
     */
    public static function left(array $of): int
    {
        return $of['sending'] + ($of['state'] === 'cancelled' ? 0
            : $of['waiting'] + $of['pending'] + $of['failed'] + $of['held']);
    }

    /**
     * Whether it will expire before all have their mail, as far as one can tell.
     *
     * @param Figures $of
     */
    public static function isCut(array $of): bool
    {
        return $of['endsAt'] !== null && $of['expiresAt'] !== null
            && $of['endsAt'] >= $of['expiresAt'];
    }

    /**
     * How many recipients are settled. What a cancelled campaign has deleted is not.
     *
     * @param Figures $of
     */
    public static function done(array $of): int
    {
        return $of['sent'] + $of['refused'] + $of['parked'] + $of['suppressed']
            + ($of['state'] === 'cancelled' ? 0 : $of['gone']);
    }

    /**
     * "spring is running: 800 of 1,000 recipients are done."
     *
     * @param Figures $of
     */
    public static function sentence(array $of): string
    {
        $isLater = $of['state'] === 'running' && (int) $of['startAt'] > time();
        return Terminal::safe($of['name']) . ($isLater ? ' starts at '
            . Terminal::time($of['startAt']) : " is $of[state]") . ': '
            . number_format(self::done($of)) . ' of '
            . number_format($of['recipients']) . ' recipients are done.';
    }

    /** @param list<Figures> $all */
    public static function table(array $all): void
    {
        $rows = [['name', 'state', 'recipients', 'sent', 'left', 'failed', 'an hour', 'ends in']];
        foreach ($all as $of) {
            $rows[] = [
                Terminal::safe($of['name']),
                $of['state'],
                number_format($of['recipients']),
                number_format($of['sent']),
                number_format(self::left($of)),
                number_format($of['refused'] + $of['parked']),
                $of['perHour'] === null ? '-' : number_format($of['perHour']),
                $of['endsAt'] === null ? '-' : Terminal::span($of['endsAt'] - time()),
            ];
        }
        $all === [] ? print("No campaigns.\n") : Terminal::table($rows);
    }

    /** @param Figures $of */
    public static function show(array $of): void
    {
        $done = self::done($of);
        if (stream_isatty(STDOUT)) {
            $length = max(5, min(self::BAR, Terminal::columns(STDOUT) - 10));
            echo Progress::bar($done, $of['recipients'], $length), ' ',
            floor(100 * $done / max(1, $of['recipients'])), " %\n";
        }
        foreach (self::facts($of) as $word => $text) {
            printf("%-11s %s\n", $word, $text);
        }
    }

    /**
     * @param Figures $of
     * @return array<string, string>
     */
    private static function facts(array $of): array
    {
        $facts = ['name' => Terminal::safe($of['name']), 'state' => $of['state'],
            'recipients' => number_format($of['recipients'])];
        foreach (['waiting' => ' (no mail in the queue yet)', 'pending' => '', 'sending' => '',
            'failed' => ' (to be tried again)', 'held' => '', 'sent' => '', 'refused' => '',
            'parked' => '', 'suppressed' => '', 'gone' => ' (deleted without being sent)',
            'uncertain' => ' attempts (the mail may have arrived twice)'] as $word => $more) {
            if ($of[$word] > 0 || $word === 'sent') {
                $facts[$word] = number_format($of[$word]) . $more;
            }
        }
        if ($of['perHour'] !== null) {
            $facts['rate'] = number_format($of['perHour']) . ' an hour since the start';
        }
        if ($of['endsAt'] !== null) {
            $facts['ends'] = Terminal::time($of['endsAt']) . ' (in '
                . Terminal::span($of['endsAt'] - time()) . (self::isCut($of)
                ? ', as it expires: the rest gets no mail)' : ', at this rate or the limit)');
        }
        foreach (['startAt' => 'start', 'startedAt' => 'started', 'expiresAt' => 'expires',
            'finishedAt' => 'finished', 'onFinished' => 'onFinished'] as $name => $word) {
            if ($of[$name] !== null) {
                $facts[$word] = is_int($of[$name]) ? Terminal::time($of[$name]) : $of[$name];
            }
        }
        return $facts;
    }
}
