<?php

declare(strict_types=1);

namespace MailQueue\Web;

/** What the browser sent. */
final class Request
{
    /**
     * @param array<mixed> $query
     * @param array<mixed> $form
     * @param array<mixed> $cookies
     * @param array<mixed> $server as $_SERVER
     */
    public function __construct(
        public readonly array $query,
        public readonly array $form,
        private readonly array $cookies,
        private readonly array $server,
    ) {
    }

    public static function fromGlobals(): self
    {
        return new self($_GET, $_POST, $_COOKIE, $_SERVER);
    }

    public function isPost(): bool
    {
        return $this->method() === 'POST';
    }

    public function method(): string
    {
        return $this->server('REQUEST_METHOD', 'GET');
    }

    /** The view that is asked for: ?view=, or the end of the path for programs. */
    public function view(): string
    {
        $path = (string) parse_url($this->server('REQUEST_URI'), PHP_URL_PATH);
        $last = basename($path);
        return in_array($last, ['status.json', 'metrics'], true) ? $last
            : ($this->text('view') ?? 'overview');
    }

    /** A parameter of the URL without spaces around it; null: missing, empty or not a text. */
    public function text(string $name): ?string
    {
        return self::of($this->query, $name);
    }

    /** The same of the form. */
    public function field(string $name): ?string
    {
        return self::of($this->form, $name);
    }

    public function cookie(string $name): ?string
    {
        return self::of($this->cookies, $name);
    }

    public function server(string $name, string $default = ''): string
    {
        $value = $this->server[$name] ?? null;
        return is_string($value) ? $value : $default;
    }

    /** @param array<mixed> $values */
    private static function of(array $values, string $name): ?string
    {
        $value = $values[$name] ?? null;
        $text = is_string($value) && preg_match('//u', $value) ? trim($value) : '';
        return $text === '' ? null : $text;
    }
}
