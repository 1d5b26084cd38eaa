<?php

declare(strict_types=1);

namespace MailQueue\Web\View;

use MailQueue\Job;
use MailQueue\Status;
use MailQueue\Web\Figures;
use MailQueue\Web\Html;
use MailQueue\Web\Search;
use MailQueue\Web\Selection;

/** The list of mails. */
final class Mails extends Listing
{
    private const LABELS = ['type' => 'Type', 'reference' => 'Reference',
        'recipient' => 'Recipient', 'error' => 'Error', 'subject' => 'Subject',
        'campaign' => 'Campaign', 'older' => 'Older than'];

    public function title(): string
    {
        return $this->t('Mails');
    }

    public function content(): Html
    {
        $request = $this->context->request;
        $selection = new Selection($request->text(...));
        $after = $request->text('after') ?? '0';
        $search = new Search(
            $this->context->queue,
            $selection,
            preg_match('/\A\d{1,18}\z/', $after) ? (int) $after : 0
        );
        $isNone = $search->jobs === [];
        return Html::all(
            $this->tabs($selection),
            $this->filter($selection, $search->jobs),
            $isNone && !$search->isPart ? $this->note($this->t('No mail.')) : null,
            $isNone ? null : $this->mails($search->jobs, $selection),
            $search->next === null ? null : $this->more($search, $selection, $search->next)
        );
    }

    private function more(Search $search, Selection $selection, int $after): Html
    {
        $to = $this->context->links->to('mails', $selection->fields + ['after' => $after]);
        return Html::all(
            $search->isPart ? $this->note($this->t('Looked at the mails up to %s; the rest would '
                . 'take too long at once. With a status or a reference it looks at fewer.', $after))
                : null,
            Html::e('a', ['rel' => 'next', 'href' => $to], $this->t($search->isPart
                ? 'Go on looking' : 'Next page'))
        );
    }

    private function note(string $text): Html
    {
        return Html::e('p', ['class' => 'note'], $text);
    }

    private function tabs(Selection $selection): Html
    {
        $stats = $this->context->stats();
        $texts = $this->context->texts;
        $tabs = [];
        foreach ([null, ...Status::cases()] as $status) {
            $name = $status?->value;
            if ($status === Status::Held && $stats->held === 0) {
                continue;
            }
            $count = $name === null ? null : (int) $stats->{$name};
            $isAbout = in_array($name, $stats->estimated, true);
            $number = $count === null ? null : Html::e(
                'small',
                [],
                $isAbout ? $texts->about($count) : $texts->number($count)
            );
            $fields = ['status' => $name] + $selection->fields;
            $tabs[] = Html::e('li', [], Html::e('a', ['href' => $this->context->links->to(
                'mails',
                $fields
            ), 'aria-current' => ($selection->fields['status'] ?? null) === $name
                    ? 'true' : null], $this->t($name ?? 'all'), ' ', $number));
        }
        return Html::e(
            'nav',
            ['class' => 'tabs', 'aria-label' => $this->t('Status')],
            Html::e('ul', [], $tabs)
        );
    }

    /** @param list<Job> $jobs whose values the fields complete */
    private function filter(Selection $selection, array $jobs): Html
    {
        $fields = [];
        foreach (self::LABELS as $name => $label) {
            $list = $this->values($name, $jobs);
            if ($name === 'campaign' && $list === []) {
                continue;
            }
            $fields[] = Html::e(
                'div',
                [],
                Html::e('label', ['for' => "f-$name"], $this->t($label)),
                Html::e('input', ['name' => $name, 'id' => "f-$name", 'type' => 'text',
                    'value' => $selection->fields[$name] ?? '', 'autocomplete' => 'off',
                    'list' => $list === [] ? null : "list-$name",
                    'placeholder' => $name === 'older' ? '12h, 7d, 2026-11-21' : null]),
                $list === [] ? null : Html::e('datalist', ['id' => "list-$name"], array_map(
                    static fn (string $one): Html => Html::e('option', ['value' => $one]),
                    $list
                ))
            );
        }
        $status = $selection->fields['status'] ?? null;
        return Html::e(
            'form',
            ['method' => 'get', 'class' => 'filter', 'role' => 'search',
            'action' => ''],
            $this->context->links->hidden('mails'),
            $status === null ? null : Html::e(
                'input',
                ['type' => 'hidden', 'name' => 'status', 'value' => $status]
            ),
            $fields,
            Html::e(
                'div',
                ['class' => 'row'],
                $this->context->button($this->t('Filter')),
                Html::e(
                    'a',
                    ['href' => $this->context->links->to('mails', ['status' => $status])],
                    $this->t('Clear')
                )
            )
        );
    }

    /**
     * @param list<Job> $jobs
     * @return list<string>
     */
    private function values(string $name, array $jobs): array
    {
        $values = match ($name) {
            'type' => Figures::types($this->context->queue),
            'reference' => array_column($jobs, 'reference'),
            'recipient' => array_merge([], ...array_map(static fn (Job $job): array
                => $job->recipients ?? [], $jobs)),
            'error' => array_column($jobs, 'lastError'),
            'subject' => array_column($jobs, 'subject'),
            'campaign' => Figures::campaigns($this->context->queue),
            default => ['1h', '12h', '1d', '7d', '30d'],
        };
        return array_slice(array_values(array_unique(array_filter($values))), 0, 100);
    }

    /** @param list<Job> $jobs */
    private function mails(array $jobs, Selection $selection): Html
    {
        return $this->list(
            ['id' => 'Id', 'status' => 'Status', 'recipient' => 'Recipient',
                'subject' => 'Subject', 'type' => 'Type', 'next' => 'Next'],
            $jobs,
            $this->row(...),
            ['retry' => 'Bring back', 'hold' => 'Park', 'delete' => 'Delete'],
            'all that the filter finds',
            $selection->fields
        );
    }

    /** @return array<string, Html|string> */
    private function row(Job $job): array
    {
        $status = $job->status->value;
        $refused = array_map(strval(...), array_keys($job->refused));
        $recipients = [...($job->recipients ?? []), ...$refused];
        $others = count($recipients) - 1;
        $link = $this->context->links->to('mail', ['id' => $job->id]);
        $error = $job->lastError === null ? null
            : Html::e('small', ['class' => 'error'], $job->lastError);
        return [
            'id' => Html::e('a', ['href' => $link], (string) $job->id),
            'status' => Html::e('span', ['class' => "status $status"], $this->t($status)),
            'recipient' => ($recipients[0] ?? '–') . ($others > 0 ? " +$others" : ''),
            'subject' => Html::all($job->subject ?? '–', $error),
            'type' => $job->type,
            'next' => $this->next($job),
        ];
    }

    private function next(Job $job): Html|string
    {
        $in = ($job->expectedAt ?? $job->nextAttemptAt) - time();
        return match (true) {
            !in_array($job->status, [Status::Pending, Status::Failed], true) => '–',
            $in <= 0 => $this->t('now'),
            default => Html::all(
                $this->t('in %s', $this->context->texts->span($in)),
                $job->waitsFor === null ? null
                    : Html::e('small', [], " ({$this->reason($job->waitsFor)})")
            ),
        };
    }
}
