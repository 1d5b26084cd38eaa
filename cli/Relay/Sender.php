<?php

declare(strict_types=1);

namespace MailQueue\Cli\Relay;

use MailQueue\Cli\Arguments;
use MailQueue\Cli\Sendmail\Host;
use MailQueue\Cli\Settings;
use MailQueue\Cli\Stop;

/** The address that mail of this site comes from. */
final class Sender
{
    /** From the option --from, or else the transport's user if that is an address. */
    public static function address(Arguments $args, Settings $settings): string
    {
        $given = $args->text('from');
        if ($given !== null && !preg_match('/\A[^@\s]+@[^@\s]+\z/', $given)) {
            throw Stop::usage('--from must be an address.');
        }
        $transport = $settings->transport();
        $first = is_string($transport) ? Group::relays($transport)[0] ?? null : null;
        $user = (string) Target::of($first)?->user;
        return $given ?? (preg_match('/\A[^@\s]+@[^@\s]+\.[^@\s]+\z/', $user) ? $user
            : Host::user() . '@' . Host::name());
    }
}
