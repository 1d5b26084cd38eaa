<?php

declare(strict_types=1);

namespace MailQueue\Bridge\WordPress;

use MailQueue\Bridge\Outbox;
use MailQueue\Bridge\PHPMailer\SendsThroughQueue;

/** For WordPress's PHPMailer: queues all mail, whatever Mailer a plugin has set. */
trait SendsWordPressMail
{
    use SendsThroughQueue;

    public function send()
    {
        $this->isMailQueue();
        return parent::send();
    }

    protected function openQueue(): Outbox
    {
        $queue = apply_filters('mailqueue_queue', null);
        return match (true) {
            $queue instanceof Outbox => $queue,
            $queue !== null => new Outbox($queue),
            default => Outbox::fromOptions(SettingsPage::options()),
        };
    }
}
