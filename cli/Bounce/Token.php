<?php

declare(strict_types=1);

namespace MailQueue\Cli\Bounce;

use MailQueue\Cli\Stop;

/** The tokens of envelope senders, which src/mime/verp.c makes. */
final class Token
{
    /**
     * How many days after that of its mail a token is good: servers try for up to a week, people
     * are slower. A row of mail_bounce, which is kept for 30 days, then knows each event of it.
     */
    private const DAYS = 29;
    private const DAY_S = 86400;
    private const VERSION = "\x01";
    private const TEXT = 11; // octets: version, day, hash
    private const MAC = 9;
    private const DIGITS = 'abcdefghijklmnopqrstuvwxyz234567';

    /**
     * The hash of the address that the first good token of a text is for; null: it has none.
     *
     * @param string $secret the config key mailSuppressionKey
     * @throws Stop without the key no token can be read, and none is lost
     */
    public static function find(string $secret, string $text): ?int
    {
        preg_match_all('/[a-z2-7]{32}(?=@)/i', $text, $matches);
        foreach (array_unique($matches[0]) as $token) {
            $hash = self::read(self::key($secret), self::octets(strtolower($token)));
            if ($hash !== null) {
                return $hash;
            }
        }
        return null;
    }

    /**
     * What signs the tokens, and the links to unsubscribe.
     *
     * @param string $secret the config key mailSuppressionKey
     * @throws Stop
     */
    public static function key(string $secret): string
    {
        $key = substr((string) @hex2bin(trim($secret)), 16);
        strlen($key) === 32 || throw Stop::config('Config key mailSuppressionKey is missing or '
            . 'damaged: restore it from a backup of the config table.');
        return $key;
    }

    private static function octets(string $token): string
    {
        $bits = '';
        foreach (str_split($token) as $digit) {
            $bits .= sprintf('%05b', strpos(self::DIGITS, $digit));
        }
        return pack('C*', ...array_map(bindec(...), str_split($bits, 8)));
    }

    /** Null: it is forged, or too old. */
    private static function read(string $key, string $octets): ?int
    {
        $text = substr($octets, 0, self::TEXT);
        $mac = substr(hash_hmac('sha256', "b$text", $key, true), 0, self::MAC);
        $parts = unpack('Cversion/nday/Jhash', $text) ?: ['day' => 0, 'hash' => 0];
        $isGood = $text[0] === self::VERSION && hash_equals($mac, substr($octets, self::TEXT))
            && $parts['day'] >= intdiv(time(), self::DAY_S) - self::DAYS;
        return $isGood ? $parts['hash'] : null;
    }
}
