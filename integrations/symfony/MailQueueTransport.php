<?php

declare(strict_types=1);

namespace MailQueue\Bridge\Symfony;

use MailQueue\Bridge\Outbox;
use MailQueue\Enqueuer;
use Psr\EventDispatcher\EventDispatcherInterface;
use Psr\Log\LoggerInterface;
use Symfony\Component\Mailer\Exception\TransportException;
use Symfony\Component\Mailer\SentMessage;
use Symfony\Component\Mailer\Transport\AbstractTransport;
use Symfony\Component\Mime\Address;

/** Stores what Symfony Mailer sends in the queue: "sent" means durably queued. */
final class MailQueueTransport extends AbstractTransport
{
    private Outbox $outbox;

    /** @param string $name what the transport calls itself in logs and events */
    public function __construct(
        Outbox|Enqueuer $queue,
        ?EventDispatcherInterface $dispatcher = null,
        ?LoggerInterface $logger = null,
        private string $name = 'mailqueue://default',
    ) {
        parent::__construct($dispatcher, $logger);
        $this->outbox = $queue instanceof Outbox ? $queue
            : new Outbox($queue, logger: $logger, dispatcher: $dispatcher);
    }

    public function __toString(): string
    {
        return $this->name;
    }

    protected function doSend(SentMessage $message): void
    {
        $envelope = $message->getEnvelope();
        try {
            // As Symfony's SMTP transport does, add a CRLF whatever the message ends with.
            $id = $this->outbox->put(
                $message->toString() . "\r\n",
                $envelope->getSender()->getEncodedAddress(),
                array_map(
                    static fn (Address $address) => $address->getEncodedAddress(),
                    $envelope->getRecipients(),
                ),
            );
        } catch (\MailQueue\Exception $e) {
            throw new TransportException("Cannot queue the mail: {$e->getMessage()}", 0, $e);
        }
        $message->appendDebug($id === null ? "queued already\n" : "queued as job $id\n");
    }
}
