<?php

declare(strict_types=1);

namespace MailQueue\Web\Action;

use MailQueue\Web\Context;
use MailQueue\Web\Journal;

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

    protected function t(string $text, string|int ...$values): string
    {
        return $this->context->t($text, ...$values);
    }
}
