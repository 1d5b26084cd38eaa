<?php

declare(strict_types=1);

namespace MailQueue\Cli\Relay;

use MailQueue;
use MailQueue\Cli\Failure;
use MailQueue\Cli\Stop;

/** Which relay gets a mail: senders and names, and the DSN of each (relays.php). */
final class Map
{
    /**
     * Checks what a relays file or the bootstrap file returns.
     *
     * @return array<string, string>
     */
    public static function take(mixed $given, string $where): array
    {
        if (!is_array($given)) {
            throw Stop::config("$where must return an array from senders to DSNs, not "
                . get_debug_type($given) . '.');
        }
        $map = [];
        foreach ($given as $key => $dsn) {
            $key = (string) $key;
            $why = match (true) {
                !preg_match('/\A[^\s\x00-\x1f\x7f]{1,320}\z/', $key)
                    => 'is not a sender\'s address, @domain or name without blanks; correct it',
                !is_string($dsn) => 'is of type ' . get_debug_type($dsn) . '; give a DSN, such as '
                    . 'smtp://user:password@host:587',
                default => self::fault($dsn),
            };
            if ($why !== null) {
                throw Stop::config("$where: \"$key\" $why");
            }
            $map[$key] = $dsn;
        }
        return $map;
    }

    private static function fault(string $dsn): ?string
    {
        try {
            MailQueue::checkTransport($dsn, 86_400);
            return null;
        } catch (\ValueError $e) {
            return 'names a relay that ' . preg_replace(
                '/\A.*?(?=cannot be used: )|(?<=cannot be used: )transport: /s',
                '',
                Failure::text($e)
            );
        }
    }

    /**
     * All transports of this machine: the one of the settings, and those of the map.
     *
     * @param array<string, string>|\Closure|null $relays
     * @return list<string|\Closure|null>
     */
    public static function transports(
        string|\Closure|null $transport,
        array|\Closure|null $relays
    ): array {
        $map = is_array($relays) ? $relays : [];
        $others = array_diff_key($map, ['default' => 0]);
        return [$map['default'] ?? $transport, ...array_values(array_unique($others))];
    }
}
