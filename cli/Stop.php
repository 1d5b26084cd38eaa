<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** Ends the command with a text for people and an exit code. */
final class Stop extends \Exception
{
    public static function usage(string $text): self
    {
        return new self($text, ExitCode::USAGE);
    }

    public static function config(string $text): self
    {
        return new self($text, ExitCode::CONFIG);
    }
}
