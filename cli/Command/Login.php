<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\Arguments;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Nearest;
use MailQueue\Cli\Oauth\Account;
use MailQueue\Cli\Oauth\CodeLogin;
use MailQueue\Cli\Oauth\DeviceLogin;
use MailQueue\Cli\Oauth\Provider;
use MailQueue\Cli\Oauth\Server;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;

/** login, logout and accounts: OAuth2 accounts, with whose tokens the worker logs in. */
final class Login extends Command
{
    /** Options that become members of the account. */
    private const MEMBERS = ['client-id', 'scope', 'token-endpoint', 'authorization-endpoint',
        'device-endpoint', 'revocation-endpoint', 'client-auth', 'certificate', 'cafile', 'proxy',
        'tenant'];
    /** The members that only the login uses, or that an old login left. */
    private const NOT_KEPT = ['redirect', 'access_token', 'refresh_token', 'expires_at',
        'refresh_at', 'login_ends_at', 'login_look_at', 'grant'];
    private const TENANT = 'organizations';

    public function login(): int
    {
        $provider = $this->args->words[0] ?? '';
        if (!in_array($provider, Provider::names(), true)) {
            throw Stop::usage('login needs a provider: ' . implode(', ', Provider::names()) . '.'
                . Nearest::hint($provider, Provider::names()));
        }
        $account = new Account($this->args->text('account')
            ?? throw Stop::usage('login needs a name for the account: --account NAME.'));
        $isClient = $this->args->has('client-credentials');
        $members = $this->members($provider, $account, $isClient);
        $isClient ? self::checkClient($members) : $members += $this->asPerson($members);
        self::store($account, array_diff_key($members, ['redirect' => '']));
        $use = self::transport($account, $members);
        return $this->result(self::about($account), static function () use ($account, $use): void {
            echo "Account $account->name is ready, in $account->path. Use it so:\n    $use\n";
        });
    }

    /** @param array<string, string> $members */
    private static function transport(Account $account, array $members): string
    {
        $host = ['microsoft' => 'smtp.office365.com', 'google' => 'smtp.gmail.com'];
        $user = $members['grant'] === 'client_credentials' ? 'USER@' : '';
        return str_contains($members['scope'], 'graph.microsoft.com')
            ? "microsoftgraph+https://{$user}default?account=$account->name"
            : 'smtp://USER@' . ($host[$members['provider']] ?? 'HOST')
                . ":587?auth=oauth2&account=$account->name";
    }

    /**
     * What decides how tokens are got: options, the account as it was, the provider.
     *
     * @return array<string, string>
     */
    private function members(string $provider, Account $account, bool $isClient): array
    {
        $given = [];
        foreach (self::MEMBERS as $option) {
            $value = $this->args->text($option);
            $value === null || $given[str_replace('-', '_', $option)] = $value;
        }
        $old = $account->members();
        $isSame = ($old['provider'] ?? null) === $provider
            && ($old['grant'] ?? '') === ($isClient ? 'client_credentials' : 'refresh_token');
        $old = $isSame ? array_diff_key($old, array_flip(self::NOT_KEPT)) : [];
        $tenant = $given['tenant'] ?? $old['tenant'] ?? self::TENANT;
        $members = $given + (isset($given['tenant']) ? [] : $old)
            + Provider::members($provider, $tenant, $isClient);
        foreach (['client_id', 'scope', 'token_endpoint'] as $name) {
            isset($members[$name]) || throw Stop::usage("login $provider needs --"
                . str_replace('_', '-', $name) . '.');
        }
        if (!in_array($members['client_auth'], ['basic', 'post'], true)) {
            throw Stop::usage('--client-auth must be basic or post.');
        }
        $members = $this->credentials($members, $given, $old);
        isset($members['certificate'])
            && $members['certificate'] = realpath($members['certificate'])
            ?: throw Stop::usage("There is no file {$members['certificate']}.");
        return ['provider' => $provider,
            'grant' => $isClient ? 'client_credentials' : 'refresh_token'] + $members;
    }

    /**
     * The members with what shows who the client is: a new secret takes the place of an old
     * certificate, and a new certificate that of an old secret.
     *
     * @param array<string, string> $members
     * @param array<string, string> $given
     * @param array<string, string> $old
     * @return array<string, string>
     */
    private function credentials(array $members, array $given, array $old): array
    {
        $secret = $this->secret();
        $members += array_intersect_key($old, ['client_secret' => '']);
        if (isset($given['certificate'])) {
            $secret === null
                || throw Stop::usage('Give a client secret or --certificate, not both.');
            unset($members['client_secret']);
        }
        if ($secret !== null) {
            unset($members['certificate']);
            $members['client_secret'] = $secret;
        }
        return $members;
    }

