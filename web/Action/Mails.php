<?php

declare(strict_types=1);

namespace MailQueue\Web\Action;

use MailQueue\Web\Html;
use MailQueue\Web\Layout;
use MailQueue\Web\Refusal;
use MailQueue\Web\Response;
use MailQueue\Web\Selection;

/** Brings mails back, parks and deletes them: one, those that are marked, or all of a filter. */
final class Mails extends Action
{
    private const AT_ONCE = 1000;

    public function retryAll(): Response
    {
        $count = $this->context->queue->retryFailed();
        $this->note("retry: $count brought back");
        return $this->context->done('retried', $count);
    }

    public function retry(): Response
    {
        return $this->each(
            'retry',
            'Bring %s back?',
            'retried',
            fn (array $ids): int => $this->context->queue->retryFailed($ids)
        );
    }

    public function hold(): Response
    {
        return $this->each('hold', 'Park %s?', 'held', $this->context->queue->hold(...));
    }

    public function delete(): Response
    {
        return $this->each(
            'delete',
            'Delete %s? They are not sent.',
            'deleted',
            $this->context->queue->delete(...)
        );
    }

    /** @param \Closure(list<int>): int $change */
    private function each(
        string $action,
        string $question,
        string $done,
        \Closure $change
    ): Response {
        $request = $this->context->request;
        $given = $request->form['ids'] ?? [];
        $selection = new Selection($request->field(...));
        $isAll = $request->field('which') === 'all';
        $ids = $isAll ? $selection->all($this->context->queue)
            : Selection::ids(is_array($given) ? $given : []);
        if ($ids === []) {
            throw new Refusal($this->t('No mail is marked. Mark some in the list, then choose what '
                . 'to do with them. Nothing was changed.'));
        }
        if ($request->field('sure') === null) {
            return $this->ask($action, $question, $ids, $isAll ? $selection->fields : null);
        }
        $count = 0;
        foreach (array_chunk($ids, self::AT_ONCE) as $some) {
            $count += $change($some);
        }
        $which = $isAll ? json_encode($selection->fields) : implode(' ', array_slice($ids, 0, 100));
        $this->note("$action $which: $count");
        $isGone = $action === 'delete' && $request->view() === 'mail';
        return $this->context->done($done, $count, $isGone ? 'mails' : '');
    }

    /**
     * @param list<int> $ids
     * @param ?array<string, string> $filter
     */
    private function ask(string $action, string $question, array $ids, ?array $filter): Response
    {
        $fields = $filter === null ? [] : ['which' => 'all'] + $filter;
        $marked = $filter === null ? array_map(static fn (int $id): Html => Html::e(
            'input',
            ['type' => 'hidden', 'name' => 'ids[]', 'value' => $id]
        ), $ids) : [];
        $title = $this->t($question, $this->context->texts->mails(count($ids)));
        $content = $this->context->form($action, $fields + ['sure' => 'yes'], Html::all(
            $marked,
            $this->context->button($this->t('Yes'), $action === 'delete' ? 'danger' : 'primary'),
            ' ',
            Html::e('a', ['href' => $this->context->links->to(
                $this->context->request->view(),
                ['id' => $this->context->request->text('id')]
            )], $this->t('No, go back'))
        ));
        $layout = new Layout($this->context->texts, $this->context->links);
        return new Response($layout->page($this->context, $title, $content));
    }
}
