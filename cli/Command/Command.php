<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\Arguments;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Settings;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** Base of the commands; each method that runs one returns the exit code. */
abstract class Command
{
    public function __construct(
        protected readonly Arguments $args,
        protected readonly Settings $settings,
    ) {
    }

    /** Returns once a person or --yes has agreed; otherwise throws. */
    protected function agree(string $asked, string $hint = 'Add --yes.'): void
    {
        if ($this->args->has('yes')) {
            return;
        }
        if ($this->args->has('json') || !stream_isatty(STDIN) || !stream_isatty(STDOUT)) {
            throw Stop::usage("$asked? $hint");
        }
        echo Terminal::safe($asked), '? [y/N] ';
        if (!preg_match('/\A\s*y(es)?\s*\z/i', (string) fgets(STDIN))) {
            throw new Stop('Nothing was changed.', ExitCode::FINDINGS);
        }
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
