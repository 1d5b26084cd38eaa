<?php

declare(strict_types=1);

namespace MailQueue\Web\Action;

use MailQueue;
use MailQueue\Cli\Changes;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;
use MailQueue\Status;
use MailQueue\Web\Html;
use MailQueue\Web\Php;
use MailQueue\Web\Refusal;
use MailQueue\Web\Response;
use MailQueue\Web\Selection;

/** Brings mails back, parks and deletes them: one, those that are marked, or all of a filter. */
final class Mails extends Action
{
    /** The states from which each action takes a mail. */
    public const FROM = [
        'retry' => [Status::Failed, Status::Parked],
        'hold' => [Status::Pending, Status::Failed],
        'delete' => [Status::Pending, Status::Failed, Status::Parked, Status::Held],
        'sent' => [Status::Failed, Status::Parked, Status::Held],
        'resend' => [Status::Pending, Status::Failed, Status::Parked],
    ];

    public function retryAll(): Response
    {
        Php::takeTime();
        $twice = $this->failedTwice();
        if ($twice > (int) $this->context->request->field('sure')) {
            return $this->confirm('retry-all', ['sure' => $twice], $this->t('Bring all failed mail '
                . 'back?') . ' ' . $this->mayTwice($twice));
        }
        try {
            $count = $this->context->queue->retryFailed();
        } catch (MailQueue\Exception $e) {
            $this->note('retry: broke off, some may be brought back');
            throw $e;
        }
        $this->note("retry: $count brought back");
        return $this->context->done('retry', $count);
    }

    public function retry(): Response
    {
        return $this->each(
            'retry',
            $this->isOfUncertain() ? 'Send %s again? Recipients may get them twice.'
                : 'Bring %s back?',
            fn (array $ids): int => $this->context->queue->retryFailed($ids)
        );
    }

    public function hold(): Response
    {
        return $this->each('hold', 'Park %s?', $this->context->queue->hold(...));
    }

    public function delete(): Response
    {
        return $this->each(
            'delete',
            'Delete %s? They are not sent.',
            $this->context->queue->delete(...)
        );
    }

    /** Of uncertain mail, once a person knows that it arrived. */
    public function sent(): Response
    {
        return $this->each(
            'sent',
            'Count %s as sent? Recipients that cannot have it yet still get it.',
            $this->context->queue->countAsSent(...)
        );
    }

    /** Sends one mail again as a new one, to a corrected address if there is one. */
    public function resend(): Response
    {
        $id = $this->context->id();
        $to = $this->context->request->field('to');
        $instead = $this->context->request->field('instead');
        $isSame = $to === null || $to === $instead;
        try {
            $new = $this->context->queue->resend(
                $id,
                $isSame ? null : $to,
                $isSame ? null : $instead
            );
        } catch (MailQueue\MessageException $e) {
            $why = rtrim($e->getMessage(), '.');
            throw new Refusal($this->t(
                'Mail %s was not sent again: %s. Nothing was changed.',
                $id,
                $why
            ));
        }
        $this->note("resend $id: $new" . ($isSame ? '' : " to $to"));
        return $this->context->done('resend', $new, 'mail', ['id' => (string) $new]);
    }

    /** @param \Closure(list<int>): int $change */
    private function each(string $action, string $question, \Closure $change): Response
    {
        Php::takeTime();
        $request = $this->context->request;
        $list = new Selection($request->field(...));
        // Mails change their state meanwhile, so they are found once.
        $ids = $this->ids($action, $list, $this->isAboutUncertain($action));
        $count = count($ids);
        if ($count === 0) {
            throw new Refusal($this->t('None of these mails can be changed so: they are gone, are '
                . 'being sent, belong to a campaign that is paused, or are where you want them. '
                . 'Nothing was changed.'));
        }
        // More than the question said, as other mail has changed its state: it is asked again.
        if ($count > (int) $request->field('sure')) {
            $asked = $this->t($question, $this->context->texts->mails($count))
                . $this->warning($action, $list);
            return $this->ask($action, $asked, $ids, $list);
        }
        $which = match (true) {
            !$this->isAboutAll() => implode(' ', array_slice($ids, 0, 100)),
            $list->fields === [] => 'all',
            default => Terminal::json($list->fields, 0),
        };
        $changed = $this->change("$action $which", $ids, $change);
        $isGone = $action === 'delete' && $request->view() === 'mail';
        return $this->context->done($action, $changed, $isGone ? 'mails' : '', $list->fields);
    }

