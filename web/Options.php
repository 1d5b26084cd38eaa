<?php

declare(strict_types=1);

namespace MailQueue\Web;

use MailQueue\Cli\Arguments;

/**
 * What protects the page. None of it is in the application's config table, which the page itself
 * can change.
 */
final class Options
{
    /** Of password_hash(); '': nobody can log in. */
    public readonly string $hash;
    /** Whether admins may read messages. */
    public readonly bool $bodies;
    /** @var list<string> addresses whose X-Forwarded-… headers are true */
    public readonly array $proxies;

    /** @param ?list<string> $proxies */
    public function __construct(?bool $bodies, ?array $proxies)
    {
        $this->hash = self::text('MAILQUEUE_PAGE_HASH', 'mailqueue.page_hash');
        $this->bodies = $bodies ?? in_array(
            strtolower(self::text('MAILQUEUE_PAGE_BODIES', 'mailqueue.page_bodies')),
            ['1', 'on', 'yes', 'true'],
            true
        );
        $this->proxies = $proxies ?? array_values(array_filter(array_map('trim', explode(
            ',',
            self::text('MAILQUEUE_PAGE_PROXIES', 'mailqueue.page_proxies')
        ))));
    }

    /** @return array<string, mixed> without the hash, which signs the sessions */
    public function __debugInfo(): array
    {
        return ['hasHash' => $this->hash !== '', 'bodies' => $this->bodies,
            'proxies' => $this->proxies];
    }

    /** From the environment, or else php.ini. A web server can set the one, PHP-FPM the other. */
    private static function text(string $name, string $ini): string
    {
        return Arguments::environment($name) ?? (string) ini_get($ini);
    }
}
