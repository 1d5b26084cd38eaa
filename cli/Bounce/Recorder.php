<?php

declare(strict_types=1);

namespace MailQueue\Cli\Bounce;

use MailQueue;

/** Stores events, and suppresses their addresses. */
final class Recorder
{
    public function __construct(private readonly MailQueue $queue)
    {
    }

    /**
     * Stores an event and does what follows from it, in one transaction; the second time, nothing.
     *
     * @throws MailQueue\DatabaseException
     * @throws MailQueue\MessageException for an address that cannot be one
     */
    public function record(Event $event): Outcome
    {
        throw new \LogicException('Bounces are not built yet.');
    }
}
