<?php

declare(strict_types=1);

namespace MailQueue\Cli\Bounce;

use MailQueue\Cli\MessagePart;

/** What a message says. Anybody can have sent it: Reader looks for proof. */
final class Report
{
    public const BOUNCE = 'a bounce';
    public const COMPLAINT = 'a complaint';
    public const DELAY = 'a report that a mail is not given up, or was delivered';
    public const AUTO_REPLY = 'an automatic reply';
    public const LIST = 'mail of a list';
    public const OTHER = 'not a report';

    private const NO_FAILURE = ['delayed', 'relayed', 'delivered', 'expanded', 'deliverable'];
    private const PARTS_MAX = 50;
    private const GROUPS_MAX = 500;
    private const ADDRESSES_MAX = 10;
    private const LINE_MAX = 500; // octets
    /** Where the text of a report without a form ends, and the mail that it returns begins. */
    private const RETURNED = '/^[ \t>]*(?:'
        . '-{2,}[^\n]*(?:copy|original|returned|unsent|headers?\b)[^\n]*'
        . '|(?:original )?message (?:headers )?follows?:?|original message headers:'
        . '|(?:the )?(?:full )?(?:original|returned) message(?: (?:was|is|follows|headers))?[^\n]*:'
        . '|return-path:[^\n]*|received: (?:from|by)[^\n]*)$/mi';
    /** Names of senders of reports. */
    private const MAILER = '/(?:^|[<" (])(?:mailer[-_. ]?daemon|mail[-_.]?daemon|post[-_.]?master'
        . '|mdaemon|mail[-_.]?delivery[-\w.]*|mail delivery (?:sub)?system|microsoftexchange\w*'
        . '|mail administrator|system administrator|bounce[sd]?(?:[-+]\w+)?|mailsystem|uucp)\b/i';
    private const SUBJECT = '/undeliver|failure (?:notice|delivering)|returned (?:mail|message|to)'
        . '|deliver[a-z]* (?:of |the )?(?:\w+ )?(?:has )?(?:fail|status|problem|error|notif|report)'
        . '|fail\w* (?:notice|to deliver|delivery)|non.?deliver|not be delivered|delayed mail'
        . '|(?:mail|message) (?:delivery|could not|not delivered|failure|error|bounce|returned)'
        . '|(?:cannot|could not) send|unzustellbar|nicht zugestellt|non remis|no entregado'
        . '|mancata consegna|^ndn:|^ndr/i';
    private const DELAYED = '/warning message only|only a warning|delayed'
        . '|warning: (?:could not send|message)|delivery (?:status notification )?\(?delay'
        . '|not (?:yet )?been delivered(?: yet| so far)?|will (?:continue|keep) (?:to )?try'
        . '|no action is required on your part|(?:temporary|transient) non-?fatal'
        . '|still being (?:re)?tried/i';
    private const GIVEN_UP = '/permanent(?:ly| fail| err| fatal)|giv(?:en|ing) (?:it )?up'
        . '|has (?:been )?fail/i';
    /** Subjects of answers to a mail; servers do not answer, they report. */
    private const REPLY = '/\A\s*(?:re|aw|antw(?:ort)?|sv|vs|tr|odp|rif|auto)\s*(?:\[\d+\])?\s*:/i';
    private const AWAY = '/^(?:auto(?:matic|mated)?[- ]?(?:reply|response)|automatische antwort'
        . '|out of (?:the )?office|vacation|away from|abwesen|réponse automatique'
        . '|respuesta autom)/iu';
    /** A line with a server's reply or an enhanced code, and those that continue it. */
    private const SAID = '/^.*?(?<![\d.]|\d:)(?:[45][0-5]\d[ ,-](?=\D|[245]\.\d)'
        . '|#?[45]\.\d\.\d{1,3}(?![\d.]*\d)).*(?:\r?\n[ \t]+\S.*){0,4}/m';

    /**
     * @param string $what one of the constants above
     * @param list<Notice> $notices what it says of recipients
     */
    private function __construct(
        public readonly string $what,
        public readonly array $notices = [],
    ) {
    }

