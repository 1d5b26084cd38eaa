<?php

declare(strict_types=1);

namespace MailQueue\Web;

/** A request ends with a sentence for people, and nothing was changed. */
final class Refusal extends \Exception
{
    /** @var list<string> */
    private readonly array $values;

    /**
     * @param string $text in() translates it; one that is translated already stays as it is
     * @param string ...$values for %s in the text; a value can be a text itself
     */
    public function __construct(
        private readonly string $text,
        public readonly int $status = 400,
        string ...$values
    ) {
        $this->values = array_values($values);
        parent::__construct($values === [] ? $text : vsprintf($text, $values));
    }

    public function in(Texts $texts): string
    {
        return $texts->t($this->text, ...array_map($texts->t(...), $this->values));
    }
}
