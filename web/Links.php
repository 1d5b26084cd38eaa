<?php

declare(strict_types=1);

namespace MailQueue\Web;

/** The page's own URLs. All are parameters of one path, so the page can be mounted anywhere. */
final class Links
{
    /** @param array<string, string> $kept parameters by which the application finds the page */
    public function __construct(private readonly array $kept)
    {
    }

    /** @param array<string, string|int|null> $parameters */
    public function to(string $view, array $parameters = []): string
    {
        return '?' . http_build_query($this->kept + ['view' => $view] + $parameters);
    }

    /**
     * The parameters as hidden fields: a form that uses GET replaces those of its URL.
     *
     * @return list<Html>
     */
    public function hidden(string $view): array
    {
        $fields = [];
        foreach ($this->kept + ['view' => $view] as $name => $value) {
            $fields[] = Html::e('input', ['type' => 'hidden', 'name' => $name, 'value' => $value]);
        }
        return $fields;
    }
}
