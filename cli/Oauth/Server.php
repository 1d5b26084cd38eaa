<?php

declare(strict_types=1);

namespace MailQueue\Cli\Oauth;

use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;

/** Asks a provider's OAuth2 server as one client, and reads its answers. */
final class Server
{
    private const TEXT_MAX = 200;
    /** Fields that a server must not make us repeat. */
    private const SECRETS = ['client_secret', 'device_code', 'code', 'code_verifier', 'token'];

    /** @var list<string> */
    private array $secrets = [];

    /** @param array<string, string> $members of an account */
    public function __construct(private readonly array $members)
    {
    }

    /**
     * Posts fields as this client.
     *
     * @param array<string, string> $fields
     * @return array{code: int, answer: array<string, mixed>, failure: string} code 0: no complete
     *         answer came, and failure says why
     */
    public function ask(string $endpoint, array $fields): array
    {
        $secret = $this->members['client_secret'] ?? null;
        $isBasic = $secret !== null && $this->members['client_auth'] === 'basic';
        $fields += $isBasic ? [] : array_filter(['client_id' => $this->members['client_id'],
            'client_secret' => $secret], is_string(...));
        array_push(
            $this->secrets,
            (string) $secret,
            ...array_values(array_intersect_key($fields, array_flip(self::SECRETS)))
        );
        $reply = Internal::oauthRequest(
            $endpoint,
            http_build_query($fields, '', '&', PHP_QUERY_RFC3986),
            $isBasic ? $this->members['client_id'] : null,
            $isBasic ? $secret : null,
            $this->members['cafile'] ?? null,
            $this->members['proxy'] ?? null
        );
        $answer = json_decode($reply['body'], true);
        return ['code' => $reply['code'], 'answer' => is_array($answer) ? $answer : [],
            'failure' => $reply['failure']];
    }

    /**
     * The members that a token answer adds to the account. Its access token is not kept: the
     * worker's code asks for one at once, and so shows that the refresh token is good.
     *
     * @param array{code: int, answer: array<string, mixed>, failure: string} $reply
     * @return array{refresh_token: string}
     */
    public function tokens(array $reply): array
    {
        $refresh = $reply['answer']['refresh_token'] ?? null;
        if ($reply['code'] !== 200) {
            throw $this->refusal('No token came', $reply);
        }
        return is_string($refresh) ? ['refresh_token' => $refresh] : throw new Stop(
            'The server gave no refresh token, without which the login ends within the hour. Ask '
            . 'for one by the scope (often offline_access): --scope.',
            ExitCode::UNAVAILABLE
        );
    }

    /** @param array{code: int, answer: array<string, mixed>, failure: string} $reply */
    public function refusal(string $what, array $reply): Stop
    {
        $error = $reply['answer']['error'] ?? null;
        $text = $reply['answer']['error_description'] ?? null;
        $why = match (true) {
            $reply['code'] === 0 => $reply['failure'],
            is_string($error) => $error . (is_string($text) ? ": $text" : ''),
            default => "the server answers HTTP $reply[code]",
        };
        $why = substr(str_replace(array_filter($this->secrets), '***', $why), 0, self::TEXT_MAX);
        return new Stop("$what: " . Terminal::safe(rtrim($why, '.')) . '.', ExitCode::UNAVAILABLE);
    }
}
