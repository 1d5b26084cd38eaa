<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Sendmail\Options;
use MailQueue\Cli\Sendmail\SmtpServer;
use MailQueue\Cli\Sendmail\Submission;

/** sendmail: does what its options ask for. */
final class Sendmail extends Command
{
    public function run(): int
    {
        $options = new Options($this->args->words);
        switch ($options->mode) {
            case 'p':
                return (new Mailq($this->args, $this->settings))->run();
            case 'q':
                $this->args->options['quiet'] = true;
                return (new Work($this->args, $this->settings))->run();
            case 'm':
                (new Submission($this->settings, $options))->run();
                return ExitCode::OK;
            case 's':
                $timeout = $this->args->int('timeout', 300, 1, 86_400);
                return (new SmtpServer($this->settings, $timeout))->run();
            default:
                return ExitCode::OK;
        }
    }
}