    public static function of(MessagePart $mail): self
    {
        $parts = [];
        foreach (array_slice($mail->leaves(), 0, self::PARTS_MAX) as $leaf) {
            $parts[$leaf->type] ??= $leaf;
        }
        $about = self::text($parts['text/plain'] ?? null, $parts['text/html'] ?? null);
        $status = $parts['message/delivery-status']
            ?? $parts['message/global-delivery-status'] ?? null;
        $feedback = $parts['message/feedback-report'] ?? null;
        $type = strtolower($mail->parameter('report-type') ?? '');
        return match (true) {
            $status !== null => self::delivery($status->text(), $about),
            $feedback !== null => self::feedback($feedback->text()),
            $type === 'disposition-notification' => new self(self::AUTO_REPLY),
            $type === 'delivery-status' && preg_match('/^Final-Recipient:/im', $mail->body) === 1
                => self::delivery($mail->body, $about),
            default => self::free($mail, $about),
        };
    }

    // ---- RFC 3464

    private static function delivery(string $text, string $about): self
    {
        $notices = [];
        $isDelay = false;
        $groups = preg_split('/\r?\n[ \t]*\r?\n/', ltrim($text), self::GROUPS_MAX) ?: [];
        foreach ($groups as $group) {
            $fields = self::fields($group);
            $action = strtolower(strtok($fields['action'] ?? '', " \t(") ?: '');
            if (in_array($action, self::NO_FAILURE, true)) {
                $isDelay = true;
            } elseif ($action !== '' || isset($fields['status'])) {
                $notices[] = self::notice($fields, $about);
            }
        }
        return $notices === [] ? new self($isDelay ? self::DELAY : self::OTHER)
            : new self(self::BOUNCE, $notices);
    }

    /** @param array<string, string> $fields */
    private static function notice(array $fields, string $about): Notice
    {
        $said = (string) preg_replace('/\A[\w.-]+\s*;\s*/', '', $fields['diagnostic-code'] ?? '');
        $said = $said !== '' ? $said : self::said($about);
        $status = $fields['status'] ?? '';
        $text = $said !== '' ? $said : trim("$status " . self::line($about));
        return new Notice(
            self::addresses($fields),
            Classifier::kind($said, $status, $about),
            $text
        );
    }

    /** @return array<string, string> unfolded, by their names in lower case; the first of each */
    private static function fields(string $text): array
    {
        $fields = [];
        $pattern = '/^([\w-]{1,60}):[ \t]*((?:[^\r\n]++|\r?\n[ \t])*+)/m';
        preg_match_all($pattern, $text, $matches, PREG_SET_ORDER);
        foreach ($matches as [, $name, $value]) {
            $value = preg_replace('/\r?\n[ \t]+/', ' ', $value);
            $fields[strtolower($name)] ??= trim((string) $value);
        }
        return $fields;
    }

    /**
     * @param array<string, string> $fields
     * @return list<string>
     */
    private static function addresses(array $fields): array
    {
        $addresses = [];
        foreach (['original-recipient', 'final-recipient', 'x-actual-recipient'] as $name) {
            $address = (string) preg_replace('/\A\s*[\w-]+\s*;/', '', $fields[$name] ?? '');
            if (str_contains($address, '@')) {
                $addresses[] = trim($address, " \t<>");
            }
        }
        return $addresses;
    }

    // ---- RFC 5965

    private static function feedback(string $text): self
    {
        $fields = self::fields($text);
        $kind = match (strtolower($fields['feedback-type'] ?? '')) {
            'abuse', 'fraud', 'virus', 'other' => Kind::Complaint,
            'opt-out', 'opt-out-list' => Kind::Unsubscribe,
            default => null, // reports on authentication, or says that the mail was not spam
        };
        $address = trim($fields['original-rcpt-to'] ?? $fields['removal-recipient'] ?? '', " \t<>");
        $addresses = str_contains($address, '@') ? [$address] : [];
        return $kind === null ? new self(self::OTHER) : new self(self::COMPLAINT, [
            new Notice($addresses, $kind, 'feedback report: ' . $fields['feedback-type']
                . ', ' . ($fields['user-agent'] ?? '')),
        ]);
    }

    // ---- other forms

