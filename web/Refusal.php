<?php

declare(strict_types=1);

namespace MailQueue\Web;

/** A request ends with a sentence for people, and nothing was changed. */
final class Refusal extends \Exception
{
    public function __construct(string $text, public readonly int $status = 400)
    {
        parent::__construct($text);
    }
}
