<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\Arguments;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Settings;
use MailQueue\Cli\Terminal;

/** Base of the commands; each method that runs one returns the exit code. */
abstract class Command
{
    public function __construct(
        protected readonly Arguments $args,
        protected readonly Settings $settings,
    ) {
    }

    /** Prints a result as JSON if --json was given; otherwise lets $people print it. */
    protected function result(mixed $value, callable $people): int
    {
        if ($this->args->has('json')) {
            echo Terminal::json($value), "\n";
        } else {
            $people();
        }
        return ExitCode::OK;
    }
}
