<?php

declare(strict_types=1);

namespace MailQueue\Cli\Bounce;

/**
 * What a server's words mean for an address: first the enhanced status codes (RFC 3463), then
 * phrases. Only these two tables decide that.
 */
final class Classifier
{
    /**
     * Codes that say enough, by class, subject and detail; "*" is any. The longest match decides.
     * Codes that are not here, such as 5.0.0 and 5.7.1, are used for many things.
     */
    private const CODES = [
        '*.1.1' => Kind::Hard, // no such mailbox
        '*.1.2' => Kind::Hard, // no such domain
        '*.1.3' => Kind::Hard, // no address
        '*.1.6' => Kind::Hard, // has moved
        '*.1.7' => Kind::Policy, // the sender's address
        '*.1.8' => Kind::Policy,
        '*.1.10' => Kind::Hard, // the domain takes no mail (RFC 7505); Exchange: no such recipient
        '*.2.2' => Kind::Quota,
        '*.2.3' => Kind::Policy, // too large for it
        '*.2.4' => Kind::Soft,
        '*.3.1' => Kind::Soft, // the server's disk
        '*.3.2' => Kind::Soft,
        '*.3.4' => Kind::Policy, // too large for the server
        '*.3.5' => Kind::Soft,
        '*.4.2' => Kind::Soft,
        '*.4.3' => Kind::Soft,
        '5.4.4' => Kind::Hard, // no route: no such host
        '*.4.5' => Kind::Soft,
        '*.4.6' => Kind::Soft, // a loop
        '*.4.7' => Kind::Soft, // it took too long
        '*.4.14' => Kind::Soft, // Exchange: a loop
        '*.4.310' => Kind::Hard, // Exchange: no such domain
        '*.5.3' => Kind::Soft, // too many recipients
        '*.6.*' => Kind::Policy,
        '*.7.2' => Kind::Policy, // a list that is closed
        '*.7.3' => Kind::Policy,
        '*.7.5' => Kind::Policy,
        '*.7.7' => Kind::Policy,
        '*.7.13' => Kind::Hard, // disabled
        '*.7.20' => Kind::Policy, // DKIM, SPF, DMARC: RFC 7372
        '*.7.21' => Kind::Policy,
        '*.7.22' => Kind::Policy,
        '*.7.23' => Kind::Policy,
        '*.7.24' => Kind::Policy,
        '*.7.25' => Kind::Blocked, // no reverse DNS
        '*.7.26' => Kind::Policy,
        '*.7.27' => Kind::Policy,
        '*.7.28' => Kind::Blocked, // too much mail from there
        '*.7.133' => Kind::Policy, // Exchange: only for members
        '*.7.134' => Kind::Policy,
        '*.7.511' => Kind::Blocked, // Exchange: a sender that was banned
        '*.7.606' => Kind::Blocked, // Exchange: a network that was banned
        '*.7.705' => Kind::Blocked,
        '*.7.708' => Kind::Blocked,
        '*.7.750' => Kind::Blocked,
    ];

