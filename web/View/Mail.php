<?php

declare(strict_types=1);

namespace MailQueue\Web\View;

use MailQueue\Cli\Command\Jobs;
use MailQueue\Cli\Report\Timeline;
use MailQueue\Job;
use MailQueue\Status;
use MailQueue\Web\Action\Mails;
use MailQueue\Web\Html;
use MailQueue\Web\Journal;
use MailQueue\Web\Meaning;
use MailQueue\Web\Message;
use MailQueue\Web\Refusal;

/** One mail: its state, what happened to it, its message. */
final class Mail extends View
{
    public function title(): string
    {
        return $this->t('Mail %s', $this->context->id());
    }

    public function content(): Html
    {
        $id = $this->context->id();
        $job = $this->context->queue->job($id);
        [$history, $isCut] = Timeline::of($this->context->queue, $id);
        if ($job === null && $history === []) {
            throw new Refusal($this->t('There is no mail with the id %s any more. Mail that was '
                . 'sent leaves the queue; "mailqueue log" says what became of it.', $id), 404);
        }
        return Html::all(
            $job === null
                ? Html::all(
                    Html::e('p', ['class' => 'state'], $this->t('This mail has left the queue.')),
                    $this->other('It was sent again as', Jobs::resentAs($this->context->queue, $id))
                )
                : Html::all(
                    self::facts($this->state($job)),
                    $this->other('This mail takes the place of', $job->resentOf),
                    $this->actions($job),
                    $this->correction($job)
                ),
            $this->timeline($history, $isCut, $job),
            $job?->message === null ? null : $this->message($job),
        );
    }

    /** @return array<string, string> */
    private function state(Job $job): array
    {
        $texts = $this->context->texts;
        $isWaiting = in_array($job->status, [Status::Pending, Status::Failed], true);
        $reason = $job->parkedFor === null ? '' : ' (' . $this->t($job->parkedFor) . ')';
        return array_filter([
            $this->t('Status') => $this->t($job->status->value) . $reason,
            $this->t('Expected') => !$isWaiting ? '' : ($job->expectedAt === null
                ? $this->t('unknown') : $texts->time($job->expectedAt)),
            $this->t('Waits for') => $job->waitsFor === null ? '' : $this->reason($job->waitsFor),
            $this->t('Recipients') => implode(', ', [...($job->recipients ?? []),
                ...array_map(strval(...), array_keys($job->refused))]),
            $this->t('Subject') => (string) $job->subject,
            $this->t('From') => (string) $job->envelopeFrom,
            $this->t('Type') => $job->type,
            $this->t('Reference') => (string) $job->reference,
            $this->t('Attempts') => $job->attempts
                . ($job->maxAttempts === null ? '' : " / $job->maxAttempts"),
            $this->t('Uncertain') => $job->uncertain === 0 ? '' : (string) $job->uncertain,
            $this->t('Queued') => $texts->time($job->createdAt),
            $this->t('Expires') => $job->expiresAt === null ? '' : $texts->time($job->expiresAt),
            'Message-ID' => $job->messageId,
        ], static fn (string $text): bool => $text !== '');
    }

    private function actions(Job $job): ?Html
    {
        if (!$this->context->isAdmin()) {
            return null;
        }
        $id = ['ids[]' => (string) $job->id];
        $forms = [];
        $texts = ['retry' => 'Bring back', 'hold' => 'Park', 'delete' => 'Delete'];
        foreach ($texts as $action => $text) {
            !in_array($job->status, Mails::FROM[$action], true) || $forms[] = $this->context->form(
                $action,
                $id,
                $this->context->button($this->t($text), $action === 'delete' ? 'danger' : '')
            );
        }
        return Html::e('div', ['class' => 'row'], $forms);
    }

    private function other(string $text, ?int $id): ?Html
    {
        return $id === null ? null : Html::e('p', [], $this->t($text), ' ', Html::e(
            'a',
            ['href' => $this->context->links->to('mail', ['id' => $id])],
            $this->t('Mail %s', $id)
        ), '.');
    }

