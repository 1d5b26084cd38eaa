<?php

declare(strict_types=1);

namespace MailQueue\Web\Webhook;

use MailQueue\Cli\Bounce\Event;
use MailQueue\Cli\Bounce\Kind;

/** Events of Amazon SES, as notifications of an identity or as events of a configuration set. */
final class Ses
{
    /** Of a bounce that is not permanent; null: it says nothing about the address. */
    private const TRANSIENT = [
        'General' => Kind::Soft,
        'MailboxFull' => Kind::Quota,
        'MessageTooLarge' => Kind::Policy,
        'ContentRejected' => Kind::Policy,
        'AttachmentRejected' => Kind::Policy,
        'CustomTimeoutExceeded' => Kind::Soft,
    ];

    /** @return list<Event> none if the text is not such an event */
    public static function events(string $text, string $messageId): array
    {
        $event = json_decode($text, true, 32);
        return match (Service::text($event, 'notificationType')
            ?? Service::text($event, 'eventType')) {
            'Bounce' => self::bounce($event['bounce'] ?? null),
            'Complaint' => self::complaint($event['complaint'] ?? null),
            'Subscription' => self::subscription($event, $messageId),
            default => [],
        };
    }

    /** @return list<Event> */
    private static function bounce(mixed $bounce): array
    {
        $events = [];
        foreach (self::list($bounce, 'bouncedRecipients') as $one) {
            $status = (string) Service::text($one, 'status');
            $said = (string) preg_replace(
                '/\Asmtp; */i',
                '',
                Service::text($one, 'diagnosticCode') ?? $status
            );
            $kind = match (Service::text($bounce, 'bounceType')) {
                'Permanent' => Service::permanent($said, $status),
                // SES takes an answer such as for a vacation for a bounce without a reply.
                'Transient' => $said === '' ? Kind::Unknown
                    : self::TRANSIENT[Service::text($bounce, 'bounceSubType') ?? '']
                        ?? Kind::Soft,
                default => Kind::Unknown,
            };
            $events[] = self::event($one, $kind, $said, $bounce);
        }
        return $events;
    }

    /**
     * Providers often do not say who complains. SES then names all recipients at this provider, of
     * whom only one did.
     *
     * @return list<Event>
     */
    private static function complaint(mixed $complaint): array
    {
        $type = (string) Service::text($complaint, 'complaintFeedbackType');
        $recipients = self::list($complaint, 'complainedRecipients');
        return count($recipients) !== 1 || $type === 'not-spam' ? []
            : [self::event($recipients[0], Kind::Complaint, $type, $complaint)];
    }

    /** @param mixed $about the bounce or the complaint */
    private static function event(mixed $one, Kind $kind, string $said, mixed $about): Event
    {
        return new Event(
            Service::address(Service::text($one, 'emailAddress')),
            $kind,
            $said,
            'ses',
            Service::time(Service::text($about, 'timestamp')),
            'ses ' . Service::text($about, 'feedbackId')
        );
    }

    /**
     * Of all lists, or of the topics of a contact list that have the names of lists.
     *
     * @return list<Event>
     */
    private static function subscription(mixed $event, string $messageId): array
    {
        $wishes = $event['subscription']['newTopicPreferences'] ?? null;
        $scopes = ($wishes['unsubscribeAll'] ?? null) === true ? [null] : [];
        foreach ($scopes === [] ? self::list($wishes, 'topicSubscriptionStatus') : [] as $topic) {
            $name = Service::text($topic, 'topicName');
            if (Service::text($topic, 'subscriptionStatus') === 'OptOut' && (string) $name !== '') {
                $scopes[] = "list:$name";
            }
        }
        return array_map(static fn (?string $scope): Event => new Event(
            Service::address(Service::text($event, 'mail', 'destination', 0)),
            Kind::Unsubscribe,
            '',
            'ses',
            Service::time(Service::text($event, 'subscription', 'timestamp')),
            "ses $messageId $scope",
            $scope
        ), $scopes);
    }

    /** @return list<mixed> */
    private static function list(mixed $of, string $name): array
    {
        $list = is_array($of) ? $of[$name] ?? null : null;
        return is_array($list) ? array_values($list) : [];
    }
}
