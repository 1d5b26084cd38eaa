<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\Relay\Target;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;

/** verdict: what a relay's reply means, and which rule says so. */
final class Verdict extends Command
{
    /** What follows from each verdict. */
    private const MEANING = [
        'accepted' => 'the relay goes on, or has taken the mail',
        'uncertain' => 'nobody knows whether the relay took the mail',
        'next' => 'this recipient gets a transaction of its own; no attempt counts',
        'refused' => 'the recipient is given up; a mail without others is parked',
        'deferred' => 'an attempt counts, and another follows',
        'denied' => 'an attempt counts, and another follows; the relay is paused if it denies all',
        'unexplained' => 'refused if the relay accepts other mail; else an attempt counts',
        'connect' => 'no attempt counts; fewer sessions if others work, else the relay is paused '
            . 'after three such connects',
        'session' => 'no attempt counts; the session ends, and another takes the mail',
        'sessions' => 'no attempt counts; the relay gets fewer sessions, or, if it has only one, '
            . 'none for the time that it names',
        'relay' => 'no attempt counts; the relay is paused',
        'protocol' => 'the mail is sent once more without extensions; then an attempt counts',
    ];

    public function run(): int
    {
        $reply = $this->args->words[0] ?? throw Stop::usage("Usage: mailqueue verdict 'REPLY'");
        $at = $this->args->text('at') ?? 'rcpt';
        $relay = $this->args->text('relay')
            ?? Target::of($this->settings->transport())->host ?? '';
        $file = $this->settings->verdicts();
        try {
            $found = Internal::verdict($reply, $at, trim($relay, '[]'));
        } catch (\ValueError $e) {
            throw Stop::usage(preg_replace(
                ['/^.*Argument #1 \(\$reply\)/', '/^.*Argument #2 \(\$at\)/'],
                ['The reply', '--at'],
                $e->getMessage()
            ) . '.');
        }
        $by = $found['line'] === null ? "built in: $found[row]" : "$file, line $found[line]";
        $found += ['at' => $at, 'meaning' => self::MEANING[$found['verdict']], 'rule' => $by];
        return $this->result($found, fn () => $this->show($found));
    }

    /**
     * @param array{verdict: string, wait: int, throttled: bool, meaning: string,
     *        rule: string} $found
     */
    private function show(array $found): void
    {
        echo "$found[verdict]: $found[meaning]\n";
        $found['wait'] > 0 && print('waits: ' . Terminal::span($found['wait']) . "\n");
        $found['throttled'] && print('three such mails in a row for different domains pause the '
            . "relay\n");
        echo 'rule: ', Terminal::safe($found['rule']), "\n";
    }
}
