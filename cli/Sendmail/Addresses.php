<?php

declare(strict_types=1);

namespace MailQueue\Cli\Sendmail;

use MailQueue;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;
use MailQueue\MessageException;

/** Turns addresses as programs write them into plain ones. */
final class Addresses
{
    public const ATOM = '[A-Za-z0-9.!#$%&\'*+\/=?^_`{|}~-]+';

    /**
     * @param Aliases|null $aliases for recipients
     * @return list<string>
     * @throws Stop with ExitCode::NOUSER; ExitCode::CONFIG for a fault of the aliases file
     */
    public static function of(string $text, ?Aliases $aliases = null): array
    {
        $why = match (true) {
            str_starts_with($text, '-') => 'begins with "-": is it an option in the wrong place?',
            preg_match('/[\x00-\x1F\x7F]/', $text) === 1 => 'has a control character; remove it',
            default => null,
        };
        if ($why !== null) {
            $shown = Terminal::safe($text);
            throw new Stop("the address \"$shown\" $why", ExitCode::NOUSER);
        }
        $list = self::qualified($text, $aliases);
        try {
            return MailQueue::envelope("To: $list\r\n\r\n")['recipients'];
        } catch (MessageException $e) {
            $why = (string) preg_replace('/\ATo: /', '', $e->getMessage());
            throw new Stop($why, ExitCode::NOUSER);
        }
    }

    /** How many recipients of one mail enqueue() takes. */
    public static function most(): int
    {
        return Internal::limits()['recipients'][1];
    }

    /**
     * Replaces users of this host, such as "root", by their aliases, or adds the host's name. Other
     * addresses stay as they are.
     *
     * @param int $count how many addresses the aliases gave to the mail so far
     * @throws Stop
     */
    public static function qualified(
        string $list,
        ?Aliases $aliases = null,
        int &$count = 0
    ): string {
        $comment = '\([^()\\\\]*+(?:\\\\.[^()\\\\]*+)*+\)';
        $quoted = '"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"';
        $isUser = '/\A(\s*(?:[^<>]*<)?\s*)(' . self::ATOM . ")(\s*>?\s*(?:$comment\s*)?)\z/s";
        $named = static function (array $match) use ($aliases, &$count): string {
            if ($aliases === null) {
                return "$match[1]$match[2]@" . Host::name() . $match[3];
            }
            $found = $aliases->of($match[2]);
            $count += count($found);
            return $count <= self::most() ? implode(', ', $found)
                : throw new Stop('with the aliases of this host the mail has more than '
                    . self::most() . ' recipients; send several', ExitCode::NOUSER);
        };
        $add = static fn (array $match): string => str_contains($match[0], '@') ? $match[0]
            : preg_replace_callback($isUser, $named, $match[0]) ?? $match[0];
        return preg_replace_callback("/(?:$quoted|{$comment}|[^\",(]++)++/s", $add, $list) ?? $list;
    }
}
