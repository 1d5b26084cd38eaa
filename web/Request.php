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
     * @param string|null $body null: as PHP has it
     */
    public function __construct(
        public readonly array $query,
        public readonly array $form,
        private readonly array $cookies,
        private readonly array $server,
        private readonly ?string $body = null,
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
        $last = basename((string) parse_url($this->server('REQUEST_URI'), PHP_URL_PATH));
        return $this->choice('view')
            ?? (in_array($last, ['status.json', 'metrics'], true) ? $last : 'overview');
    }

    /** A parameter that names one of a few things; null: missing, or no text. */
    public function choice(string $name): ?string
    {
        $value = $this->query[$name] ?? null;
        return is_string($value) && $value !== '' ? $value : null;
    }

    /**
     * A parameter of the URL without spaces around it; null: missing or empty.
     *
     * @throws Refusal if it is not a text: without this filter other mails would be found
     */
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
        $value = $this->cookies[$name] ?? null;
        return is_string($value) ? $value : null;
    }

    public function server(string $name, string $default = ''): string
    {
        $value = $this->server[$name] ?? null;
        return is_string($value) ? $value : $default;
    }

    /**
     * The body as it came.
     *
     * @param int<1, max> $most
     * @throws Refusal 413 if it has more than $most octets
     */
    public function body(int $most): string
    {
        $large = new Refusal("The body has more than $most octets.", 413);
        if ((int) $this->server('CONTENT_LENGTH') > $most) {
            throw $large;
        }
        $body = $this->body ?? (string) file_get_contents('php://input', length: $most + 1);
        return strlen($body) > $most ? throw $large : $body;
    }

    /** @param array<mixed> $values */
    private static function of(array $values, string $name): ?string
    {
        $value = $values[$name] ?? '';
        $text = is_string($value) ? trim($value, " \r\n\t") : "\0";
        if (preg_match('/\A[^\x00-\x1f\x7f]*\z/u', $text) !== 1) {
            throw new Refusal('"%s" must be one line of text. Nothing was changed.', 400, $name);
        }
        return $text === '' ? null : $text;
    }
}
