<?php

declare(strict_types=1);

namespace MailQueue\Cli\Mailbox;

use MailQueue\Cli\Terminal;

/** The server refused a command. The text is the server's, made safe to show. */
final class Refused extends \Exception
{
    public function __construct(string $words)
    {
        parent::__construct(rtrim(Terminal::safe($words), '.'));
    }
}
