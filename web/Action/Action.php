<?php

declare(strict_types=1);

namespace MailQueue\Web\Action;

use MailQueue\Web\Context;
use MailQueue\Web\Html;
use MailQueue\Web\Journal;
use MailQueue\Web\Layout;
use MailQueue\Web\Response;

/** Base of what changes something. */
abstract class Action
{
    public function __construct(protected readonly Context $context)
    {
    }

    protected function note(string $what): void
    {
        Journal::note($this->context->queue, $this->context->user, $what);
    }

    /**
     * A page that asks whether to do it. Its form comes back with $fields and $hidden.
     *
     * @param array<string, string|int> $fields
     * @param list<Html> $hidden further fields
     * @param array<string, string> $back what of the URL leads back to the view
     */
    protected function confirm(
        string $action,
        array $fields,
        string $question,
        array $hidden = [],
        array $back = [],
        bool $isDanger = false
    ): Response {
        $content = $this->context->form($action, $fields, Html::all(
            $hidden,
            $this->context->button($this->t('Yes'), $isDanger ? 'danger' : 'primary'),
            ' ',
            Html::e('a', ['href' => $this->context->links->to(
                $this->context->request->view(),
                ['id' => $this->context->request->text('id')] + $back
            )], $this->t('No, go back'))
        ));
        $layout = new Layout($this->context->texts, $this->context->links);
        return new Response($layout->page($this->context, $question, $content));
    }

    protected function t(string $text, string|int ...$values): string
    {
        return $this->context->t($text, ...$values);
    }
}
