<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

/** A row cannot become one of the queue's. For the field "status", the text is the unknown word. */
final class Unfit extends \Exception
{
    public function __construct(public readonly string $field, string $text)
    {
        parent::__construct($text);
    }
}