    /** Whether the list shows only mail that may have arrived. */
    private function isOfUncertain(): bool
    {
        return $this->context->request->view() === 'uncertain';
    }

    private function isAboutUncertain(string $action): bool
    {
        return $action === 'sent' || $this->isOfUncertain();
    }

    private function isAboutAll(): bool
    {
        return $this->context->request->field('which') === 'all';
    }

    /** Says how many of mails that are brought back may arrive twice. */
    private function warning(string $action, Selection $list): string
    {
        $isNew = $action === 'retry' && !$this->isOfUncertain(); // there each may
        $twice = $isNew ? count($this->ids($action, $list, true)) : 0;
        return $twice === 0 ? '' : ' ' . $this->mayTwice($twice);
    }

    private function mayTwice(int $count): string
    {
        return $this->t('%s may arrive twice.', $this->context->texts->number($count));
    }

    /** How many mails that retryFailed() brings back may have arrived. */
    private function failedTwice(): int
    {
        $count = 0;
        // One state after the other: no index finds them together.
        $states = ["status = 'failed' AND status IN ('failed','held')",
            "status = 'parked' AND {%}"];
        foreach ($states as $where) {
            $count += (int) Internal::select($this->context->queue, 'SELECT count(*) FROM {t} '
                . "WHERE $where AND uncertain_to IS NOT NULL")[0][0];
        }
        return $count;
    }

    /**
     * @param bool $isUncertain only mail that may have arrived
     * @return list<int> the mails of the filter, or those that are marked, that the action would
     *     change
     */
    private function ids(string $action, Selection $list, bool $isUncertain): array
    {
        $queue = $this->context->queue;
        if ($this->isAboutAll()) {
            $until = (int) $this->context->request->field('until');
            return $list->filter->allIds(
                $queue,
                self::FROM[$action],
                $isUncertain,
                $until > 0 ? $until : null
            );
        }
        $given = $this->context->request->form['ids'] ?? [];
        return is_array($given) && $given !== []
            ? Selection::ids($queue, $given, self::FROM[$action], $isUncertain)
            : throw new Refusal($this->t('No mail is marked. Mark some in the list, then choose '
                . 'what to do with them. Nothing was changed.'));
    }

    /**
     * Changes some at a time, for as long as it takes.
     *
     * @param list<int> $ids
     * @param \Closure(list<int>): int $change
     */
    private function change(string $what, array $ids, \Closure $change): int
    {
        $count = 0;
        try {
            Changes::make($ids, $change, $count);
        } catch (MailQueue\Exception $e) {
            throw $count === 0 ? $e : new Refusal($this->t(
                'Changed %s of %s, then this happened: %s',
                $this->context->texts->number($count),
                $this->context->texts->mails(count($ids)),
                $e->getMessage()
            ), 503);
        } finally {
            $this->note("$what: $count");
        }
        return $count;
    }

    /**
     * @param non-empty-list<int> $ids
     * @param Selection $list the filter of the list, to come back to it
     */
    private function ask(
        string $action,
        string $question,
        array $ids,
        Selection $list
    ): Response {
        $isAll = $this->isAboutAll();
        // Mail that comes after the question has larger ids: it is left alone, and not asked about.
        $fields = ($isAll ? ['which' => 'all', 'until' => max($ids)] : [])
            + ['sure' => count($ids)] + $list->fields;
        return $this->confirm(
            $action,
            $fields,
            $question,
            array_map(static fn (int $id): Html => Html::e(
                'input',
                ['type' => 'hidden', 'name' => 'ids[]', 'value' => $id]
            ), $isAll ? [] : $ids),
            $list->fields,
            $action === 'delete'
        );
    }
}
