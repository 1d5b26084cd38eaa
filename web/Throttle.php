<?php

declare(strict_types=1);

namespace MailQueue\Web;

/**
 * Counts failed logins by address, and all together: in a file of this user, as there is no place
 * for it in the application's database.
 */
final class Throttle
{
    private const SECONDS = 900;
    private const OF_ONE = 5;
    private const OF_ALL = 100;

    private readonly string $file;
    private readonly string $address;

    public function __construct(string $address)
    {
        $user = function_exists('posix_geteuid') ? posix_geteuid() : getmyuid();
        $this->file = sys_get_temp_dir() . "/mailqueue-page-$user/logins";
        $this->address = self::network($address);
    }

    /** Of IPv6 a visitor has a whole /64. */
    private static function network(string $address): string
    {
        $bytes = (string) @inet_pton($address);
        return bin2hex(strlen($bytes) === 16 ? substr($bytes, 0, 8) : $bytes);
    }

    /**
     * Takes an attempt before its password is checked, so that many at once are counted too.
     *
     * @return int seconds to wait; 0: go on
     * @throws Refusal if it cannot be counted
     */
    public function take(): int
    {
        return $this->change(function (array $tries): array {
            $since = time() - self::SECONDS;
            $recent = array_filter($tries, static fn (array $try): bool => $try[0] > $since);
            $own = array_filter($recent, fn (array $try): bool => $try[1] === $this->address);
            foreach ([[$own, self::OF_ONE], [$recent, self::OF_ALL]] as [$some, $most]) {
                if (count($some) >= $most) {
                    return [$recent, max(1, min(array_column($some, 0)) - $since)];
                }
            }
            return [[...array_values($recent), [time(), $this->address]], 0];
        });
    }

    /** After the right password. */
    public function forget(): void
    {
        $this->change(fn (array $tries): array => [
            array_filter($tries, fn (array $try): bool => $try[1] !== $this->address), 0,
        ]);
    }

    /** @param \Closure(list<array{int, string}>): array{array<array{int, string}>, int} $change */
    private function change(\Closure $change): int
    {
        $directory = dirname($this->file);
        @mkdir($directory, 0700);
        $user = function_exists('posix_geteuid') ? posix_geteuid() : getmyuid();
        $isOurs = !is_link($directory) && @fileowner($directory) === $user
            && (@fileperms($directory) & 0077) === 0;
        $handle = $isOurs ? @fopen($this->file, 'c+') : false;
        if ($handle === false || !flock($handle, LOCK_EX)) {
            throw new Refusal("Logins cannot be counted, so nobody can log in: $directory must be"
                . " a directory that only this user can write to.", 503);
        }
        $kept = json_decode((string) stream_get_contents($handle), true);
        /** @var list<array{int, string}> $known */
        $known = is_array($kept) ? $kept : [];
        [$tries, $wait] = $change($known);
        $text = (string) json_encode(array_values($tries));
        $isKept = ftruncate($handle, 0) && rewind($handle)
            && @fwrite($handle, $text) === strlen($text);
        fclose($handle);
        return $isKept ? $wait : throw new Refusal("Logins cannot be counted, so nobody can log in:"
            . " $this->file cannot be written. Is the disk full?", 503);
    }
}
