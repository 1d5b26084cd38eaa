<?php

declare(strict_types=1);

namespace MailQueue\Web\Webhook;

use MailQueue\Cli\Bounce\Event;
use MailQueue\Cli\Bounce\Kind;
use MailQueue\Web\Refusal;
use MailQueue\Web\Request;

/**
 * Postmark, which signs nothing: it sends the user and password of the webhook's URL, or a header
 * that is set for the webhook.
 */
final class Postmark extends Service
{
    /** The types of bounces that say something about the address. */
    private const KINDS = [
        'HardBounce' => Kind::Hard,
        'BadEmailAddress' => Kind::Hard,
        'SoftBounce' => Kind::Soft,
        'DnsError' => Kind::Soft,
        'Blocked' => Kind::Blocked,
        'ISPBlock' => Kind::Blocked,
        'SpamNotification' => Kind::Policy,
        'VirusNotification' => Kind::Policy,
        'DMARCPolicy' => Kind::Policy,
        'AutoResponder' => Kind::AutoReply,
        'ChallengeVerification' => Kind::AutoReply,
        'SpamComplaint' => Kind::Complaint,
        'Unsubscribe' => Kind::Unsubscribe,
    ];
    private readonly string $secret;

    public function __construct(#[\SensitiveParameter] mixed $secret)
    {
        $this->secret = self::secret($secret, "'postmark', the secret \"user:password\" of the "
            . "webhook's URL or header,");
    }

    public static function isItsShape(array $body): bool
    {
        return is_string($body['RecordType'] ?? null);
    }

    public function events(array $body, Request $request): array
    {
        $this->check($request);
        $kind = match ($body['RecordType']) {
            'Bounce', 'SpamComplaint' => self::KINDS[self::text($body, 'Type') ?? '']
                ?? null,
            'SubscriptionChange' => self::change($body),
            default => null,
        };
        return $kind === null ? [] : [new Event(
            self::address(self::text($body, 'Email') ?? self::text($body, 'Recipient')),
            $kind,
            self::text($body, 'Details') ?: (string) self::text($body, 'Description'),
            'postmark',
            self::time(self::text($body, 'BouncedAt') ?? self::text($body, 'ChangedAt')),
            'postmark ' . (self::text($body, 'ID') ?? $kind->value . ' '
                . self::text($body, 'MessageID') . self::text($body, 'ChangedAt'))
        )];
    }

    /** @throws Refusal */
    private function check(Request $request): void
    {
        $header = $request->server(
            'HTTP_AUTHORIZATION',
            $request->server('REDIRECT_HTTP_AUTHORIZATION')
        );
        $given = [
            $request->server('HTTP_X_WEBHOOK_SECRET'),
            $request->server('PHP_AUTH_USER') . ':' . $request->server('PHP_AUTH_PW'),
            (string) base64_decode((string) preg_replace('/\ABasic +/i', '', $header)),
        ];
        $matches = array_map(fn (string $one): bool => hash_equals($this->secret, $one), $given);
        in_array(true, $matches, true) || throw new Refusal('The user and password, or the header '
            . 'X-Webhook-Secret, are wrong or missing.', 403);
    }

    /**
     * Why an address is not sent to any more; null: it is again.
     *
     * @param array<mixed> $body
     */
    private static function change(array $body): ?Kind
    {
        return ($body['SuppressSending'] ?? null) !== true ? null
            : match (self::text($body, 'SuppressionReason')) {
                'HardBounce' => Kind::Hard,
                'SpamComplaint' => Kind::Complaint,
                'ManualSuppression' => self::text($body, 'Origin') === 'Recipient'
                    ? Kind::Unsubscribe : null,
                default => null,
            };
    }
}
