<?php

declare(strict_types=1);

namespace MailQueue\Cli\Oauth;

use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/**
 * Logs in by a browser on this machine: the server sends it back to a loopback address, where we
 * listen, with a code (RFC 6749, 4.1; RFC 7636; RFC 8252).
 */
final class CodeLogin
{
    private const LIFE_S = 600;
    private const REQUEST_MAX = 8192;
    private const REQUEST_S = 5;

    /**
     * @param array<string, string> $members of the account
     * @param int $port where we listen; 0: any
     * @return array<string, string> what the login adds
     */
    public static function run(Server $server, array $members, int $port): array
    {
        $socket = @stream_socket_server("tcp://127.0.0.1:$port", $number, $why);
        if ($socket === false) {
            throw new Stop("127.0.0.1:$port cannot be listened on: $why.", ExitCode::UNAVAILABLE);
        }
        $address = (string) stream_socket_get_name($socket, false);
        $port = (int) substr((string) strrchr($address, ':'), 1);
        $redirect = "http://{$members['redirect']}:$port/";
        $verifier = self::random();
        $state = self::random();
        $uri = self::uri($members, ['redirect_uri' => $redirect, 'state' => $state,
            'code_challenge' => self::base64url(hash('sha256', $verifier, true))]);
        Terminal::error("Open this address in a browser on this machine:\n\n    $uri\n\n"
            . 'This waits for the browser to come back; Ctrl+C ends it. If the browser runs '
            . "elsewhere, let it reach this port: ssh -L $port:127.0.0.1:$port HOST (--port sets "
            . "it).");
        $code = self::await($socket, $state);
        return $server->tokens($server->ask($members['token_endpoint'], [
            'grant_type' => 'authorization_code', 'code' => $code, 'redirect_uri' => $redirect,
            'code_verifier' => $verifier]));
    }

    /**
     * @param array<string, string> $members
     * @param array<string, string> $more
     */
    private static function uri(array $members, array $more): string
    {
        $endpoint = $members['authorization_endpoint'];
        return $endpoint . (str_contains($endpoint, '?') ? '&' : '?') . http_build_query(
            ['response_type' => 'code', 'client_id' => $members['client_id'],
                'scope' => $members['scope'], 'code_challenge_method' => 'S256'] + $more,
            '',
            '&',
            PHP_QUERY_RFC3986
        );
    }

    private static function random(): string
    {
        return self::base64url(random_bytes(32));
    }

    private static function base64url(string $bytes): string
    {
        return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    }

    /**
     * Waits for the browser. Other programs of this machine can connect, too: without our state
     * they change nothing.
     *
     * @param resource $socket
     */
    private static function await($socket, string $state): string
    {
        $until = time() + self::LIFE_S;
        while (($left = $until - time()) > 0) {
            $browser = @stream_socket_accept($socket, $left);
            if ($browser === false) {
                continue;
            }
            parse_str((string) parse_url(self::target($browser), PHP_URL_QUERY), $query);
            $said = $query['state'] ?? null;
            if (!is_string($said) || !hash_equals($state, $said)) {
                self::say($browser, '404 Not Found', 'This is not the answer to this login.');
                continue;
            }
            $code = $query['code'] ?? null;
            self::say($browser, '200 OK', (is_string($code) ? 'The login is done.'
                : 'The login was not allowed.') . ' Go back to the terminal.');
            return is_string($code) && $code !== '' ? $code : throw self::refused($query);
        }
        throw new Stop(
            'The browser did not come back in time. Run the command again.',
            ExitCode::TEMPFAIL
        );
    }

    /** @param array<int|string, mixed> $query */
    private static function refused(array $query): Stop
    {
        $error = is_string($query['error'] ?? null) ? $query['error'] : 'no code';
        return $error === 'access_denied' ? DeviceLogin::denied()
            : new Stop('The server refused the login: ' . Terminal::safe(substr($error, 0, 100))
                . '.', ExitCode::UNAVAILABLE);
    }

    /**
     * The target of the request's first line; the rest is read, too, or closing would cut off the
     * answer.
     *
     * @param resource $browser
     */
    private static function target($browser): string
    {
        stream_set_timeout($browser, self::REQUEST_S);
        $first = (string) fgets($browser, self::REQUEST_MAX);
        for ($read = 0; $read < self::REQUEST_MAX; $read += strlen($line)) {
            $line = (string) fgets($browser, self::REQUEST_MAX);
            if (rtrim($line, "\r\n") === '') {
                break;
            }
        }
        return preg_match('~\AGET (/\S*) HTTP/1~', $first, $match) ? $match[1] : '/';
    }

    /** @param resource $browser */
    private static function say($browser, string $status, string $text): void
    {
        @fwrite($browser, "HTTP/1.1 $status\r\nContent-Type: text/plain; charset=utf-8\r\n"
            . "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n"
            . 'Content-Length: ' . strlen($text) . "\r\n\r\n$text");
        fclose($browser);
    }
}
