<?php

declare(strict_types=1);

namespace MailQueue\Web\Webhook;

use MailQueue\Internal;
use MailQueue\Web\OwnFile;
use MailQueue\Web\Refusal;

/**
 * What is asked of the SNS host of a region: the certificate that its messages are signed with, and
 * that a subscription is confirmed. Certificates are kept for a day in a file of this user. Anybody
 * can send a message that names one, so few are asked for, and none again soon that is missing.
 */
final class Amazon
{
    private const KEPT_S = 86400;
    private const KEPT = 10;
    private const ASKED_A_MINUTE = 10;
    private const MISSING_S = 300;
    /** SNS waits 15 seconds for the answer to a message. */
    private const TIMEOUT_MS = 8000;

    public function __construct(
        private readonly ?string $cafile,
        private readonly ?string $proxy,
    ) {
    }

    /**
     * The key of the certificate at a URL, which the host must have.
     *
     * @throws Refusal
     */
    public function key(string $host, string $url): \OpenSSLAsymmetricKey
    {
        if (preg_match('~\Ahttps://' . preg_quote($host, '~')
            . '/SimpleNotificationService-[0-9A-Fa-f]{1,64}\.pem\z~', $url) !== 1) {
            throw new Refusal("SigningCertURL is not a certificate at $host.", 403);
        }
        $pem = self::kept($url);
        $isNew = $pem === null;
        $isNew && self::admit($url);
        try {
            $pem ??= $this->get($url);
            $key = self::valid($pem);
        } catch (Refusal $e) {
            $e->status !== 403 || self::change('sns-asked', static fn (array $all): array
                => [[...$all, [time(), $url]], null]);
            throw $e;
        }
        $isNew && self::change('sns-certificates', static fn (array $all): array
            => [[[time(), "$url\n$pem"], ...array_slice($all, 0, self::KEPT - 1)], null]);
        return $key;
    }

    /** @throws Refusal */
    private static function valid(string $pem): \OpenSSLAsymmetricKey
    {
        $about = openssl_x509_parse($pem);
        $key = openssl_pkey_get_public($pem);
        if ($about === false || $key === false || $about['validTo_time_t'] < time()) {
            throw new Refusal('There is no valid certificate at SigningCertURL.', 403);
        }
        if ($about['validFrom_time_t'] > time()) {
            throw new Refusal('The certificate is not valid yet: is this clock slow?', 503);
        }
        return $key;
    }

    /**
     * Counts a request for a certificate. The list has requests, without a URL, and URLs of
     * certificates that were missing.
     *
     * @throws Refusal it was missing a short time ago
     */
    private static function admit(string $url): void
    {
        $why = self::change('sns-asked', static function (array $all) use ($url): array {
            $recent = array_values(array_filter($all, static fn (array $one): bool
                => $one[0] > time() - self::MISSING_S));
            $asked = array_filter($recent, static fn (array $one): bool
                => $one[0] > time() - 60 && $one[1] === '');
            return match (true) {
                in_array($url, array_column($recent, 1), true) => [null, new Refusal(
                    'There was no valid certificate at SigningCertURL a short time ago.',
                    403
                )],
                count($asked) >= self::ASKED_A_MINUTE => [null, new \RuntimeException(
                    'messages name more than ' . self::ASKED_A_MINUTE . ' certificates of SNS a '
                    . 'minute; no other one is asked for'
                )],
                default => [[...$recent, [time(), '']], null],
            };
        });
        $why === null || throw $why;
    }

    /** @throws Refusal */
    public function confirm(string $host, string $url): void
    {
        if (preg_match('#\Ahttps://' . preg_quote($host, '#')
            . '/\?Action=ConfirmSubscription&[!-~]{1,2000}\z#', $url) !== 1) {
            throw new Refusal("SubscribeURL does not confirm a subscription at $host.", 403);
        }
        $this->get($url);
    }

    /** @throws Refusal 403: the host has no such thing; 503: it does not answer */
    private function get(string $url): string
    {
        $answer = Internal::fetch($url, self::TIMEOUT_MS, $this->cafile, $this->proxy);
        if (in_array($answer['code'], [400, 403, 404, 410], true)) {
            throw new Refusal("SNS answers HTTP $answer[code].", 403);
        }
        return $answer['code'] === 200 ? $answer['body'] : throw new \RuntimeException(
            'the request to SNS: ' . ($answer['failure'] ?: "HTTP $answer[code]")
        );
    }

    private static function kept(string $url): ?string
    {
        $all = self::change('sns-certificates', static fn (array $all): array => [null, $all]);
        foreach ($all ?? [] as [$at, $text]) {
            if ($at > time() - self::KEPT_S && str_starts_with($text, "$url\n")) {
                return substr($text, strlen($url) + 1);
            }
        }
        return null;
    }

    /**
     * Changes a file; null if that fails, because it only costs time.
     *
     * @template T
     * @param \Closure(list<array{int, string}>): array{?list<array{int, string}>, T} $change
     * @return T|null
     */
    private static function change(string $name, \Closure $change): mixed
    {
        try {
            return (new OwnFile($name))->change($change);
        } catch (Refusal) {
            return null;
        }
    }
}
