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

    /**
     * A part that the page's script replaces every $seconds.
     *
     * @param array<string, string|int|null> $parameters of the URL, in addition
     */
    protected function live(
        string $part,
        int $seconds,
        Html $content,
        array $parameters = []
    ): Html {
        return Html::e('div', ['class' => 'live', 'data-every' => $seconds,
            'data-from' => $this->context->links->to(
                $this->context->request->view(),
                ['part' => $part] + $parameters
            )], $content);
    }

    protected function t(string $text, string|int ...$values): string
    {
        return $this->context->t($text, ...$values);
    }

    /** What a mail waits for (Job::$waitsFor), in words. */
    protected function reason(string $waitsFor): string
    {
        return match ($waitsFor) {
            'hours' => $this->t('its sending hours'),
            'pause' => $this->t('the end of a pause'),
            default => $this->t('the limit %s', $waitsFor),
        };
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
     * @param array<string, string> $head the columns' words, by the names that the style knows
     * @param list<array<string, Html|string>> $rows the cells, by the same names
     */
    protected static function table(string $caption, array $head, array $rows): Html
    {
        $cell = static fn (string $name, Html|string $content): Html
            => Html::e('td', ['class' => $name, 'data-label' => $head[$name]], $content);
        $row = static fn (array $cells): Html
            => Html::e('tr', [], array_map($cell, array_keys($cells), array_values($cells)));
        $words = array_map(static fn (string $word): Html
            => Html::e('th', ['scope' => 'col'], $word), array_values($head));
        return Html::e(
            'table',
            [],
            Html::e('caption', ['class' => 'hidden'], $caption),
            Html::e('thead', [], Html::e('tr', [], $words)),
            Html::e('tbody', [], array_map($row, $rows))
        );
    }
}