    /**
     * The first phrase that the words have decides. Words are in lower case, without addresses, and
     * with one blank between them; "*" is up to 40 characters. LIVE are those of addresses that
     * exist, whatever the code says.
     */
    private const LIVE = 2; // so many groups
    private const PHRASES = [
        // The sender's limits and the server's, which say nothing about the recipient.
        [Kind::Soft, ['sending limit', 'sending quota', 'sending rate', 'submission rate',
            'submission quota', 'too many messages', 'too many emails', 'too many mails',
            'too many connections', 'too many concurrent', 'too many sessions',
            'too many recipients', 'too much mail', 'too many invalid', 'emails per hour',
            'messages per hour', 'daily limit', 'hourly limit', 'rate limit', 'ratelimit',
            'rate-limit', 'rate overlimit', 'relay quota', 'frequency limit',
            'receiving mail too quickly', 'receiving mail at a rate', 'throttl', 'greylist',
            'graylist', 'grey list', 'gray list', 'grey-list', 'temporarily deferred',
            'not accepting connections', 'not found, try again']],
        [Kind::Quota, ['mailbox full', 'mailbox is full', 'mail box full', 'mailbox * full',
            'inbox is full', 'inbox full', 'over quota', 'overquota', 'quota exceeded',
            'quota * exceeded', 'exceeded * quota', 'exceeds * quota', 'exceed * quota',
            'out of quota', 'quotaexceeded', 'quota violation', 'quota full', 'disk quota',
            'over * quota', 'exceeded storage', 'exceeded * storage', 'storage allocation',
            'storage limit', 'storage quota', 'out of storage', 'mailbox size limit',
            'mailbox exceeds', 'mailbox has exceeded', 'mailbox * exceeded', 'not enough storage',
            'insufficient * storage', 'insufficient storage', 'insufficient disk',
            'insufficient quota', 'mailfolder is full', 'maildir * full', 'maildir over',
            'too many messages on this drop', 'account is full', 'account full', 'postfach * voll',
            'speicherplatz', 'boîte * pleine', 'buzón lleno', 'casella piena']],
        [Kind::Blocked, ['blacklist', 'black list', 'black-list', 'blocklist', 'block list',
            'block-list', 'denylist', 'deny list', 'blocked using', 'is blocked', 'been blocked',
            'blocked by', 'blocked for', 'blocked due', 'blocked because', 'blocked:', 'blocked -',
            'blocked ip', 'listed at', 'listed by', 'listed on', 'is listed', 'was listed',
            'in the list of', 'dnsbl', ' rbl', 'rbl ', 'spamhaus', 'spamcop', 'barracuda', 'sorbs',
            'uceprotect', 'surbl', 'uribl', 'abuseat', 'mailspike', 'senderscore', 'reputation',
            'bad host', 'your ip', 'ip address * block', 'ip * banned', 'ip name', 'client ip',
            'invalid ip', 'sending ip', 'client host', 'connecting host', 'host network',
            'your mail server', 'your mailserver', 'reverse dns', 'reverse-dns', 'rdns',
            'ptr record', 'no ptr', 'ptr lookup', 'reverse * record', 'reverse lookup',
            'reverse mapping', 'cannot find your hostname', 'cannot resolve your', 'dynamic ip',
            'dynamic/generic', 'generic * hostname', 'dial-up', 'dialup', 'unusual rate',
            'unusual amount', 'unexpected volume', 'unsolicited mail originating',
            'permanently deferred', 'not accept * from your', 'not accepted from this',
            'messages from * weren\'t sent', 'host is not allowed', 'banned']],
        [Kind::Hard, ['recipient address rejected: access denied',
            'recipient address rejected: user unknown']],
        [Kind::Policy, ['spam', 'unsolicited', 'junk mail', 'virus', 'malware', 'phish', 'infected',
            'dmarc', 'dkim', ' spf', 'spf ', 'domainkeys', 'authenticat', 'sender verif',
            'verify sender', 'sender address', 'sender rejected', 'sender denied', 'invalid sender',
            'bad sender', 'sender domain', 'sender not', 'sender is not', 'sender * not exist',
            'domain of sender', 'from address', 'from: domain', 'unroutable sender',
            'unrouteable sender', 'return path', 'mail from', 'relay access', 'relay denied',
            'relaying', 'to relay', 'no relay', 'open relay', 'relay not', 'not relay', 'rcpthosts',
            'message content', 'content reject', 'content filter', 'content polic',
            'content denied', 'content restrict', 'content * not', 'attachment', 'executable',
            'policy', 'policies', 'prohibited', 'too large', 'too big', 'size limit', 'line limit',
            'exceeds size', 'exceeds the max', 'exceeds max', 'maximum size', 'maximum message',
            'maximum allowed', 'message size', 'size exceeds', 'larger than', 'message length',
            'not permitted', 'may not have permission', 'permission to post', 'not allowed to send',
            'not authorized', 'not authorised', 'unauthorized', 'administratively',
            'only accepts mail from', 'restricted', 'not rfc', 'rfc5322', 'rfc 5322', 'rfc2822',
            'rfc 2822', 'header error', 'invalid header', 'malformed header', 'malformed address',
            'malformed message', 'missing * header', 'multiple * header', 'duplicate * header',
            'bare lf', 'bare newline', 'tls * required', 'must issue a starttls',
            'encryption required', 'suspicious', 'rejected by rule', 'filtered',
            'was rejected by the filter', 'protocol violation', 'invalid helo', 'helo name',
            'helo command rejected', 'for sender', 'sender key',
            'connection from', 'access denied', 'access restricted', 'mail rejected',
            'message rejected', 'mismatch']],
        [Kind::Hard, ['user unknown', 'unknown user', 'no such user', 'no such recipient',
            'no such mailbox', 'no such address', 'no such account', 'no such person',
            'no such local', 'no such domain', 'no such email', 'no such name', 'no mailbox',
            'unknown recipient', 'recipient unknown', 'address unknown', 'unknown local',
            'unknown mailbox', 'unknown or illegal', 'unknown or invalid', 'unknown virtual',
            'unknown account', 'unknown email', 'invalid recipient', 'invalid mailbox',
            'invalid address', 'invalid user', 'invalid final delivery', 'bad address',
            'bad destination', 'bad recipient', 'illegal alias', 'illegal user', 'illegal host',
            'not a valid', 'user doesn\'t', 'user does not', 'not exist', 'doesn\'t exist',
            'not found', 'wasn\'t found', 'couldn\'t be found', 'wasn’t found',
            'couldn’t be found',
            'not known', 'not recognized', 'not recognised', 'not our customer', 'not a known',
            'not listed in', 'no valid recipient', 'no account', 'undeliverable address',
            'mailbox unavailable', 'mailbox not available', 'mailbox is unavailable',
            'mailbox disabled', 'mailbox * disabled', 'mailbox * inactive', 'mailbox inactive',
            'mailbox is frozen', 'mailbox not', 'account disabled', 'account * disabled',
            'account inactive', 'account * inactive', 'account closed', 'account * closed',
            'account * suspended', 'account suspended', 'account expired', 'user * disabled',
            'user * inactive', 'user * suspended', 'is disabled', 'is inactive', 'been disabled',
            'been suspended', 'been deactivated', 'been terminated', 'been deleted', 'discontinued',
            'no longer available', 'no longer active', 'no longer accept', 'no longer valid',
            'no longer exist', 'no longer in use', 'no longer work', 'no longer employed',
            'no longer with', 'has moved', 'deactivated', 'recipient rejected',
            'recipient address rejected: undeliverable', 'unrouteable', 'unroutable',
            'name service error', 'host or domain name not', 'host not found', 'host unknown',
            'unknown host', 'non-existent host', 'nonexistent', 'domain * not found', 'nxdomain',
            'null mx', 'nullmx', 'does not accept mail', 'dns lookup failure', 'no mx',
            'couldn\'t find any host', 'unable to find * host', 'addressee unknown', 'alias * not',
            'existiert nicht', 'unbekannt', 'inexistant', 'inconnu', 'no existe', 'inesistente',
            'sconosciuto']],
        [Kind::Soft, ['timed out', 'timeout', 'time out', 'try again', 'try later', 'temporar',
            'connection refused', 'connection reset', 'connection closed', 'connection failed',
            'lost connection', 'network is unreachable', 'no route to host', 'could not connect',
            'unable to connect', 'couldn\'t connect', 'cannot connect', 'failed to connect',
            'requests to connect', 'smtp connection', 'expired', 'could not deliver for',
            'failed * attempts', 'multiple retries', 'been failing', 'too long', 'retry time',
            'delivery time', 'in the queue', 'in queue', 'not responding', 'unreachable',
            'out of memory', 'disk full', 'no space', 'system error', 'internal error',
            'write error', 'configuration error', 'server error', 'local error', 'software error',
            'loop', 'too many hops', 'hop count', 'resources', 'busy', 'overload',
            'service not available', 'service unavailable']],
    ];

