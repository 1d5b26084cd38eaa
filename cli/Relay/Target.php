<?php

declare(strict_types=1);

namespace MailQueue\Cli\Relay;

/** The relay of SMTP or LMTP that a transport names, as far as people need to know it. */
final class Target
{
    private const DSN = '~\A(smtps?|lmtp|smtp\+lmtp)://(?:([^@/?#:]*)(?::[^@/?#]*)?@)?'
        . '(\[[^\]]*\]|[^:/?#]*)(?::(\d+))?([^?]*)(?:\?(.*))?\z~is';

    /** "smtp://host:port" or "smtp:///socket", without the user. */
    public readonly string $shown;
    /** The OAuth2 account with whose token the worker logs in; null: none. */
    public readonly ?string $account;
    /** Whether it speaks LMTP, which has neither TLS nor login. */
    public readonly bool $isLmtp;

    private function __construct(
        public readonly string $dsn,
        private readonly string $scheme,
        public readonly string $host,
        public readonly int $port,
        public readonly ?string $user,
        private readonly string $socket,
        private readonly string $options,
    ) {
        $this->shown = $socket === '' ? "$scheme://$host:$port" : "$scheme://$socket";
        $this->account = self::accountOf("?$options");
        $this->isLmtp = str_ends_with($scheme, 'lmtp');
    }

    /** The OAuth2 account that a relay's DSN names, also that of a mail API; null: none. */
    public static function accountOf(string $dsn): ?string
    {
        return preg_match('/[?&]account=([^&]+)/', $dsn, $match) ? rawurldecode($match[1]) : null;
    }

    /** Null: the transport is neither SMTP nor LMTP, or cannot be read. */
    public static function of(string|\Closure|null $transport): ?self
    {
        if (!is_string($transport) || !preg_match(self::DSN, trim($transport), $match)) {
            return null;
        }
        [, $scheme, $user, $host, $port, $path, $options] = $match + ['', '', '', '', '', '', ''];
        $scheme = strtolower($scheme);
        return new self(
            $transport,
            $scheme,
            $host,
            (int) $port ?: ['smtp' => 25, 'smtps' => 465][$scheme] ?? 24,
            $user === '' ? null : rawurldecode($user),
            $host === '' ? $path : '',
            $options
        );
    }

    /** Whether TLS comes before SMTP. */
    public function isImplicit(): bool
    {
        return $this->scheme === 'smtps';
    }

    public function isLoopback(): bool
    {
        return $this->isSocket()
            || preg_match('/\A(localhost|127\.[\d.]+|\[::1\])\z/i', $this->host) === 1;
    }

    public function isSocket(): bool
    {
        return $this->socket !== '';
    }

    /** The address of this host from which it sends to the relay; null: not known. */
    public function sourceAddress(): ?string
    {
        parse_str($this->options, $options);
        if (is_string($options['source_ip'] ?? null)) {
            return $options['source_ip'];
        }
        // Connecting UDP sends nothing, but tells which address the system would take.
        $socket = @stream_socket_client("udp://$this->host:$this->port");
        $name = $socket === false ? false : stream_socket_get_name($socket, false);
        return $name === false ? null : trim((string) preg_replace('/:\d+\z/', '', $name), '[]');
    }

    /** Whether any certificate is accepted. */
    public function isUnchecked(): bool
    {
        return preg_match('/(?:\A|&)verify_peer=(0|false|no|off)(?:&|\z)/', $this->options) === 1;
    }

    /** The same relay, for a look at a certificate that is not accepted: no login goes there. */
    public function unverified(): string
    {
        parse_str($this->options, $options);
        unset($options['auth'], $options['account']);
        $options = ['verify_peer' => '0'] + $options;
        return "$this->shown?" . http_build_query($options, '', '&', PHP_QUERY_RFC3986);
    }
}
