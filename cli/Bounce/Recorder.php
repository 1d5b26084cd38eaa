<?php

declare(strict_types=1);

namespace MailQueue\Cli\Bounce;

use MailQueue;
use MailQueue\Internal;

/** Stores events, and suppresses their addresses. */
final class Recorder
{
    private const SOURCE_MAX = 190; // octets, as of MailQueue::suppress()
    /** So many soft bounces in 30 days are as one that is hard. */
    private const SOFT_MAX = 5;

    public function __construct(private readonly MailQueue $queue)
    {
    }

    /**
     * Stores an event and does what follows from it, in one transaction; the second time, nothing.
     *
     * @throws MailQueue\DatabaseException
     * @throws MailQueue\MessageException for an address that cannot be one
     * @throws \ValueError for another value that cannot be stored
     */
    public function record(Event $event): Outcome
    {
        [$reason, $least] = match ($event->kind) {
            Kind::Hard => ['hard_bounce', 1],
            Kind::Complaint => ['complaint', 1],
            Kind::Unsubscribe => ['unsubscribe', 1],
            Kind::Soft, Kind::Quota => ['hard_bounce', self::SOFT_MAX],
            Kind::Blocked, Kind::Policy, Kind::Unknown => ['hard_bounce', 0],
            Kind::AutoReply => [null, 0],
        };
        if ($reason === null || ($event->address === null && $event->hash === null)) {
            return Outcome::Nothing;
        }
        $identity = unpack('J', hash('sha256', "$event->source\0$event->id", true)) ?: [1 => 0];
        return Outcome::from(Internal::bounce(
            $this->queue,
            $event->address,
            $event->hash ?? 0,
            (int) $identity[1],
            $event->kind->value,
            $least,
            $reason,
            $event->scope,
            self::cut("$event->source: " . self::withoutAddresses($event->text)),
            $event->at
        ));
    }

    /** `forget` could not find an address in there. */
    private static function withoutAddresses(string $text): string
    {
        return (string) preg_replace('/[^\s<>"\'():;,@]{1,64}@[\w.-]+/u', '…', $text);
    }

    private static function cut(string $text): string
    {
        return (string) preg_replace(
            '/\A(.{0,' . self::SOURCE_MAX . '})(?![\x80-\xbf]).*\z/s',
            '$1',
            $text
        );
    }
}
