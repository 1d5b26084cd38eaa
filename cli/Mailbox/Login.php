<?php

declare(strict_types=1);

namespace MailQueue\Cli\Mailbox;

use MailQueue;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Failure;
use MailQueue\Cli\Oauth\Account;
use MailQueue\Cli\Stop;
use MailQueue\Internal;

/** Who logs in to a mailbox, by a password or with an access token (SASL). */
final class Login
{
    private const TOKENS = ['OAUTHBEARER', 'XOAUTH2'];

    /** @throws Stop */
    public function __construct(
        private readonly Address $at,
        #[\SensitiveParameter] public readonly ?string $password,
        private readonly ?Account $account,
    ) {
        $why = $account?->asked();
        $why === null || throw new Stop(ucfirst($why) . '.', ExitCode::UNAVAILABLE);
    }

    /**
     * The mechanism that is spoken; null: the protocol's own login with a password.
     *
     * @param list<string> $offered
     * @throws Stop
     */
    public function mechanism(array $offered): ?string
    {
        $spoken = $this->account === null ? ['PLAIN'] : self::TOKENS;
        $one = current(array_intersect($spoken, array_map(strtoupper(...), $offered)));
        if ($one === false && $this->account !== null) {
            throw new Stop("{$this->at->shown} takes no access tokens; it offers "
                . (implode(' ', $offered) ?: 'no login') . '.', ExitCode::UNAVAILABLE);
        }
        return $one ?: null;
    }

    /** What is sent first, in base64. */
    public function first(string $mechanism): string
    {
        $user = $this->at->user;
        $token = (string) ($this->account?->members()['access_token'] ?? '');
        $name = strtr($user, ['=' => '=3D', ',' => '=2C']);
        return base64_encode(match ($mechanism) {
            'PLAIN' => "\0$user\0$this->password",
            'XOAUTH2' => "user=$user\1auth=Bearer $token\1\1",
            default => "n,a=$name,\1host={$this->at->host}\1port={$this->at->port}\1"
                . "auth=Bearer $token\1\1",
        });
    }

    /** The answer to a challenge that says why a token is refused. */
    public static function last(string $mechanism): string
    {
        return $mechanism === 'OAUTHBEARER' ? base64_encode("\1") : '';
    }

    /**
     * Gets another token, since the server refused this one; false: there is none to be had.
     *
     * @throws Stop
     */
    public function renew(): bool
    {
        if ($this->account === null) {
            return false;
        }
        try {
            Internal::oauthToken($this->account->name, $this->account->members()['access_token']);
            return true;
        } catch (\ValueError | MailQueue\Exception $e) {
            throw new Stop(ucfirst(Failure::text($e)) . '.', ExitCode::UNAVAILABLE);
        }
    }
}
