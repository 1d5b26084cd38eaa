<?php

declare(strict_types=1);

namespace MailQueue\Cli\Mailbox;

use MailQueue\Cli\Nearest;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** The URL of a mailbox: imaps://user@host/FOLDER?tls=required. */
final class Address
{
    private const URL = '~\A(imaps?|pop3s?)://(?:([^:@/?#]*)(:[^@/?#]*)?@)?'
        . '(\[[0-9a-f:.]+\]|[^:/?#\[\]@\s]+)(?::(\d{1,5}))?(?:/([^?#]*))?(?:\?([^#]*))?\z~i';
    private const PORTS = ['imap' => 143, 'imaps' => 993, 'pop3' => 110, 'pop3s' => 995];
    private const OPTIONS = ['tls', 'cafile', 'verify_peer'];

    /** "imaps://host:port", for people. */
    public readonly string $shown;
    public readonly bool $isImap;
    /** Whether TLS comes before the protocol, or by its command. */
    public readonly bool $isImplicit;
    public readonly bool $wantsStartTls;

    private function __construct(
        string $scheme,
        public readonly string $user,
        public readonly ?string $password,
        public readonly string $host,
        public readonly int $port,
        public readonly string $folder,
        string $tls,
        public readonly ?string $cafile,
        public readonly bool $isVerified,
    ) {
        $this->shown = "$scheme://$host:$port";
        $this->isImap = str_starts_with($scheme, 'imap');
        $this->isImplicit = str_ends_with($scheme, 's');
        $isLoopback = preg_match('/\A(localhost|127\.[\d.]+|\[::1\])\z/i', $host) === 1;
        $this->wantsStartTls = !$this->isImplicit
            && ($tls === 'required' || ($tls === 'auto' && !$isLoopback));
    }

    /** @throws Stop */
    public static function of(#[\SensitiveParameter] string $url): self
    {
        if (preg_match(self::URL, trim($url), $match, PREG_UNMATCHED_AS_NULL) !== 1) {
            throw Stop::usage('The mailbox must be imaps://user@host/FOLDER, imap://, pop3s:// or '
                . 'pop3://; percent-encode : / @ ? # in it.');
        }
        [, $scheme, $user, $password, $host, $port, $folder, $query] = $match;
        $scheme = strtolower($scheme);
        $options = self::options($query ?? '');
        if (($user ?? '') === '') {
            throw Stop::usage('The mailbox names no user: imaps://user@host; write an "@" in the '
                . 'name as %40.');
        }
        if (preg_match('/[\x00-\x1f\x7f]/', rawurldecode("$user$password$folder")) === 1
            || preg_match('//u', rawurldecode((string) $folder)) !== 1) {
            throw Stop::usage('User, password and folder of the mailbox must be UTF-8 without '
                . 'control characters.');
        }
        if (($folder ?? '') !== '' && str_starts_with($scheme, 'pop3')) {
            throw Stop::usage('POP3 has no folders: leave out the path of the URL.');
        }
        return new self(
            $scheme,
            rawurldecode((string) $user),
            $password === null ? null : rawurldecode(substr($password, 1)),
            strtolower($host),
            (int) $port ?: self::PORTS[$scheme],
            rawurldecode($folder ?? '') ?: 'INBOX',
            $options['tls'] ?? 'auto',
            $options['cafile'] ?? null,
            !in_array($options['verify_peer'] ?? '1', ['0', 'false', 'no', 'off'], true)
        );
    }

    /** @return array<string, string> */
    private static function options(string $query): array
    {
        $options = [];
        foreach ($query === '' ? [] : explode('&', $query) as $pair) {
            [$name, $value] = explode('=', $pair, 2) + ['', ''];
            in_array($name, self::OPTIONS, true) || throw Stop::usage('A mailbox has no option "'
                . Terminal::safe($name) . '"; it has ' . implode(', ', self::OPTIONS) . '.'
                . Nearest::hint($name, self::OPTIONS));
            $options[$name] = rawurldecode($value);
        }
        if (!in_array($options['tls'] ?? 'auto', ['auto', 'required', 'none'], true)) {
            throw Stop::usage('tls must be auto, required or none.');
        }
        return $options;
    }
}