    /** What remains of the codes of RFC 3463 if no phrase says more: by class and subject. */
    private const SUBJECTS = [
        '*.1.*' => Kind::Unknown,
        '*.2.1' => Kind::Hard, // disabled; but Google has it for too much mail at a time, too
        '*.3.*' => Kind::Soft,
        '*.4.*' => Kind::Soft,
        '*.7.*' => Kind::Policy,
        '4.*.*' => Kind::Soft,
    ];

    private const TEXT_MAX = 8192; // octets that are searched
    private const CODE = '(?<![\d.])([245])\.([0-7])\.(\d{1,3})(?![\d.]*\d)';

    /**
     * @param string $text the words of the server that refused the mail, with its codes
     * @param string $status the enhanced code that the reporting server gives; it may have made it
     *     up from a reply without one
     * @param string $about more words about the failure, such as the report's text for people
     */
    public static function kind(string $text, string $status = '', string $about = ''): Kind
    {
        $own = self::code($text);
        $reply = self::reply($text);
        $given = self::code($status);
        $kind = self::byCode(self::CODES, $own) ?? self::byPhrase($text);
        $kind = $kind === Kind::Hard ? self::byPhrase($text, self::LIVE) ?? $kind : $kind;
        $class = $own[0] ?? $reply[0] ?? ($kind === null ? $given[0] ?? '' : '');
        $kind ??= self::byCode(self::CODES, $given)
            ?? self::byPhrase($about)
            ?? self::byCode(self::SUBJECTS, $own ?? $given)
            ?? self::byReply($reply);
        return $class === '4' && $kind === Kind::Hard ? Kind::Soft : $kind;
    }

