<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** Who runs PHP, and who may write a file, by its mode. */
final class FileAccess
{
    /** The user who runs PHP, not the owner of its script; null: unknown. */
    public static function user(): ?int
    {
        if (function_exists('posix_geteuid')) {
            return posix_geteuid();
        }
        $owner = @fileowner('/proc/self');
        if ($owner === false && ($file = @tmpfile())) { // open_basedir hides /proc
            $owner = fstat($file)['uid'] ?? false;
        }
        return $owner === false ? null : $owner;
    }

    /**
     * Whether others than the owner can write the file. A group that has only
     * the owner in it does not count: Debian 13 and Ubuntu give each user one, and umask 002.
     */
    public static function othersMayWrite(string $path): bool
    {
        $mode = (int) @fileperms($path);
        return ($mode & 0o002) !== 0 || (($mode & 0o020) !== 0 && !self::hasPrivateGroup($path));
    }

    private static function hasPrivateGroup(string $path): bool
    {
        if (!function_exists('posix_getgrgid') || \MailQueue\Internal::hasAcl($path)) {
            return false;
        }
        $owner = posix_getpwuid((int) fileowner($path));
        $group = posix_getgrgid((int) filegroup($path));
        return $owner && $group && $group['gid'] === $owner['gid'] && $group['gid'] !== 0
            && $group['name'] === $owner['name']
            && array_diff($group['members'], [$owner['name']]) === []
            && self::usersOf($group['gid']) <= 1;
    }

    /** How many users of this machine's passwd(5) have that group as their primary one. */
    private static function usersOf(int $group): int
    {
        return count(preg_grep("/^([^:]*:){3}$group:/", @file('/etc/passwd') ?: []) ?: []);
    }
}
