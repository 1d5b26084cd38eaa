<?php

declare(strict_types=1);

namespace MailQueue\Web;

/** Whether a connection is safe enough, and a POST the page's own. */
final class Gate
{
    public readonly bool $isSecure;
    /** The visitor's, behind a trusted proxy the one that this names. */
    public readonly string $address;
    private readonly string $host;
    private readonly bool $isProxied;
    private const BY_PROXIES = ['HTTP_FORWARDED', 'HTTP_VIA', 'HTTP_X_FORWARDED_FOR',
        'HTTP_X_FORWARDED_HOST', 'HTTP_X_FORWARDED_PROTO', 'HTTP_X_REAL_IP'];

    /** @param list<string> $proxies */
    public function __construct(private readonly Request $request, array $proxies)
    {
        $peer = self::plain($request->server('REMOTE_ADDR'));
        $isTrusted = in_array($peer, $proxies, true);
        $forwarded = $request->server('HTTP_X_FORWARDED_FOR');
        $this->isProxied = !$isTrusted
            && array_filter(self::BY_PROXIES, static fn (string $name): bool
                => $request->server($name) !== '') !== [];
        $this->address = $isTrusted ? self::visitor($peer, $forwarded, $proxies) : $peer;
        $this->isSecure = $isTrusted
            ? strtolower($request->server('HTTP_X_FORWARDED_PROTO')) === 'https'
            : !in_array(strtolower($request->server('HTTPS')), ['', 'off'], true);
        $asked = $isTrusted ? $request->server('HTTP_X_FORWARDED_HOST') : '';
        $this->host = strtolower($asked !== '' ? $asked : $request->server('HTTP_HOST'));
    }

    /**
     * The last address that no trusted proxy has: those before it are the visitor's own words.
     *
     * @param list<string> $proxies
     */
    private static function visitor(string $peer, string $forwarded, array $proxies): string
    {
        $others = array_filter(array_map(self::plain(...), explode(',', $forwarded)));
        return current(array_diff(array_reverse($others), $proxies)) ?: $peer;
    }

    /** A socket for both kinds has ::ffff:192.0.2.1 for 192.0.2.1; some proxies add a port. */
    private static function plain(string $address): string
    {
        return (string) preg_replace(
            ['/\A(?:::ffff:)?(\d+(?:\.\d+){3})(?::\d+)?\z/i',
                '/\A\[([\da-f:.]+)\](?::\d+)?\z/i'],
            '$1',
            trim($address)
        );
    }

    /** Says why the connection is refused; null: it is not. */
    public function refusal(Texts $texts): ?string
    {
        if ($this->isSecure || (!$this->isProxied && $this->isLoopback())) {
            return null;
        }
        return $this->isProxied
            ? $texts->t(
                'This request came through a proxy (%s) that is not known. Name its address'
                . ' in MAILQUEUE_PAGE_PROXIES, or in mailqueue.page_proxies in php.ini.',
                $this->request->server('REMOTE_ADDR')
            )
            : $texts->t('This page is only shown over HTTPS. Open it with https://, or on this'
                . ' machine as http://127.0.0.1.');
    }

    /** The name counts too: another site's name may lead to 127.0.0.1. */
    private function isLoopback(): bool
    {
        // Only an address: 127.0.0.1.example.org is a name, which can lead anywhere.
        $isNear = static fn (string $name): bool
            => preg_match('/\A127(\.\d{1,3}){3}\z/', $name) === 1 || $name === '::1';
        $name = trim((string) preg_replace('/:\d+\z/', '', $this->host), '[]');
        return $isNear($this->address) && ($isNear($name) || $name === 'localhost');
    }

    /** Whether a form of another site sent the request, as far as the browser tells. */
    public function isForeign(): bool
    {
        $site = $this->request->server('HTTP_SEC_FETCH_SITE');
        if ($site !== '') {
            // The browser compares the ports that it used, which a proxy may leave out of Host.
            return !in_array($site, ['same-origin', 'none'], true);
        }
        $origin = $this->request->server('HTTP_ORIGIN');
        $own = ($this->isSecure ? 'https://' : 'http://') . $this->host;
        return $origin !== '' && strtolower($origin) !== $own;
    }
}
