<?php

declare(strict_types=1);

namespace MailQueue\Cli\Oauth;

/** What is known of the providers of mail: their endpoints and the scopes for SMTP. */
final class Provider
{
    /** TENANT is replaced. "redirect": the host of the loopback address that the provider takes. */
    private const ALL = [
        'microsoft' => [
            'token_endpoint' => 'https://login.microsoftonline.com/TENANT/oauth2/v2.0/token',
            'authorization_endpoint'
                => 'https://login.microsoftonline.com/TENANT/oauth2/v2.0/authorize',
            'device_endpoint' => 'https://login.microsoftonline.com/TENANT/oauth2/v2.0/devicecode',
            'scope' => 'https://outlook.office.com/SMTP.Send offline_access',
            'client_auth' => 'post',
            'redirect' => 'localhost',
        ],
        // Its device grant does not take the scope for mail.
        'google' => [
            'token_endpoint' => 'https://oauth2.googleapis.com/token',
            'authorization_endpoint' => 'https://accounts.google.com/o/oauth2/v2/auth'
                . '?access_type=offline&prompt=consent',
            'revocation_endpoint' => 'https://oauth2.googleapis.com/revoke',
            'scope' => 'https://mail.google.com/',
            'client_auth' => 'post',
            'redirect' => '127.0.0.1',
        ],
        'generic' => ['client_auth' => 'basic', 'redirect' => '127.0.0.1'],
    ];
    /** For an application's own permissions there is one scope: all that it was granted. */
    private const CLIENT_SCOPE = ['microsoft' => 'https://outlook.office365.com/.default'];

    /** @return list<string> */
    public static function names(): array
    {
        return array_keys(self::ALL);
    }

    /**
     * The members of an account that the provider decides.
     *
     * @return array<string, string>
     */
    public static function members(string $name, string $tenant, bool $isClient): array
    {
        $members = str_replace('TENANT', rawurlencode($tenant), self::ALL[$name]);
        $scope = $isClient ? self::CLIENT_SCOPE[$name] ?? null : null;
        return ($scope === null ? [] : ['scope' => $scope]) + $members;
    }
}
