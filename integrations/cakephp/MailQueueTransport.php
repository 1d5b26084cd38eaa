<?php

declare(strict_types=1);

namespace MailQueue\Bridge\CakePHP;

use Cake\Mailer\AbstractTransport;
use Cake\Mailer\Message;
use Cake\Network\Exception\SocketException;
use MailQueue\Bridge\Outbox;

/**
 * CakePHP: a transport for Cake\Mailer. Its configuration has the options of
 * MailQueue\Bridge\Outbox::fromOptions(), and optional objects: "queue" (MailQueue\Enqueuer),
 * "logger" (PSR-3), "dispatcher" (PSR-14).
 */
class MailQueueTransport extends AbstractTransport
{
    /** The header fields that CakePHP's own SMTP transport sends, Bcc not among them. */
    private const HEADERS = ['from', 'sender', 'replyTo', 'readReceipt', 'to', 'cc', 'subject',
        'returnPath'];

    private ?Outbox $outbox = null;

    /** @return array{headers: string, message: string} */
    public function send(Message $message): array
    {
        $this->checkRecipient($message);
        $headers = $message->getHeadersString(self::HEADERS);
        $body = implode("\r\n", (array) $message->getBody());
        $from = $message->getReturnPath() ?: $message->getFrom();
        $recipients = $message->getTo() + $message->getCc() + $message->getBcc();
        try {
            // CakePHP's own SMTP transport adds the same empty lines at the end.
            $this->outbox()->put(
                "$headers\r\n\r\n$body\r\n\r\n\r\n",
                (string) key($from),
                array_map(strval(...), array_keys($recipients))
            );
        } catch (\MailQueue\Exception $e) {
            throw new SocketException("Cannot queue the mail: {$e->getMessage()}", null, $e);
        }
        return ['headers' => $headers, 'message' => $body];
    }

    private function outbox(): Outbox
    {
        return $this->outbox ??= Outbox::fromOptions(
            $this->getConfig(),
            $this->getConfig('logger'),
            $this->getConfig('dispatcher'),
            $this->getConfig('queue'),
        );
    }
}
