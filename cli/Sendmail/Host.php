<?php

declare(strict_types=1);

namespace MailQueue\Cli\Sendmail;

use MailQueue\Cli\FileAccess;

/** The user and the host: for messages without a sender, and addresses without a domain. */
final class Host
{
    public static function name(): string
    {
        static $name = null;
        if ($name === null) {
            $own = (string) gethostname();
            $names = [trim((string) @file_get_contents('/etc/mailname')),
                str_contains($own, '.') ? $own : self::longName($own), $own];
            $isName = '/\A(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.(?=.)|\z))+\z/';
            $name = current(preg_grep($isName, $names) ?: []) ?: 'localhost';
        }
        return $name;
    }

    /** Finds the full name in /etc/hosts, because the DNS may be slow. */
    private static function longName(string $short): string
    {
        foreach (@file('/etc/hosts') ?: [] as $line) {
            $words = preg_split(
                '/\s+/',
                (string) preg_replace('/#.*/s', '', $line),
                -1,
                PREG_SPLIT_NO_EMPTY
            ) ?: [];
            $long = preg_grep('/\A' . preg_quote($short, '/') . '\../i', array_slice($words, 1));
            if ($long && in_array($short, $words, true)) {
                return current($long);
            }
        }
        return '';
    }

    public static function user(): string
    {
        return self::account()[0] ?? (getenv('LOGNAME') ?: getenv('USER') ?: 'nobody');
    }

    /** The user's full name; "" if passwd(5) does not have it. */
    public static function fullName(): string
    {
        $name = strtok((string) (self::account()[4] ?? ''), ',');
        return str_replace('&', ucfirst(self::user()), (string) $name);
    }

    /** @return list<string>|null the fields of the user's line in passwd(5) */
    private static function account(): ?array
    {
        if (function_exists('posix_getpwuid')) {
            $one = posix_getpwuid(posix_getuid());
            return $one ? [$one['name'], '', '', '', $one['gecos']] : null;
        }
        foreach (@file('/etc/passwd') ?: [] as $line) {
            $fields = explode(':', $line);
            if (($fields[2] ?? '') === (string) FileAccess::user()) {
                return $fields;
            }
        }
        return null;
    }
}