    private function correction(Job $job): ?Html
    {
        $isFree = in_array($job->status, Mails::FROM['resend'], true);
        if (!$this->context->isAdmin() || !$isFree) {
            return null;
        }
        $old = array_map(strval(...), array_keys($job->refused) ?: $job->recipients ?? []);
        $choices = array_map(static fn (string $one): Html => Html::e('option', [], $one), $old);
        $fields = count($old) === 1 ? ['instead' => $old[0]] : [];
        return $this->context->form('resend', ['id' => (string) $job->id] + $fields, Html::all(
            $old === [] ? null : Html::all(
                Html::e('label', ['for' => 'to'], $this->t('Corrected address')),
                Html::e('input', ['type' => 'text', 'name' => 'to', 'id' => 'to',
                    'autocomplete' => 'off', 'value' => $fields['instead'] ?? ''])
            ),
            count($old) < 2 ? null : Html::all(
                Html::e('label', ['for' => 'instead'], $this->t('in place of')),
                Html::e('select', ['name' => 'instead', 'id' => 'instead'], $choices)
            ),
            $this->context->button($this->t('Send again as a new mail'))
        ), ['class' => 'row']);
    }

    /** @param list<array<string, int|string|null>> $rows */
    private function timeline(array $rows, bool $isCut, ?Job $job): Html
    {
        $last = $job === null ? [] : ['at' => $job->lastAttemptAt, 'attempt' => $job->attempts,
            'relay' => null];
        foreach ($job === null || $rows !== [] ? [] : $job->refused as $address => $reply) {
            $rows[] = $last + ['event' => 'refused', 'reply' => "$address: $reply"];
        }
        if ($rows === [] && $job?->lastError !== null) {
            $rows[] = $last + ['event' => 'try_later', 'reply' => $job->lastError];
        }
        $note = match (true) {
            $rows === [] => $this->t('None yet, or the history is off (mailHistoryDays).'),
            $isCut => $this->t(
                'There are older attempts. The newest %s:',
                $this->context->texts->number(Timeline::SHOWN)
            ),
            default => null,
        };
        return Html::all(
            Html::e('h2', [], $this->t('Attempts')),
            $note === null ? null : Html::e('p', ['class' => 'note'], $note),
            $rows === [] ? null
                : Html::e('ol', ['class' => 'timeline'], array_map($this->attempt(...), $rows))
        );
    }

    /** @param array<string, int|string|null> $row */
    private function attempt(array $row): Html
    {
        $reply = (string) $row['reply'];
        [$meaning, $cure] = Meaning::of($reply);
        $at = $this->context->texts->time((int) $row['at']);
        return Html::e(
            'li',
            ['class' => (string) $row['event']],
            Html::e(
                'p',
                [],
                Html::e('time', [], $at),
                ' ',
                Html::e('strong', [], $this->t((string) $row['event'])),
                ' ' . $this->t('attempt %s', (int) $row['attempt']),
                $row['relay'] === null ? '' : " · $row[relay]"
            ),
            $reply === '' ? null : Html::all(
                Html::e('blockquote', [], $reply),
                Html::e('p', [], Html::e('b', [], $this->t($meaning)), ' ', $this->t($cure))
            )
        );
    }

    private function message(Job $job): Html
    {
        $title = Html::e('h2', [], $this->t('Message'));
        if (!$this->context->mayReadBodies()) {
            $why = Html::e('p', ['class' => 'note'], $this->context->whyNoBodies());
            return Html::all($title, $why);
        }
        Journal::note($this->context->queue, $this->context->user, "read $job->id");
        $message = new Message((string) $job->message);
        $links = [];
        foreach (['text' => 'Text', 'source' => 'Source'] as $view => $name) {
            $links[] = Html::e(
                'a',
                ['href' => $this->context->links->to($view, ['id' => $job->id])],
                $this->t($name)
            );
        }
        return Html::all($title, Html::e(
            'details',
            [],
            Html::e('summary', [], $this->t('Headers')),
            Html::e('pre', ['tabindex' => '0'], $message->headers())
        ), Html::e(
            'p',
            ['class' => 'row'],
            $links
        ), $message->html() === null
                ? Html::e('pre', ['class' => 'body', 'tabindex' => '0'], $message->text() ?? '')
                : Html::e('iframe', ['sandbox' => '', 'title' => $this->t('Preview'),
                    'referrerpolicy' => 'no-referrer',
                    'src' => $this->context->links->to('preview', ['id' => $job->id])]));
    }
}
