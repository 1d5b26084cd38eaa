<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Relay\Sender;
use MailQueue\Cli\Relay\Trial;
use MailQueue\Cli\Sendmail\Host;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;
use MailQueue\Stats;

/** send --test: sends one mail at once, and shows what was said with the relay. */
final class Send extends Command
{
    public function run(): int
    {
        $to = $this->args->text('test') ?? throw Stop::usage('send needs --test ADDRESS: it sends '
            . 'one mail to try the relay.');
        if (!preg_match('/\A[^@\s]+@[^@\s]+\z/', $to)) {
            throw Stop::usage('--test must be an address.');
        }
        $queue = $this->settings->queue();
        $stats = $queue->stats(Status::EXACT);
        $from = Sender::address($this->args, $this->settings);
        $this->settings->verdicts() === null || Internal::verdictRules(); // before a token is taken
        $this->pay($queue, $stats);
        $mail = ['from' => $from, 'to' => $to] + self::text($to);
        $trial = new Trial($this->settings, $queue, $mail);
        $outcome = $trial->outcome();
        $verdict = self::verdict($trial, $outcome);
        $test = Status::testMode($queue, $stats);
        $lines = $trial->dialogue->lines;
        $this->result(['outcome' => $outcome, 'verdict' => $verdict, 'from' => $from, 'to' => $to,
            'testMode' => $test, 'dialogue' => $lines], static function () use (
                $lines,
                $verdict,
                $test,
                $stats
            ): void {
                foreach ($lines as ['who' => $who, 'line' => $line]) {
                    echo $who === 'C' ? '> ' : '< ', Terminal::safe($line), "\n";
                }
                echo $lines === [] ? '' : "\n", Terminal::safe($verdict), "\n",
                $test === null ? '' : "$test\n",
                $stats->enabled ? '' : "Sending is switched off: no other mail goes.\n";
            });
        return ['sent' => ExitCode::OK, 'relay' => ExitCode::UNAVAILABLE][$outcome]
            ?? ExitCode::FINDINGS;
    }

    /** @return array{subject: string, text: string} */
    private static function text(string $to): array
    {
        $host = Host::name();
        return ['subject' => "Test of mailqueue on $host", 'text' => "This mail was sent by\n\n"
            . "    mailqueue send --test $to\n\non $host. If it arrives, so does other mail.\n"];
    }

    /** The mail counts for the limits of all mail, like any other. */
    private function pay(MailQueue $queue, Stats $stats): void
    {
        if ($queue->takeTokens(1) === 1) {
            return;
        }
        $full = max([0, ...array_map(intval(...), array_column($stats->limits, 'fullUntil'))]);
        throw new Stop(($full === 0 ? "The hourly limit ($stats->limit recipients) leaves none"
            : 'A limit of mailLimits leaves no recipient') . ' for this mail now. Try again in '
            . Terminal::span($full === 0 ? (int) ceil(3600 / max(1, $stats->limit))
                : max(1, $full - time()))
            . '; mailqueue doctor --relay sends nothing.', ExitCode::TEMPFAIL);
    }

    private static function verdict(Trial $trial, string $outcome): string
    {
        $reply = $trial->reason();
        $relay = rtrim("The relay $trial->relay");
        return match ($outcome) {
            'sent' => "$relay took the mail: $reply. If it does not arrive, look into the spam "
                . 'folder and into the log of the relay.',
            'relay' => "$relay cannot be used: $reply. mailqueue doctor --relay names "
                . 'the cure.',
            'refused', 'parked' => "$relay refused the mail: $reply. The worker would not try "
                . 'again.',
            'try_later' => "$relay did not take the mail now: $reply. The worker would try "
                . 'again.',
            'uncertain' => "Nobody knows whether " . lcfirst($relay) . " took the mail: $reply.",
            default => "The mail was not sent ($outcome): $reply.",
        };
    }
}