    private static function free(MessagePart $mail, string $text): self
    {
        $failed = $mail->header('X-Failed-Recipients');
        $subject = self::decoded((string) $mail->header('Subject'));
        if ($failed === null && self::isListMail($mail)) {
            return new self(self::LIST);
        }
        if ($failed === null && !self::isFromMailer($mail, $subject)) {
            return new self(self::isAutomatic($mail, $subject) ? self::AUTO_REPLY : self::OTHER);
        }
        $own = trim(preg_split(self::RETURNED, $text, 2)[0] ?? '');
        if ($own === '') {
            return new self(self::OTHER); // such as parts that are too deep within each other
        }
        if (preg_match(self::DELAYED, "$subject\n$own") === 1
            && preg_match(self::GIVEN_UP, $own) !== 1) {
            return new self(self::DELAY);
        }
        $said = self::said($own);
        return new self(self::BOUNCE, [new Notice(
            [...self::list((string) $failed), ...self::list($own)],
            Classifier::kind($said, '', $own),
            $said !== '' ? $said : self::line($own)
        )]);
    }

    private static function isListMail(MessagePart $mail): bool
    {
        return $mail->header('List-Id') !== null || $mail->header('List-Post') !== null
            || preg_match('/\Alist\b/i', (string) $mail->header('Precedence')) === 1;
    }

    private static function isFromMailer(MessagePart $mail, string $subject): bool
    {
        $from = self::decoded((string) $mail->header('From'));
        $isNull = preg_match('/\A<\s*>/', (string) $mail->header('Return-Path')) === 1;
        $isBounce = preg_match(self::SUBJECT, $subject) === 1;
        $isReply = preg_match(self::REPLY, $subject) === 1
            || $mail->header('X-Autoreply') !== null || $mail->header('X-Autorespond') !== null;
        $saysCode = self::said($mail->body) !== '';
        $saysSo = $saysCode || stripos($mail->body, 'deliver') !== false;
        return !$isReply && preg_match(self::AWAY, $subject) !== 1
            && (preg_match(self::MAILER, $from) === 1 ? $isBounce || $saysSo
                : $isBounce && $saysCode && ($isNull || $from === ''));
    }

    private static function isAutomatic(MessagePart $mail, string $subject): bool
    {
        $auto = strtolower(trim((string) $mail->header('Auto-Submitted')));
        return ($auto !== '' && $auto !== 'no') || $mail->header('X-Autoreply') !== null
            || $mail->header('X-Autorespond') !== null || preg_match(self::AWAY, $subject) === 1
            || preg_match('/\Aauto_reply\b/i', (string) $mail->header('Precedence')) === 1;
    }

    /** The text for people: of the plain part, or else of the HTML. */
    private static function text(?MessagePart $plain, ?MessagePart $html): string
    {
        $text = trim($plain?->text() ?? '');
        if ($text !== '' || $html === null) {
            return $text;
        }
        $unseen = '~<(style|script|title)\b.*?</\1\s*>~is';
        $lineEnd = '~<(?:br|/p|/div|/tr|/li|/h\d)\b[^>]*>~i';
        $marked = (string) preg_replace([$unseen, $lineEnd], ['', "\n"], $html->text());
        return trim(html_entity_decode(strip_tags($marked), ENT_QUOTES | ENT_HTML5, 'UTF-8'));
    }

    /** A server's words in a text; "": there are none. */
    private static function said(string $text): string
    {
        return preg_match(self::SAID, $text, $match) === 1
            ? trim((string) preg_replace('/\s+/', ' ', $match[0])) : '';
    }

    /** What a text says from the first line with an address on, on one line. */
    private static function line(string $text): string
    {
        $said = preg_match('/^.*@.*/ms', $text, $match) === 1 ? $match[0] : $text;
        return trim((string) preg_replace('/\s+/', ' ', substr($said, 0, self::LINE_MAX)));
    }

    /** @return list<string> addresses, the first ones */
    private static function list(string $text): array
    {
        preg_match_all('/[^\s<>"\'():;,@\[\]]{1,64}@[\w.-]{1,255}\w/u', $text, $matches);
        return array_slice(array_unique($matches[0]), 0, self::ADDRESSES_MAX);
    }

    private static function decoded(string $field): string
    {
        $decoded = function_exists('iconv_mime_decode')
            ? @iconv_mime_decode($field, ICONV_MIME_DECODE_CONTINUE_ON_ERROR, 'UTF-8') : false;
        return is_string($decoded) ? $decoded : $field;
    }
}
