<?php

declare(strict_types=1);

namespace MailQueue\Bridge\PHPMailer;

use MailQueue\Bridge\Outbox;
use MailQueue\Enqueuer;
use PHPMailer\PHPMailer\PHPMailer;

/** PHPMailer: send() returns true when the mail is durably queued. */
class MailQueuePHPMailer extends PHPMailer
{
    use SendsThroughQueue;

    /**
     * @param bool|null $exceptions as PHPMailer's
     * @param Outbox|Enqueuer|null $queue null: the ini setting mailqueue.database names it
     */
    public function __construct($exceptions = null, Outbox|Enqueuer|null $queue = null)
    {
        parent::__construct($exceptions);
        if ($queue !== null) {
            $this->setQueue($queue);
        }
        $this->isMailQueue();
    }
}
