<?php

declare(strict_types=1);

namespace MailQueue\Web\Webhook;

use MailQueue\Cli\Bounce\Event;
use MailQueue\Cli\Bounce\Kind;
use MailQueue\Web\Refusal;
use MailQueue\Web\Request;

/**
 * Mailgun, which signs a time and a random token, but not what it reports. So the token is the
 * event's id: the same request again does nothing.
 */
final class Mailgun extends Service
{
    private const REASONS = [
        'suppress-bounce' => Kind::Hard,
        'suppress-complaint' => Kind::Complaint,
        'suppress-unsubscribe' => Kind::Unsubscribe,
        'espblock' => Kind::Blocked,
        'old' => Kind::Soft, // Mailgun has given up
    ];
    private readonly string $key;

    public function __construct(#[\SensitiveParameter] mixed $key)
    {
        $this->key = self::secret($key, "'mailgun', the HTTP webhook signing key,");
    }

    public static function isItsShape(array $body): bool
    {
        return is_array($body['signature'] ?? null) && is_array($body['event-data'] ?? null);
    }

    public function events(array $body, Request $request): array
    {
        $token = $this->token($body['signature']);
        $data = $body['event-data'];
        $kind = match (self::text($data, 'event')) {
            'failed' => self::failed($data),
            'complained' => Kind::Complaint,
            'unsubscribed' => Kind::Unsubscribe,
            default => null,
        };
        return $kind === null ? [] : [new Event(
            self::address(self::text($data, 'recipient')),
            $kind,
            self::said($data),
            'mailgun',
            self::time(self::text($data, 'timestamp')),
            "mailgun $token"
        )];
    }

    /** @throws Refusal */
    private function token(mixed $signature): string
    {
        $at = (string) self::text($signature, 'timestamp');
        $token = (string) self::text($signature, 'token');
        $mac = (string) self::text($signature, 'signature');
        if ($token === '' || preg_match('/\A\d{1,12}\z/', $at) !== 1
            || !hash_equals(hash_hmac('sha256', $at . $token, $this->key), $mac)) {
            throw new Refusal("The signature is wrong: is 'mailgun' the HTTP webhook signing key "
                . 'of this account?', 403);
        }
        self::checkAge((int) $at);
        return $token;
    }

    private static function failed(mixed $data): ?Kind
    {
        return self::text($data, 'severity') !== 'permanent' ? null // Mailgun tries again
            : self::REASONS[self::text($data, 'reason') ?? '']
                ?? self::permanent(self::said($data));
    }

    private static function said(mixed $data): string
    {
        $status = is_array($data) ? $data['delivery-status'] ?? null : null;
        return implode(' ', array_filter([self::text($status, 'code'),
            self::text($status, 'enhanced-code'),
            self::text($status, 'message') ?: self::text($status, 'description')]));
    }
}
