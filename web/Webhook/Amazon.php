<?php

declare(strict_types=1);

namespace MailQueue\Web\Webhook;

use MailQueue\Internal;
use MailQueue\Web\OwnFile;
use MailQueue\Web\Refusal;

/**
 * What is asked of the SNS host of a region: the certificate that its messages are signed with, and
 * that a subscription is confirmed. Certificates are kept for a day in a file of this user.
 */
final class Amazon
{
    private const KEPT_S = 86400;
    private const KEPT = 10;
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
        $cache = new OwnFile('sns-certificates');
        $pem = self::kept($cache, $url);
        $isNew = $pem === null;
        $pem ??= $this->get($url);
        $about = openssl_x509_parse($pem);
        $key = openssl_pkey_get_public($pem);
        if ($about === false || $key === false || $about['validFrom_time_t'] > time()
            || $about['validTo_time_t'] < time()) {
            throw new Refusal("There is no valid certificate at SigningCertURL.", 403);
        }
        $isNew && self::keep($cache, $url, $pem);
        return $key;
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

    private static function kept(OwnFile $cache, string $url): ?string
    {
        try {
            $all = $cache->entries();
        } catch (Refusal) { // it only costs time
            $all = [];
        }
        foreach ($all as [$at, $text]) {
            if ($at > time() - self::KEPT_S && str_starts_with($text, "$url\n")) {
                return substr($text, strlen($url) + 1);
            }
        }
        return null;
    }

    private static function keep(OwnFile $cache, string $url, string $pem): void
    {
        try {
            $cache->change(static fn (array $all): array
                => [[[time(), "$url\n$pem"], ...array_slice($all, 0, self::KEPT - 1)], null]);
        } catch (Refusal) {
        }
    }
}
