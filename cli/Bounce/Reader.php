<?php

declare(strict_types=1);

namespace MailQueue\Cli\Bounce;

use MailQueue;
use MailQueue\Cli\MessagePart;
use MailQueue\Internal;
use MailQueue\MessageException;

/**
 * Reads one message, and says what it reports about addresses that got mail of this queue.
 *
 * Anybody can write a report. So only a token counts as proof (src/mime/verp.h): the report is
 * addressed to it, or returns it. Message-IDs prove nothing: the other recipients of a mail know
 * them, and so do all who see it in an archive.
 */
final class Reader
{
    /** Reports have what they say at their beginning. Behind it they can return a large mail. */
    private const OCTETS_MAX = 262144;
    private const ADDRESSES_MAX = 30;

    public function __construct(private readonly MailQueue $queue)
    {
    }

    /**
     * Reads only the beginning of the message; the rest of a stream stays unread.
     *
     * @param resource|string $message as it came, headers first; lines end with LF or CRLF
     * @throws MailQueue\DatabaseException
     */
    public function read($message): Reading
    {
        $source = is_string($message) ? substr($message, 0, self::OCTETS_MAX)
            : (string) stream_get_contents($message, self::OCTETS_MAX);
        $mail = new MessagePart($source);
        $report = Report::of($mail);
        if ($report->notices === []) {
            return new Reading($report->what, []);
        }
        $hash = Token::find((string) $this->queue->config('mailSuppressionKey'), $source);
        return $hash === null
            ? new Reading("$report->what, without a token that proves whom it is about", [])
            : new Reading($report->what, [$this->event($mail, $report, $hash)]);
    }

    /** A token is for one address, whatever others the report names. */
    private function event(MessagePart $mail, Report $report, int $hash): Event
    {
        [$notice, $address] = $this->notice($report, $hash);
        $address ??= $this->first($hash, self::addresses($mail->source)) ?? $this->recipient($hash);
        $id = $mail->header('Message-ID') ?? $mail->header('Date') . "\n" . $notice->text;
        $source = $report->what === Report::COMPLAINT ? 'complaint' : 'report';
        return new Event($address, $notice->kind, $notice->text, $source, time(), $id, null, $hash);
    }

    /** @return array{Notice, ?string} the one about the address, or else the first */
    private function notice(Report $report, int $hash): array
    {
        foreach ($report->notices as $notice) {
            $address = $this->first($hash, $notice->addresses);
            if ($address !== null) {
                return [$notice, $address];
            }
        }
        return [$report->notices[0], null];
    }

    /**
     * The first address that has this hash.
     *
     * @param list<string> $addresses
     */
    private function first(int $hash, array $addresses): ?string
    {
        foreach (array_slice($addresses, 0, self::ADDRESSES_MAX) as $address) {
            try {
                if (Internal::addressHash($this->queue, $address) === $hash) {
                    return $address;
                }
            } catch (MessageException) {
                // a text that only looks like an address
            }
        }
        return null;
    }

    /** @return list<string> all that is in the message, also in the mail that it returns */
    private static function addresses(string $source): array
    {
        preg_match_all('/[^\s<>"\'():;,@\[\]=]{1,64}@[\w.-]{1,255}\w/', $source, $matches);
        return array_values(array_unique($matches[0]));
    }

    /** The recipient of a campaign that has this hash. */
    private function recipient(int $hash): ?string
    {
        $rows = Internal::select($this->queue, 'SELECT {p}.address FROM {M} JOIN {p} ON '
            . '{p}.campaign_id = {M}.id AND {p}.hash = ?1 LIMIT 1', [$hash]);
        $list = json_decode((string) ($rows[0][0] ?? ''));
        return is_array($list) && is_string($list[0] ?? null) ? $list[0] : null;
    }
}
