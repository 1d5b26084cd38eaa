<?php

declare(strict_types=1);

namespace MailQueue\Bridge;

/**
 * Event: a message is in the queue. It is committed, unless the queue is in a transaction of yours
 * (new MailQueue($pdo)).
 */
final class MessageQueued
{
    /**
     * @param int|null $id the job's; null: a mail with this reference and type was queued already
     * @param list<string> $recipients of the envelope, Bcc among them
     */
    public function __construct(
        public readonly ?int $id,
        public readonly string $type,
        public readonly ?string $reference,
        public readonly string $from,
        public readonly array $recipients,
    ) {
    }
}
