<?php

declare(strict_types=1);

namespace MailQueue\Web;

/** What a relay's reply means for a person, and what to do. The first pattern that fits counts. */
final class Meaning
{
    private const TABLE = [
        '/\b535\b|5\.7\.8|login|authenticat/i' => ['The relay does not accept the login.',
            'Check user and password of the transport (MAILQUEUE_TRANSPORT).'],
        '/certificate|TLS|SSL/i' => ['No encrypted connection came about.',
            'Check the name in the transport, and the certificate of the relay.'],
        '/could not resolve|resolve host|name or service/i' => ['The relay\'s name was not found.',
            'Check the host in the transport, and the DNS of this machine.'],
        '/refused to connect|connection refused|failed to connect|timed? ?out|no route/i' => [
            'The relay could not be reached.',
            'Check host and port of the transport, and the firewall. Mail waits until then.'],
        '/\b250\b/' => ['The relay has accepted the mail.',
            'Nothing. Delivering it is now its task.'],
        '/\b5\.1\.[0-36]\b|user unknown|no such user|unknown user|recipient.*unknown/i' => [
            'There is no such mailbox.',
            'Ask for the right address, then correct it and send again.'],
        '/\b[45]\.2\.2\b|mailbox.*full|quota/i' => ['The mailbox is full.',
            'Try again later, or reach the recipient in another way.'],
        '/\b[45]\.2\.1\b|mailbox.*(disabled|inactive)/i' => ['The mailbox is switched off.',
            'Ask the recipient for another address.'],
        '/\b5\.3\.4\b|too (large|big)|size/i' => ['The mail is too large.',
            'Send it with smaller attachments, or with a link.'],
        '/greylist|\b450\b|\b451\b|4\.7\.1/i' => [
            'The recipient\'s server asks to try again later.',
            'Nothing. The queue tries again by itself.'],
        '/\b421\b|too many|rate|throttl/i' => ['The relay wants fewer mails or connections.',
            'Nothing now. If it comes often, lower the hourly limit.'],
        '/spam|blocked|blacklist|block ?list|reputation|\b5\.7\.\d+\b|policy|dmarc|spf|dkim/i' => [
            'The mail was refused by a rule, often against spam.',
            'Check SPF, DKIM and DMARC of the sender\'s domain, and the text of the mail.'],
        '/\b5\d\d\b/' => ['The relay refused the mail for good.',
            'Read its reply. Correct what it names, then bring the mail back.'],
        '/\b4\d\d\b/' => ['The relay could not take the mail now.',
            'Nothing. The queue tries again by itself.'],
    ];
    private const OTHER = ['The attempt did not succeed.',
        'Read the text beside this; "mailqueue doctor" looks at the surroundings.'];

    /** @return array{string, string} English texts: what it means, what to do */
    public static function of(string $reply): array
    {
        foreach (self::TABLE as $pattern => $texts) {
            if (preg_match($pattern, $reply) === 1) {
                return $texts;
            }
        }
        return self::OTHER;
    }
}
