<?php

declare(strict_types=1);

namespace MailQueue\Bridge;

/** Event: a message was not queued; nothing of it is stored. The mail library then throws. */
final class MessageNotQueued
{
    /** @param list<string> $recipients of the envelope, Bcc among them */
    public function __construct(
        public readonly \MailQueue\Exception $error,
        public readonly string $from,
        public readonly array $recipients,
    ) {
    }
}