    private function secret(): ?string
    {
        $secret = Arguments::environment('MAILQUEUE_CLIENT_SECRET');
        if ($secret === null && $this->args->has('secret')) {
            $secret = Terminal::secret('Client secret: ');
            $secret !== '' || throw Stop::usage('The client secret is empty.');
        }
        return $secret;
    }

    /**
     * @param array<string, string> $members
     * @return array<string, string>
     */
    private function asPerson(array $members): array
    {
        if (isset($members['certificate'])) {
            throw Stop::usage('--certificate is for --client-credentials.');
        }
        $server = new Server($members);
        $port = $this->args->int('port', 0, 0, 65_535);
        if (isset($members['device_endpoint']) && !$this->args->has('browser')) {
            return DeviceLogin::run($server, $members);
        }
        isset($members['authorization_endpoint']) || throw Stop::usage(
            'login needs --device-endpoint or --authorization-endpoint.'
        );
        return CodeLogin::run($server, $members, (int) $port);
    }

    /** @param array<string, string> $members */
    private static function checkClient(array $members): void
    {
        isset($members['client_secret']) || isset($members['certificate']) || throw Stop::usage(
            '--client-credentials needs a secret or a certificate: MAILQUEUE_CLIENT_SECRET, '
            . '--secret (asks for it) or --certificate FILE.'
        );
        if ($members['provider'] === 'google') {
            throw Stop::usage('Google has no client credentials for mail: log in as the user of '
                . 'the mailbox.');
        }
    }

    /**
     * Stores the account and lets the worker's code ask for its first token. If none comes, the
     * account is as before.
     *
     * @param array<string, string> $members
     */
    private static function store(Account $account, array $members): void
    {
        $before = $account->write($members);
        $failure = $account->asked();
        if ($failure !== null) {
            $before === null ? $account->remove() : $account->write($before);
            throw new Stop($failure, ExitCode::UNAVAILABLE);
        }
    }

    public function logout(): int
    {
        $account = new Account($this->args->words[0]
            ?? throw Stop::usage('logout needs the name of an account.'));
        $hint = Nearest::hint($account->name, array_column(Account::all(), 'name'));
        $account->exists()
            || throw new Stop("There is no account $account->name.$hint", ExitCode::FINDINGS);
        $this->agree("Forget account $account->name");
        $isRevoked = self::revoke($account->remove());
        return $this->result(
            ['account' => $account->name, 'revoked' => $isRevoked],
            static fn () => print("Account $account->name is gone from this machine. "
                . ($isRevoked ? 'The provider has revoked its tokens.' : 'Its tokens may still be '
                . 'valid: revoke them at the provider.') . "\n")
        );
    }

    /** @param array<string, string> $members */
    private static function revoke(array $members): bool
    {
        $token = $members['refresh_token'] ?? $members['access_token'] ?? null;
        if (!isset($members['revocation_endpoint'], $members['client_id']) || $token === null) {
            return false;
        }
        try {
            $reply = (new Server($members + ['client_auth' => 'post']))
                ->ask($members['revocation_endpoint'], ['token' => $token]);
            return $reply['code'] === 200;
        } catch (\ValueError) {
            return false;
        }
    }

    public function accounts(): int
    {
        $all = array_map(self::about(...), Account::all());
        return $this->result($all, static function () use ($all): void {
            $rows = [['NAME', 'PROVIDER', 'SCOPE', 'TOKEN UNTIL', 'LOGIN UNTIL']];
            $notes = [];
            foreach ($all as $one) {
                $note = $one['fault'] ?? $one['ending'];
                $note === null || $notes[count($rows)] = Terminal::safe($note);
                $rows[] = array_map(Terminal::safe(...), [$one['name'], $one['provider'],
                    $one['scope'], Terminal::time($one['validUntil']),
                    Terminal::time($one['loginUntil'])]);
            }
            $all ? Terminal::table($rows, $notes)
                : print('No accounts in ' . Internal::accounts() . ".\n");
        });
    }

    /**
     * @return array{name: string, provider: string, scope: string, validUntil: ?int,
     *         loginUntil: ?int, ending: ?string, fault: ?string}
     */
    private static function about(Account $account): array
    {
        $members = $account->members();
        return ['name' => $account->name, 'provider' => $members['provider'] ?? '?',
            'scope' => $members['scope'] ?? '?', 'validUntil' => $account->validUntil(),
            'loginUntil' => $account->at('login_ends_at'), 'ending' => $account->notice(),
            'fault' => $account->fault()];
    }
}
