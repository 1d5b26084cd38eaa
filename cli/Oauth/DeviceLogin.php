<?php

declare(strict_types=1);

namespace MailQueue\Cli\Oauth;

use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** Logs in with a code that a person types in any browser (RFC 8628). */
final class DeviceLogin
{
    private const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
    private const INTERVAL_S = 5;
    private const SLOWER_S = 5;
    private const INTERVAL_MAX_S = 120;
    private const LIFE_S = 900;

    /**
     * @param array<string, string> $members of the account
     * @return array<string, string> what the login adds
     */
    public static function run(Server $server, array $members): array
    {
        $reply = $server->ask($members['device_endpoint'], ['scope' => $members['scope']]);
        $asked = $reply['answer'];
        $uri = $asked['verification_uri'] ?? $asked['verification_url'] ?? null;
        $device = $asked['device_code'] ?? null;
        $code = $asked['user_code'] ?? null;
        if ($reply['code'] !== 200 || !is_string($uri) || !is_string($device)
            || !is_string($code)) {
            throw $server->refusal('No code for a login came', $reply);
        }
        Terminal::error('Open ' . Terminal::safe($uri) . ' in a browser, and enter the code '
            . Terminal::safe($code) . '. This waits for it; Ctrl+C ends it.');
        $until = time() + self::number($asked, 'expires_in', self::LIFE_S);
        $interval = self::number($asked, 'interval', self::INTERVAL_S);
        while (time() < $until) {
            sleep(min($interval, self::INTERVAL_MAX_S));
            $reply = $server->ask(
                $members['token_endpoint'],
                ['grant_type' => self::GRANT, 'device_code' => $device]
            );
            $error = $reply['answer']['error'] ?? null;
            if ($reply['code'] === 0 || $reply['code'] >= 500) {
                $interval *= 2; // RFC 8628, 3.5
            } elseif ($error === 'slow_down') {
                $interval += self::SLOWER_S;
            } elseif ($error !== 'authorization_pending') {
                return $error === 'access_denied' ? throw self::denied() : $server->tokens($reply);
            }
        }
        throw new Stop(
            'The code was not entered in time. Run the command again.',
            ExitCode::TEMPFAIL
        );
    }

    public static function denied(): Stop
    {
        return new Stop('The login was denied; nothing was changed.', ExitCode::NOPERM);
    }

    /** @param array<string, mixed> $asked */
    private static function number(array $asked, string $name, int $default): int
    {
        $value = $asked[$name] ?? null;
        return is_numeric($value) && (int) $value > 0 ? min((int) $value, 86_400) : $default;
    }
}
