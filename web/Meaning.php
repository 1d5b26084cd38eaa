<?php

declare(strict_types=1);

namespace MailQueue\Web;

/** What a relay's reply means for a person, and what to do. The first pattern that fits counts. */
final class Meaning
{
    private const TABLE = [
        '/\A\W*2\d\d\b/' => ['The relay has accepted the mail.',
            'Nothing. Delivering it is now its task.'],
        '/\Aaccount\b|\btoken of account\b/' => ['The worker has no access token that the relay '
            . 'accepts.', 'Do what the text says. "mailqueue doctor --relay" tries it at once.'],
        '/\b(?:spf|dkim|dmarc)\b/i' => self::RULE,
        '/\A\W*53[058]\b|\b5\.7\.8\b|\blog ?in\b|\bauthenticat(?:ion|e)\b/i' => [
            'The relay does not accept the login.',
            'Check user and password of the transport (MAILQUEUE_TRANSPORT).'],
        '/\brelay(?:ing)?\b.*\b(?:denied|not permitted|prohibited)\b/i' => [
            'The relay does not send for this login or sender.',
            'Check the transport\'s login, and whether the relay may send for the sender\'s '
                . 'domain.'],
        '/\b5\.1\.[78]\b|\bsender (?:address )?(?:rejected|denied|verify)\b/i' => [
            'The relay does not accept the sender.', 'Check the address in From, and its domain.'],
        '/\b(?:certificate|(?:START)?TLS|SSL)\b/i' => ['The encrypted connection failed.',
            'Check the name in the transport, and the certificate of the relay.'],
        '/could not resolve|resolve host|name or service/i' => ['The relay\'s name was not found.',
            'Check the host in the transport, and the DNS of this machine.'],
        '/refused to connect|connection refused|failed to connect|timed? ?out|no route/i' => [
            'The relay could not be reached.',
            'Check host and port of the transport, and the firewall. Mail waits until then.'],
        '/\bgr[ae]y.?list/i' => self::LATER,
        '/\b5\.1\.[0-36]\b|\A\W*5.*\brecipient address rejected\b|\buser unknown\b|\bno such user\b'
            . '|\bunknown user\b|\brecipient\b.*\bunknown\b/i' => ['There is no such mailbox.',
            'Ask for the right address, then correct it and send again.'],
        '/\b[45]\.2\.2\b|\bmailbox\b.*\bfull\b|\bquota\b/i' => ['The mailbox is full.',
            'Try again later, or reach the recipient in another way.'],
        '/\b[45]\.2\.1\b|\bmailbox\b.*\b(?:disabled|inactive)\b/i' => [
            'The mailbox is switched off.', 'Ask the recipient for another address.'],
        '/\b5\.3\.4\b|\btoo (?:large|big)\b|\bmessage size\b/i' => ['The mail is too large.',
            'Send it with smaller attachments, or with a link.'],
        '/\A\W*421\b|\btoo many\b|\brate\b|\bthrottl/i' => [
            'The relay wants fewer mails or connections.',
            'Nothing now. If it comes often, lower the hourly limit.'],
        '/\A\W*45[01]\b|\b4\.7\.1\b/' => self::LATER,
        '/\bspam|\bblocked\b|\bblack ?list|\bblock ?list|\breputation\b|\b5\.7\.\d+\b|\bpolicy\b/i'
            => self::RULE,
        '/\A\W*5\d\d\b/' => ['The relay refused the mail for good.',
            'Read its reply. Correct what it names, then bring the mail back.'],
        '/\A\W*4\d\d\b/' => ['The relay could not take the mail now.',
            'Nothing. The queue tries again by itself.'],
    ];
    private const LATER = ['The recipient\'s server asks to try again later.',
        'Nothing. The queue tries again by itself.'];
    private const RULE = ['The mail was refused by a rule, often against spam.',
        'Check SPF, DKIM and DMARC of the sender\'s domain, and the text of the mail.'];
    private const OTHER = ['The attempt did not succeed.',
        'Read the text beside this; "mailqueue doctor" looks at the surroundings.'];

    /** Addresses and host names: their words are not the relay's. */
    private const NAMES = '~\S*@\S*|(?<![\w.-])[a-z][\w-]*(?:\.[\w-]+)+~i';

    /** @return array{string, string} English texts: what it means, what to do */
    public static function of(string $reply): array
    {
        $words = (string) preg_replace(self::NAMES, '', $reply);
        foreach (self::TABLE as $pattern => $texts) {
            if (preg_match($pattern, $words) === 1) {
                return $texts;
            }
        }
        return self::OTHER;
    }
}
