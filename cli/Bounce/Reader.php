<?php

declare(strict_types=1);

namespace MailQueue\Cli\Bounce;

use MailQueue;

/** Reads one message, and says what it reports about addresses that got mail of this queue. */
final class Reader
{
    public function __construct(private readonly MailQueue $queue)
    {
    }

    /**
     * Reads only as much of the message as it needs; the rest of a stream stays unread.
     *
     * @param resource|string $message as it came, headers first; lines end with LF or CRLF
     * @param string|null $recipient the envelope's recipient, if it is known
     * @throws MailQueue\DatabaseException
     */
    public function read($message, ?string $recipient = null): Reading
    {
        throw new \LogicException('Bounces are not built yet.');
    }
}
