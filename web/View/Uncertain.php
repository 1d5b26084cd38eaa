<?php

declare(strict_types=1);

namespace MailQueue\Web\View;

use MailQueue\Job;
use MailQueue\Status;
use MailQueue\Web\Html;
use MailQueue\Web\Search;
use MailQueue\Web\Selection;

/** Mails of which nobody knows whether they arrived, by their states. */
final class Uncertain extends Listing
{
    /** The states in which they are, in the order of the list. */
    private const STATES = [Status::Parked, Status::Failed, Status::Held];

    public function title(): string
    {
        return $this->t('Uncertain');
    }

    public function content(): Html
    {
        [$states, $after] = $this->place();
        $isFirst = $states === self::STATES && $after === 0;
        $until = microtime(true) + Search::SECONDS;
        $jobs = [];
        do {
            $status = array_shift($states);
            $search = $this->search($status, $after, $until - microtime(true));
            array_push($jobs, ...$search->jobs);
            $after = 0;
        } while ($search->next === null && $states !== []);
        $isNone = $jobs === [] && !$search->isPart;
        return Html::all(
            Html::e('p', ['class' => 'lead'], $this->t('The connection ended before the '
                . 'relay had answered: these mails may have arrived. Look into the log of the '
                . 'relay, or ask a recipient. Sent again, they may arrive twice.')),
            $isNone ? Html::e('p', ['class' => 'state good'], $this->t($isFirst
                ? 'No mail is uncertain.' : 'No other mail is uncertain.')) : null,
            $jobs === [] ? null : $this->mails($jobs),
            $search->next === null ? null : $this->more($search, $status, $search->next)
        );
    }

    /** @return array{non-empty-list<Status>, int} where the search goes on */
    private function place(): array
    {
        $request = $this->context->request;
        $after = $request->text('after') ?? '';
        $at = array_search(Status::tryFrom($request->text('status') ?? ''), self::STATES, true);
        return [array_slice(self::STATES, (int) $at) ?: self::STATES,
            preg_match('/\A\d{1,18}\z/', $after) === 1 ? (int) $after : 0];
    }

    private function search(Status $status, int $after, float $seconds): Search
    {
        $of = static fn (string $name): ?string => $name === 'status' ? $status->value : null;
        $queue = $this->context->queue;
        return new Search($queue, new Selection($of), $after, $seconds, true);
    }

    private function more(Search $search, Status $status, int $after): Html
    {
        $to = $this->context->links->to(
            'uncertain',
            ['status' => $status->value, 'after' => $after]
        );
        return Html::all(
            $search->isPart ? Html::e('p', ['class' => 'note'], $this->t(
                'Looked at mails that are %s, up to %s; the rest would take too long at once. '
                    . '"mailqueue uncertain" looks at all.',
                $this->t($status->value),
                $after
            )) : null,
            Html::e('a', ['rel' => 'next', 'href' => $to], $this->t($search->isPart
                ? 'Go on looking' : 'Next page'))
        );
    }

    /** @param list<Job> $jobs */
    private function mails(array $jobs): Html
    {
        return $this->list(
            ['id' => 'Id', 'status' => 'Status', 'recipient' => 'Recipient',
                'subject' => 'Subject', 'last' => 'Last attempt'],
            $jobs,
            $this->row(...),
            ['retry' => 'Send again', 'sent' => 'Count as sent'],
            'all that are uncertain'
        );
    }

    /** @return array<string, Html|string> */
    private function row(Job $job): array
    {
        $link = $this->context->links->to('mail', ['id' => $job->id]);
        $status = $job->status->value;
        return [
            'id' => Html::e('a', ['href' => $link], (string) $job->id),
            'status' => Html::e('span', ['class' => "status $status"], $this->t($status)),
            'recipient' => implode(', ', $job->uncertainTo),
            'subject' => (string) $job->subject,
            'last' => $this->context->texts->time($job->lastAttemptAt),
        ];
    }
}
