<?php

declare(strict_types=1);

namespace MailQueue\Cli\Relay;

/** Several relays in one transport: failover(a b), roundrobin(a b)?retry_period=15. */
final class Group
{
    private const DSN = '~(?:\A|(?<=[(\s]))(?!(?:failover|roundrobin)\()[^\s()]+~';

    /** Whether the transport is a group, well written or not. */
    public static function is(string|\Closure|null $transport): bool
    {
        return is_string($transport) && preg_match('/\A\w+\(/', $transport) === 1;
    }

    /** @return list<string> the DSN of each relay, once */
    public static function relays(string $transport): array
    {
        if (!self::is($transport)) {
            return [$transport];
        }
        preg_match_all(self::DSN, $transport, $matches);
        return array_values(array_unique($matches[0]));
    }
}
