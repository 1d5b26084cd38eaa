<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\Arguments;
use MailQueue\Cli\Move\Notice;
use MailQueue\Cli\Oauth\Account;
use MailQueue\Cli\Strays;
use MailQueue\Cli\Report\Metrics;
use MailQueue\Cli\Report\Pauses;
use MailQueue\Cli\Report\SlowDomains;
use MailQueue\Cli\Report\Waiting;
use MailQueue\Cli\Terminal;
use MailQueue\Stats;
use MailQueue\Status as MailStatus;

/** status: counts, limit and trouble of the queue. */
final class Status extends Command
{
    public const EXACT = Metrics::EXACT;

    public function run(): int
    {
        $queue = $this->settings->queue();
        $stats = $queue->stats(self::EXACT);
        $moved = Notice::text($this->settings);
        return $this->result($stats, function () use ($queue, $stats, $moved): void {
            foreach ($this->lines($stats) as $word => $text) {
                printf("%-9s %s\n", $word, $text);
            }
            $off = $stats->enabled ? null
                : $moved ?? 'Sending is switched off (mailQueueEnabled = 0).';
            $strays = Strays::text($queue);
            $texts = [$off, ...self::pauses($queue), ...self::logins(),
                ...SlowDomains::texts($queue), ...Waiting::texts($queue, $stats),
                self::closed($stats), self::testMode($queue, $stats), ...self::pipelining($queue),
                $strays === null ? null
                    : "$strays " . $this->settings->command('doctor') . ' says what helps.'];
            foreach (array_filter($texts) as $text) {
                $colour = str_starts_with($text, 'Test mode') ? Terminal::RED : Terminal::YELLOW;
                echo Terminal::paint(Terminal::wrap($text, 0, cuts: false), $colour), "\n";
            }
        });
    }

    /** @return list<string> a text for each relay that is paused, the last one to be used first */
    public static function pauses(MailQueue $queue): array
    {
        $texts = [];
        foreach (Pauses::of($queue) as $relay => $pause) {
            $texts[] = 'The relay ' . Terminal::safe((string) $relay) . ' is paused until '
                . Terminal::time($pause['until']) . ': ' . Terminal::safe($pause['reason']);
        }
        return $texts;
    }

    /** @return list<string> a text for each OAuth2 account; "": its login does not end soon */
    private static function logins(): array
    {
        try {
            return array_map(
                static fn (Account $one): string => ucfirst((string) $one->notice()),
                Account::all()
            );
        } catch (MailQueue\Exception) { // open_basedir does not allow their directory
            return [];
        }
    }

    /** Says which mail waits for its sending hours; null: none. */
    public static function closed(Stats $stats): ?string
    {
        $texts = [];
        foreach ($stats->closed as $types => $opening) {
            $texts[] = 'mail of ' . Terminal::safe((string) $types) . ' waits until '
                . Terminal::time($opening);
        }
        return $texts === [] ? null
            : 'Outside the sending hours (mailHours): ' . implode('; ', $texts) . '.';
    }

    /**
     * @return list<string> a text for each relay that failed when a mail was begun before its
     *     reply to the previous mail
     */
    public static function pipelining(MailQueue $queue): array
    {
        $texts = [];
        $kept = json_decode((string) $queue->config('mailRelayPipelining'), true);
        foreach (is_array($kept) ? $kept : [] as $relay => $found) {
            if (is_string($found) && preg_match('/\Agroup (\d{1,11})\z/', $found, $match)
                && (int) $match[1] > time()) {
                $texts[] = 'The relay ' . Terminal::safe($relay) . ' failed when a mail was '
                    . 'started before it had answered the previous one. Until '
                    . Terminal::time((int) $match[1]) . ' each mail waits for that answer; then '
                    . 'one mail tries again. To settle it, add ?pipelining=dot to the transport if '
                    . 'the relay can do this, otherwise ?pipelining=1.';
            }
        }
        return $texts;
    }

