<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

/** A row that cannot become one of the queue's; for a status, the text is the word. */
final class Unfit extends \Exception
{
    public function __construct(public readonly string $field, string $text)
    {
        parent::__construct($text);
    }
}
