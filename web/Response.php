<?php

declare(strict_types=1);

namespace MailQueue\Web;

/** What goes back to the browser. */
final class Response
{
    /** No script or style but the page's own files, and nobody may frame it. */
    private const CSP = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
        . "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
        . "frame-ancestors 'none'";

    /** @var list<string> Set-Cookie headers */
    public array $cookies = [];

    /** @param array<string, string> $headers */
    public function __construct(
        public readonly string $body,
        public readonly int $status = 200,
        public readonly array $headers = [],
    ) {
    }

    public static function json(mixed $value, int $status = 200): self
    {
        $text = json_encode($value, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE
            | JSON_PRETTY_PRINT | JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR);
        return new self("$text\n", $status, ['Content-Type' => 'application/json']);
    }

    /** After a POST, so that a reload repeats nothing. */
    public static function redirect(string $url): self
    {
        return new self('', 303, ['Location' => $url]);
    }

    /** @return array<string, string> with those that every response has */
    public function allHeaders(): array
    {
        return $this->headers + [
            'Content-Type' => 'text/html; charset=utf-8',
            'Content-Security-Policy' => self::CSP,
            'Cache-Control' => 'no-store',
            'X-Content-Type-Options' => 'nosniff',
            'X-Frame-Options' => 'DENY',
            'X-Robots-Tag' => 'noindex',
            'X-DNS-Prefetch-Control' => 'off',
            'Cross-Origin-Opener-Policy' => 'same-origin',
            'Cross-Origin-Resource-Policy' => 'same-origin',
            // Not no-referrer: a browser then sends "Origin: null" with the page's own forms.
            'Referrer-Policy' => 'same-origin',
            'Permissions-Policy' => 'camera=(), geolocation=(), microphone=()',
        ];
    }

    public function send(): void
    {
        http_response_code($this->status);
        foreach ($this->allHeaders() as $name => $value) {
            header("$name: $value");
        }
        foreach ($this->cookies as $cookie) {
            header("Set-Cookie: $cookie", false);
        }
        echo $this->body;
    }
}