    /** Says where mail goes in test mode; null: to its recipients. */
    public static function testMode(MailQueue $queue, Stats $stats): ?string
    {
        if ($stats->redirectTo === null) {
            return null;
        }
        $to = Terminal::safe($stats->redirectTo);
        if (self::machine('REDIRECT_TO') !== null) {
            $but = self::machine('ALLOW_TO');
            return "Test mode of this machine: all mail goes to $to, not to its recipients"
                . ($but === null ? '' : ', unless they are among ' . Terminal::safe($but))
                . ' (MAILQUEUE_REDIRECT_TO' . ($but === null ? '' : ', MAILQUEUE_ALLOW_TO') . ').';
        }
        $types = (string) $queue->config('mailRedirectTypes');
        $every = MailQueue::configKeys()['mailRedirectTypes']['default'];
        $which = $types === '' ? $every : 'the types ' . Terminal::safe($types);
        return "Test mode: mail of $which goes to $to"
            . ', not to its recipients (config key ' . self::redirectKey($queue) . ').';
    }

    /** A setting of this machine's test mode, which overrules the database; null: not set. */
    public static function machine(string $name): ?string
    {
        $ini = (string) ini_get('mailqueue.' . strtolower($name));
        return Arguments::environment("MAILQUEUE_$name") ?? ($ini === '' ? null : $ini);
    }

    /** The config key that the test mode comes from: mailRedirectTo or its alias. */
    public static function redirectKey(MailQueue $queue): string
    {
        $key = 'mailRedirectTo';
        $others = array_filter(MailQueue::configKeys(), fn (array $of) => $of['aliasOf'] === $key);
        return (string) $queue->config($key) === '' ? (string) key($others) : $key;
    }

    /** A count as people read it. */
    public static function count(Stats $stats, string $name): string
    {
        $number = (int) $stats->{$name};
        return in_array($name, $stats->estimated, true) ? Terminal::about($number)
            : (string) $number;
    }

    /** @param array{limit: string, left: ?int, fullUntil: ?int} $limit */
    private static function limit(array $limit): string
    {
        return Terminal::safe($limit['limit']) . match (true) {
            $limit['left'] === null => '',
            $limit['fullUntil'] === null => ": $limit[left] left",
            default => ': full until ' . Terminal::time($limit['fullUntil']),
        };
    }

    /** Says when the hourly limit lets the next recipient go; "" if it lets one go now. */
    public static function nextToken(Stats $stats): string
    {
        return $stats->nextTokenAt === null ? ''
            : ', the next one in ' . Terminal::span($stats->nextTokenAt - time());
    }

    /** Whether the tokens that are left are not for mail of a priority below 0. */
    public static function isReserved(Stats $stats): bool
    {
        return $stats->tokens >= 1 && $stats->tokens < $stats->reserve + 1;
    }

    /** @return array<string, string> */
    private function lines(Stats $stats): array
    {
        $lines = [];
        foreach (MailStatus::cases() as $status) {
            $lines[$status->value] = self::count($stats, $status->value);
        }
        if ($stats->parked > 0) {
            $lines['parked'] .= '  (' . $this->settings->command('list --status parked') . ')';
        }
        $lines['due now'] = self::count($stats, 'due');
        if ($stats->oldestWaitingSince !== null) {
            $ago = Terminal::span(time() - $stats->oldestWaitingSince);
            $lines['oldest'] = Terminal::time($stats->oldestWaitingSince) . " ($ago ago)";
        }
        $lines['limit'] = $stats->limit === 0
            ? 'none (' . $this->settings->command('config mailMaxPerHour 60') . ' sets one)'
            : sprintf(
                '%d recipients an hour (%s), %.1F of %d tokens left%s%s',
                $stats->limit,
                $stats->rateMode,
                $stats->tokens,
                $stats->burst,
                self::nextToken($stats),
                self::isReserved($stats)
                    ? ", kept for mail of priority 0 and above (mailReserve $stats->reserve)" : ''
            );
        if ($stats->limits !== []) {
            $lines['limits'] = implode(', ', array_map(self::limit(...), $stats->limits))
                . " ($stats->rateMode)";
        }
        if ($stats->emptyIn !== null && $stats->due > 0 && $stats->enabled
            && $stats->pausedUntil === null) {
            $lines['empty in'] = $stats->emptyIn === 0 ? 'one run, the limit allows all of it'
                : 'about ' . Terminal::span($stats->emptyIn) . ' at this limit';
        }
        if ($stats->nextDueAt !== null) {
            $lines['next due'] = Terminal::time($stats->nextDueAt);
        }
        $lines['last run'] = Terminal::time($stats->lastRunAt);
        return $lines;
    }
}
