<?php

declare(strict_types=1);

namespace MailQueue\Cli\Mailbox;

use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** A connection to a server that speaks in lines, with TLS. */
final class Wire
{
    private const TIMEOUT_S = 60;
    /** The list of a large mailbox is one line. */
    private const LINE_MAX = 16_777_216;
    private const CHUNK = 8192;
    private const TLS = STREAM_CRYPTO_METHOD_TLSv1_2_CLIENT | STREAM_CRYPTO_METHOD_TLSv1_3_CLIENT;

    /** @var resource */
    private $stream;
    private string $buffer = '';

    /** @throws Stop */
    public function __construct(private readonly Address $at)
    {
        if (!extension_loaded('openssl') && ($at->isImplicit || $at->wantsStartTls)) {
            throw Stop::config("$at->shown needs TLS: install or enable PHP's extension openssl.");
        }
        $context = stream_context_create(['ssl' => array_filter([
            'peer_name' => trim($at->host, '[]'),
            'verify_peer' => $at->isVerified,
            'verify_peer_name' => $at->isVerified,
            'allow_self_signed' => !$at->isVerified,
            'crypto_method' => self::TLS,
            'cafile' => $at->cafile,
        ], static fn (mixed $one): bool => $one !== null)]);
        $url = ($at->isImplicit ? 'tls' : 'tcp') . "://$at->host:$at->port";
        $this->stream = $this->attempt('cannot be reached', static fn () => stream_socket_client(
            $url,
            $number,
            $text,
            self::TIMEOUT_S,
            STREAM_CLIENT_CONNECT,
            $context
        ));
        stream_set_timeout($this->stream, self::TIMEOUT_S);
    }

    /** @throws Stop */
    public function startTls(): void
    {
        // What came before TLS could be anybody's, and must not be read as the server's word.
        if ($this->buffer !== '' || stream_get_meta_data($this->stream)['unread_bytes'] > 0) {
            throw $this->trouble('speaks out of turn before TLS');
        }
        $this->attempt('fails at TLS', fn () => stream_socket_enable_crypto(
            $this->stream,
            true,
            self::TLS
        ));
    }

    /**
     * @template T
     * @param \Closure(): (T|false|int) $try
     * @return T
     */
    private function attempt(string $what, \Closure $try): mixed
    {
        $said = [];
        set_error_handler(static function (int $level, string $text) use (&$said): bool {
            $said[] = self::words($text);
            return true;
        });
        try {
            $result = $try();
        } finally {
            restore_error_handler();
        }
        return is_resource($result) || $result === true ? $result
            : throw $this->trouble("$what: " . ($said[0] ?? 'it does not answer'));
    }

    /** What PHP says of a connection, without the names of its functions and of OpenSSL's. */
    private static function words(string $text): string
    {
        $text = trim((string) preg_replace('/\A\w+\(\): |\s+/', ' ', $text));
        return preg_match('/\ASSL operation failed.*::(.+)\z/', $text, $match)
            || preg_match('/\AUnable to connect to \S+ \((.+)\)\z/', $text, $match)
            ? $match[1] : $text;
    }

    public function say(#[\SensitiveParameter] string $line): void
    {
        $data = "$line\r\n";
        for ($at = 0; $at < strlen($data); $at += $sent) {
            $sent = @fwrite($this->stream, substr($data, $at));
            $sent ?: throw $this->trouble('closed the connection');
        }
    }

    /**
     * Sends a command that a server has no reason to refuse.
     *
     * @template T
     * @param \Closure(string): T $exchange throws Refused
     * @return T what it returns
     * @throws Stop
     */
    public function ask(\Closure $exchange, string $command): mixed
    {
        try {
            return $exchange($command);
        } catch (Refused $e) {
            throw new Stop("{$this->at->shown} refuses " . strtok($command, ' ')
                . ": {$e->getMessage()}.", ExitCode::UNAVAILABLE);
        }
    }

    /** The next line, without its end. */
    public function line(): string
    {
        $from = 0;
        while (($end = strpos($this->buffer, "\n", $from)) === false) {
            $from = strlen($this->buffer);
            $from <= self::LINE_MAX || throw $this->trouble('sends a line without an end');
            $this->more();
        }
        $line = substr($this->buffer, 0, $end);
        $this->buffer = substr($this->buffer, $end + 1);
        return str_ends_with($line, "\r") ? substr($line, 0, -1) : $line;
    }

    public function octets(int $count): string
    {
        while (strlen($this->buffer) < $count) {
            $this->more();
        }
        $octets = substr($this->buffer, 0, $count);
        $this->buffer = substr($this->buffer, $count);
        return $octets;
    }

    private function more(): void
    {
        $data = @fread($this->stream, self::CHUNK);
        if ($data === false || $data === '') {
            throw $this->trouble(stream_get_meta_data($this->stream)['timed_out']
                ? 'says nothing for ' . self::TIMEOUT_S . ' s' : 'closed the connection');
        }
        $this->buffer .= $data;
    }

    public function close(): void
    {
        @fclose($this->stream);
    }

    /** An error with the server's name; another try can succeed. */
    public function trouble(string $what): Stop
    {
        $what = rtrim(Terminal::safe($what), '.');
        return new Stop("{$this->at->shown} $what.", ExitCode::TEMPFAIL);
    }
}
