<?php

declare(strict_types=1);

namespace MailQueue\Web\View;

use MailQueue\Web\Context;
use MailQueue\Web\Html;

/** Renders one view. */
abstract class View
{
    public function __construct(protected readonly Context $context)
    {
    }

    abstract public function title(): string;

    abstract public function content(): Html;

    /** A part that the page's script asks for again; null: there is none of this name. */
    public function part(string $name): ?Html
    {
        return null;
    }

    protected function t(string $text, string|int ...$values): string
    {
        return $this->context->t($text, ...$values);
    }

    /**
     * @param array<string, Html|string> $facts by their words
     */
    protected static function facts(array $facts): Html
    {
        $rows = [];
        foreach ($facts as $word => $fact) {
            $rows[] = Html::e('div', [], Html::e('dt', [], $word), Html::e('dd', [], $fact));
        }
        return Html::e('dl', ['class' => 'facts'], $rows);
    }

    /**
     * @param list<string> $head
     * @param list<list<Html|string>> $rows
     */
    protected static function table(string $caption, array $head, array $rows): Html
    {
        $cells = static fn (array $row): array => array_map(
            static fn (int $i): Html => Html::e('td', ['data-label' => $head[$i]], $row[$i]),
            array_keys($row)
        );
        return Html::e(
            'table',
            [],
            Html::e('caption', ['class' => 'hidden'], $caption),
            Html::e('thead', [], Html::e('tr', [], array_map(static fn (string $one): Html
                => Html::e('th', ['scope' => 'col'], $one), $head))),
            Html::e('tbody', [], array_map(static fn (array $row): Html
                => Html::e('tr', [], $cells($row)), $rows))
        );
    }
}
