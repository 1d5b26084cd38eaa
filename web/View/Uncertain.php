<?php

declare(strict_types=1);

namespace MailQueue\Web\View;

use MailQueue\Job;
use MailQueue\Status;
use MailQueue\Web\Html;

/** Mails of which nobody knows whether they arrived. */
final class Uncertain extends Listing
{
    private const MOST = 100;

    public function title(): string
    {
        return $this->t('Uncertain');
    }

    public function content(): Html
    {
        $about = Html::e('p', ['class' => 'lead'], $this->t('The connection ended before the '
            . 'relay had answered: these mails may have arrived. Look into the log of the relay, '
            . 'or ask a recipient. Sent again, they may arrive twice.'));
        $jobs = [];
        foreach ([Status::Parked, Status::Failed] as $status) {
            $room = self::MOST - count($jobs);
            $more = $room === 0 ? [] : $this->context->queue->jobs($status, $room, uncertain: true);
            array_push($jobs, ...$more);
        }
        if ($jobs === []) {
            $none = Html::e('p', ['class' => 'state good'], $this->t('No mail is uncertain.'));
            return Html::all($about, $none);
        }
        $list = $this->list(
            ['id' => 'Id', 'recipient' => 'Recipient', 'subject' => 'Subject',
                'last' => 'Last attempt'],
            $jobs,
            $this->row(...),
            ['retry' => 'Send again', 'sent' => 'Count as sent'],
            'all that are uncertain'
        );
        return Html::all($about, $list, count($jobs) < self::MOST ? null : Html::e(
            'p',
            ['class' => 'note'],
            $this->t('These are the first %s. "mailqueue uncertain" lists all.', self::MOST)
        ));
    }

    /** @return array<string, Html|string> */
    private function row(Job $job): array
    {
        $link = $this->context->links->to('mail', ['id' => $job->id]);
        return [
            'id' => Html::e('a', ['href' => $link], (string) $job->id),
            'recipient' => implode(', ', $job->uncertainTo),
            'subject' => (string) $job->subject,
            'last' => $this->context->texts->time($job->lastAttemptAt),
        ];
    }
}
