<?php

declare(strict_types=1);

namespace MailQueue\Cli\Bounce;

/** What was done about an event. */
enum Outcome: string
{
    /** The address is suppressed now. */
    case Suppressed = 'suppressed';
    /** It was stored, and counts with others of the address. */
    case Counted = 'counted';
    /** It says nothing about the address, so nothing was stored. */
    case Nothing = 'nothing';
    /** It was stored before. */
    case Known = 'known';
}
