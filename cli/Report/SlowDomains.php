<?php

declare(strict_types=1);

namespace MailQueue\Cli\Report;

use MailQueue;
use MailQueue\Cli\Terminal;

/** The domains of recipients whose mail is slowed down now (src/queue/config/slow.c). */
final class SlowDomains
{
    /** A domain to which no mail went for so long is not slowed down any more. */
    private const FORGET_S = 3600;

    /**
     * @return array<string, array{pause: int, percent: int, reply: string}> by domain: seconds from
     *     one mail to the next, how many of its recent recipients failed, the last reply
     */
    public static function of(MailQueue $queue): array
    {
        $found = [];
        $kept = json_decode((string) $queue->config('mailSlowDomains'), true);
        $off = trim((string) $queue->config('mailSlowdown')) === '0';
        foreach (is_array($kept) && !$off ? $kept : [] as $domain => $text) {
            if (is_string($text) && preg_match(
                '/\A([1-9]\d{0,8}) (\d{1,12}) \d+ (\d{1,12}) (\d{1,12}) (.*)\z/s',
                $text,
                $match
            ) && (int) $match[2] + self::FORGET_S > time()) {
                [, $pause, , $good, $bad, $reply] = $match;
                $percent = round(100 * $bad / max(1, $good + $bad));
                $found[(string) $domain] = ['pause' => (int) $pause, 'percent' => (int) $percent,
                    'reply' => $reply];
            }
        }
        return $found;
    }

    /** @return list<string> a text for each */
    public static function texts(MailQueue $queue): array
    {
        $texts = [];
        foreach (self::of($queue) as $domain => $slow) {
            $texts[] = 'Mail to ' . Terminal::safe($domain) . ' is slowed down to one in '
                . "$slow[pause] s (mailSlowdown): of its recent recipients $slow[percent] % were "
                . 'deferred or refused, the last one with: ' . Terminal::safe($slow['reply']);
        }
        return $texts;
    }
}
