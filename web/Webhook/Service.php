<?php

declare(strict_types=1);

namespace MailQueue\Web\Webhook;

use MailQueue\Cli\Bounce\Classifier;
use MailQueue\Cli\Bounce\Event;
use MailQueue\Cli\Bounce\Kind;
use MailQueue\Web\Refusal;
use MailQueue\Web\Request;

/** A service that reports events: who may say so, and what it says. */
abstract class Service
{
    /** Mailgun tries for 8 hours to deliver an event, SNS for less. */
    private const AGE_MAX_S = 12 * 3600;
    private const AHEAD_MAX_S = 900;
    private const SECRET_MIN = 16;

    /** @param array<mixed> $body whether it has this service's form; anybody can have sent it */
    abstract public static function isItsShape(array $body): bool;

    /**
     * @param array<mixed> $body
     * @return list<Event>
     * @throws Refusal 403 if the service did not send it
     */
    abstract public function events(array $body, Request $request): array;

    /** @return array{} dumps show no secrets */
    public function __debugInfo(): array
    {
        return [];
    }

    /** @throws \ValueError if it is missing, or can be guessed */
    protected static function secret(#[\SensitiveParameter] mixed $secret, string $what): string
    {
        return is_string($secret) && strlen($secret) >= self::SECRET_MIN ? $secret
            : throw new \ValueError("$what is missing, or shorter than " . self::SECRET_MIN
                . ' octets; without it anybody could report events.');
    }

    /** An old request can be one that somebody has recorded. */
    protected static function checkAge(int $at): void
    {
        if ($at < time() - self::AGE_MAX_S) {
            throw new Refusal('The request is too old, or the clock of this host is wrong.', 403);
        }
        if ($at > time() + self::AHEAD_MAX_S) { // after a 403 the service would give the event up
            throw new Refusal('The time of the request lies ahead: is this clock slow?', 503);
        }
    }

    /**
     * A text within the body; null: there is none.
     *
     * @param mixed $body
     */
    public static function text(mixed $body, string|int ...$path): ?string
    {
        foreach ($path as $name) {
            $body = is_array($body) ? $body[$name] ?? null : null;
        }
        return is_string($body) || is_int($body) || is_float($body) ? (string) $body : null;
    }

    /** The bare address of what may be "Ann <ann@example.net>". */
    public static function address(?string $text): string
    {
        return preg_match('/<([^<>]*)>\s*\z/', (string) $text, $match) ? $match[1] : (string) $text;
    }

    /** What a failure is that the service calls permanent. */
    public static function permanent(string $said, string $status = ''): Kind
    {
        $kind = Classifier::kind($said, $status);
        return $kind === Kind::Unknown ? Kind::Hard : $kind;
    }

    /** UTC seconds of a time as services write it; now, if it is none or in the future. */
    public static function time(?string $text): int
    {
        $at = is_numeric($text) ? (int) $text : strtotime((string) $text);
        return $at === false || $at <= 0 ? time() : min($at, time());
    }
}
