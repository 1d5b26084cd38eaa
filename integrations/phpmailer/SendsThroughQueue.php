<?php

declare(strict_types=1);

namespace MailQueue\Bridge\PHPMailer;

use MailQueue\Bridge\Outbox;
use MailQueue\Enqueuer;

/**
 * For subclasses of PHPMailer: queues what send() composes if Mailer is "mailqueue".
 *
 * isSMTP(), isMail(), isSendmail() and isQmail() choose the queue too, so that code which calls
 * them needs no change. To send directly, set Mailer.
 */
trait SendsThroughQueue
{
    private ?Outbox $mailqueueOutbox = null;
    private ?int $mailqueueId = null;

    /** Sets the queue to use. Without this call, the ini setting mailqueue.database names it. */
    public function setQueue(Outbox|Enqueuer $queue): void
    {
        $this->mailqueueOutbox = $queue instanceof Outbox ? $queue : new Outbox($queue);
    }

    /** Id of the job of the last mail; null if that mail was queued already. */
    public function getQueueId(): ?int
    {
        return $this->mailqueueId;
    }

    public function isMailQueue(): void
    {
        $this->Mailer = 'mailqueue';
    }

    /** @return void */
    public function isSMTP()
    {
        $this->isMailQueue();
    }

    /** @return void */
    public function isMail()
    {
        $this->isMailQueue();
    }

    /** @return void */
    public function isSendmail()
    {
        $this->isMailQueue();
    }

    /** @return void */
    public function isQmail()
    {
        $this->isMailQueue();
    }

    /** Composes as for SMTP: with CRLF, which also decides where lines are wrapped. */
    public function preSend()
    {
        if ($this->Mailer !== 'mailqueue') {
            return parent::preSend();
        }
        $this->Mailer = 'smtp';
        try {
            return parent::preSend();
        } finally {
            $this->Mailer = 'mailqueue';
        }
    }

    /** Opens a queue if setQueue() was not called. @throws \MailQueue\Exception */
    protected function openQueue(): Outbox
    {
        return Outbox::fromOptions([]);
    }

    /**
     * PHPMailer's postSend() calls this for the Mailer "mailqueue".
     *
     * @param string $header
     * @param string $body
     * @return bool
     * @throws \PHPMailer\PHPMailer\Exception
     */
    protected function mailqueueSend($header, $body)
    {
        $sender = (string) $this->Sender;
        $addresses = array_merge($this->to, $this->cc, $this->bcc);
        try {
            $this->mailqueueOutbox ??= $this->openQueue();
            // As PHPMailer's SMTP transport does, add a CRLF whatever the message ends with.
            $this->mailqueueId = $this->mailqueueOutbox->put(
                rtrim($header, " \r\n\t") . static::$LE . static::$LE . $body . static::$LE,
                $sender === '' ? $this->From : $sender,
                array_column($addresses, 0),
                cutLines: true,
            );
        } catch (\MailQueue\Exception $e) {
            throw new \PHPMailer\PHPMailer\Exception($e->getMessage(), self::STOP_CRITICAL, $e);
        }
        foreach ($addresses as [$address, $name]) {
            $this->doCallback(
                true,
                [[$address, $name]],
                [],
                [],
                $this->Subject,
                $body,
                $this->From,
                ['mailqueue_id' => $this->mailqueueId]
            );
        }
        return true;
    }
}