    /**
     * The enhanced code in a text: that of a reply, or else the first one.
     *
     * @return array{string, string, string}|null
     */
    private static function code(string $text): ?array
    {
        $places = ['/\b[245]\d\d[- ][\'"(]?#?' . self::CODE . '/', '/' . self::CODE . '/'];
        foreach ($places as $pattern) {
            if (preg_match($pattern, $text, $match) === 1) {
                return [$match[1], $match[2], $match[3]];
            }
        }
        return null;
    }

    /** The code of a reply (RFC 5321) in a text; "": none. */
    private static function reply(string $text): string
    {
        $pattern = '/(?<![\d.]|\d:)([45][0-5]\d)(?=[- ,](?![.:\d]*\.\d+\.\d+\.))/';
        return preg_match($pattern, $text, $match) === 1 ? $match[1] : '';
    }

    /**
     * @param array<string, Kind> $table
     * @param array{string, string, string}|null $code
     */
    private static function byCode(array $table, ?array $code): ?Kind
    {
        if ($code === null) {
            return null;
        }
        [$class, $subject, $detail] = $code;
        $detail = (string) (int) $detail;
        return $table["$class.$subject.$detail"] ?? $table["*.$subject.$detail"]
            ?? $table["*.$subject.*"] ?? $table["$class.*.*"] ?? null;
    }

    private static function byPhrase(string $text, ?int $groups = null): ?Kind
    {
        $words = self::words($text);
        foreach (array_slice(self::PHRASES, 0, $groups) as [$kind, $phrases]) {
            foreach ($phrases as $phrase) {
                if (self::has($words, $phrase)) {
                    return $kind;
                }
            }
        }
        return null;
    }

    private static function has(string $words, string $phrase): bool
    {
        $pattern = strtr(preg_quote($phrase, '/'), ['\*' => '.{1,40}?']);
        return str_contains($phrase, '*') ? preg_match("/$pattern/", $words) === 1
            : str_contains($words, $phrase);
    }

    /**
     * The words of a text, without addresses and host names, except those of links: strangers
     * choose these names, so a phrase in them means nothing.
     */
    private static function words(string $text): string
    {
        $address = '/[^\s<>"\'():;,@]{1,64}@[\w.-]+/';
        $host = '~(?<!//)\b[\w-]{1,63}(?:\.[\w-]{1,63}){2,20}\b~';
        $names = [$address => ' ', $host => ' ', '~(//[^/\s]*)\S*~' => '$1'];
        $text = substr($text, 0, self::TEXT_MAX);
        $text = (string) preg_replace(array_keys($names), array_values($names), $text);
        return strtolower((string) preg_replace('/[\s"]+/', ' ', $text));
    }

    private static function byReply(string $reply): Kind
    {
        return match (true) {
            $reply === '552' => Kind::Quota,
            ($reply[0] ?? '') === '4' => Kind::Soft,
            default => Kind::Unknown,
        };
    }
}
