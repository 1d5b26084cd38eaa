<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\Bounce\Reader;
use MailQueue\Cli\Bounce\Recorder;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** bounce: reads a report from standard input, for a pipe of a mail server. */
final class Bounce extends Command
{
    /** The entry in Commands::ALL. */
    public const ABOUT = [
        'args' => '',
        'words' => 0,
        'text' => 'Read a bounce or a complaint from standard input, as a mail server delivers '
            . 'it to a program, and suppress the address that it is about. Mail that is neither '
            . 'is left alone. Exit 0, or 75 if the server is to try again. Prints nothing without '
            . '--dry-run or --json.',
        'examples' => ['mailqueue bounce --dry-run < message.eml'],
        'options' => ['dry-run' => 'say what the report is, change nothing'],
    ];

    public function run(): int
    {
        if (stream_isatty(STDIN)) {
            throw Stop::usage('bounce reads a report from standard input: mailqueue bounce < FILE');
        }
        $queue = $this->settings->queue();
        $reading = (new Reader($queue))->read(STDIN);
        $recorder = new Recorder($queue);
        $events = [];
        foreach ($reading->events as $event) {
            $outcome = $this->args->has('dry-run') ? null : $recorder->record($event);
            $events[] = ['address' => $event->address, 'kind' => $event->kind->value,
                'text' => $event->text, 'outcome' => $outcome?->value];
        }
        $result = ['message' => $reading->what, 'events' => $events];
        if (!$this->args->has('dry-run') && !$this->args->has('json')) {
            return ExitCode::OK; // some mail servers return a mail if the program prints anything
        }
        return $this->result($result, static function () use ($result): void {
            echo ucfirst($result['message']), ".\n";
            foreach ($result['events'] as $event) {
                echo Terminal::safe($event['address'] ?? 'An address that is not named'), ': ',
                "$event[kind]", $event['outcome'] === null ? '' : ", $event[outcome]", "\n  ",
                Terminal::safe($event['text']), "\n";
            }
        });
    }
}
