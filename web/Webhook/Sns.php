<?php

declare(strict_types=1);

namespace MailQueue\Web\Webhook;

use MailQueue\Cli\Terminal;
use MailQueue\Web\Php;
use MailQueue\Web\Refusal;
use MailQueue\Web\Request;

/**
 * Amazon SNS, which carries the events of SES. It signs each message; the certificate for that is
 * at the host of the topic's region, which the topic's ARN names, and at no other.
 */
final class Sns extends Service
{
    private const ARN = '/\Aarn:(aws|aws-cn|aws-us-gov):sns:([a-z]{2}(?:-[a-z]+)+-\d+):\d{12}:'
        . '[\w-]{1,256}(?:\.fifo)?\z/';
    /** What is signed, in this order; Subject only if there is one. */
    private const SIGNED = [
        'Notification' => ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
        'SubscriptionConfirmation' => self::SIGNED_OF_SUBSCRIPTIONS,
        'UnsubscribeConfirmation' => self::SIGNED_OF_SUBSCRIPTIONS,
    ];
    private const SIGNED_OF_SUBSCRIPTIONS = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp',
        'Token', 'TopicArn', 'Type'];
    private const ALGORITHMS = ['1' => 'sha1', '2' => 'sha256'];

    /** @var array<string, string> ARN → the host of its region */
    private readonly array $hosts;

    public function __construct(mixed $topics, private readonly Amazon $amazon)
    {
        extension_loaded('openssl')
            || throw new \ValueError("'sns' needs PHP's extension openssl: install or enable it.");
        $hosts = [];
        foreach (is_array($topics) ? $topics : [$topics] as $arn) {
            if (!is_string($arn) || preg_match(self::ARN, $arn, $match) !== 1) {
                throw new \ValueError("'sns' must be the ARN of a topic, or a list of them, such "
                    . 'as arn:aws:sns:eu-central-1:123456789012:bounces.');
            }
            $hosts[$arn] = "sns.$match[2].amazonaws.com" . ($match[1] === 'aws-cn' ? '.cn' : '');
        }
        $this->hosts = $hosts ?: throw new \ValueError("'sns' names no topic.");
    }

    public static function isItsShape(array $body): bool
    {
        return is_string($body['TopicArn'] ?? null);
    }

    public function events(array $body, Request $request): array
    {
        $host = $this->hosts[$body['TopicArn']] ?? throw new Refusal(
            "The message is of another topic than those of 'sns'.",
            403
        );
        $this->verify($body, $host);
        return match ($body['Type']) {
            'Notification' => Ses::events((string) $body['Message'], (string) $body['MessageId']),
            'SubscriptionConfirmation' => $this->confirm($body, $host),
            default => [],
        };
    }

    /**
     * @param array<mixed> $body
     * @throws Refusal
     */
    private function verify(array $body, string $host): void
    {
        $unsigned = new Refusal('The message of SNS is not signed as it should be (raw message '
            . 'delivery must be off).', 403);
        $text = '';
        foreach (self::SIGNED[self::text($body, 'Type') ?? ''] ?? throw $unsigned as $name) {
            if ($name !== 'Subject' || isset($body[$name])) {
                $value = $body[$name] ?? null;
                $text .= is_string($value) ? "$name\n$value\n" : throw $unsigned;
            }
        }
        $version = (string) self::text($body, 'SignatureVersion');
        $algorithm = self::ALGORITHMS[$version] ?? throw $unsigned;
        $signature = (string) base64_decode((string) self::text($body, 'Signature'), true);
        $at = strtotime((string) self::text($body, 'Timestamp'));
        self::checkAge((int) $at);
        $wrong = new Refusal('The signature of the SNS message is wrong.', 403);
        $signature !== '' || throw $wrong;
        $key = $this->amazon->key($host, (string) self::text($body, 'SigningCertURL'));
        openssl_verify($text, $signature, $key, $algorithm) === 1 || throw $wrong;
    }

    /**
     * @param array<mixed> $body
     * @return array{}
     */
    private function confirm(array $body, string $host): array
    {
        $this->amazon->confirm($host, (string) $body['SubscribeURL']);
        Php::log('mailqueue webhook: subscribed to ' . Terminal::safe((string) $body['TopicArn']));
        return [];
    }
}
