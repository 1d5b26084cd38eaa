<?php

declare(strict_types=1);

namespace MailQueue\Web;

/** Counts failed logins by address, and all together. */
final class Throttle
{
    private const SECONDS = 900;
    private const OF_ONE = 5;
    private const OF_ALL = 100;

    private readonly OwnFile $file;
    private readonly string $address;

    public function __construct(string $address)
    {
        $this->file = new OwnFile('logins', 'Without it nobody can log in.');
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
        return $this->file->change(function (array $tries): array {
            $since = time() - self::SECONDS;
            $recent = array_values(array_filter($tries, static fn (array $try): bool
                => $try[0] > $since));
            $own = array_filter($recent, fn (array $try): bool => $try[1] === $this->address);
            foreach ([[$own, self::OF_ONE], [$recent, self::OF_ALL]] as [$some, $most]) {
                if (count($some) >= $most) {
                    return [$recent, max(1, min(array_column($some, 0)) - $since)];
                }
            }
            return [[...$recent, [time(), $this->address]], 0];
        });
    }

    /** After the right password. */
    public function forget(): void
    {
        $this->file->change(fn (array $tries): array => [array_values(array_filter(
            $tries,
            fn (array $try): bool => $try[1] !== $this->address
        )), null]);
    }
}
