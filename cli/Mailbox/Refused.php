<?php

declare(strict_types=1);

namespace MailQueue\Cli\Mailbox;

use MailQueue\Cli\Terminal;

/** The server refused what it was asked, in these words, which can be shown. */
final class Refused extends \Exception
{
    public function __construct(string $words)
    {
        parent::__construct(rtrim(Terminal::safe($words), '.'));
    }
}
