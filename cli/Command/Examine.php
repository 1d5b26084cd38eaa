<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\Doctor;
use MailQueue\Cli\Doctor\Dns;
use MailQueue\Cli\Doctor\Findings;
use MailQueue\Cli\Doctor\Helo;
use MailQueue\Cli\Doctor\Relay;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Relay\Group;
use MailQueue\Cli\Relay\Map;
use MailQueue\Cli\Relay\Sender;
use MailQueue\Cli\Relay\Target;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** doctor: finds what could go wrong, with the cure. */
final class Examine extends Command
{
    public function run(): int
    {
        if (!$this->args->has('dns')
            && ($this->args->has('from') || $this->args->has('selector'))) {
            throw Stop::usage('--from and --selector need --dns.');
        }
        $findings = $this->args->has('relay') || $this->args->has('dns') ? $this->asked()
            : (new Doctor($this->settings))->findings();
        $this->result($findings, static function () use ($findings): void {
            foreach ($findings as $finding) {
                $isTest = str_starts_with($finding['what'], 'Test mode');
                [$mark, $colour] = $finding['ok'] ? ['ok  ', Terminal::GREEN]
                    : ['look', $isTest ? Terminal::RED : Terminal::YELLOW];
                $what = Terminal::safe($finding['what']);
                echo Terminal::paint($mark, $colour), '  ',
                $isTest ? Terminal::paint($what, $colour) : $what, "\n";
                $lines = [...explode("\n        ", $finding['cure'], 2), $finding['run'] ?? ''];
                foreach ($finding['ok'] ? [] : array_filter($lines) as $i => $line) {
                    echo $i === 0 ? '      ' : '        ', Terminal::safe($line), "\n";
                }
            }
        });
        return in_array(false, array_column($findings, 'ok'), true) ? ExitCode::FINDINGS
            : ExitCode::OK;
    }

    /**
     * What the options ask of other machines.
     *
     * @return list<array{ok: bool, what: string, cure: string, run: ?string}>
     */
    private function asked(): array
    {
        $findings = new Findings();
        if ($this->args->has('relay')) {
            array_map(
                (new Relay($findings))->look(...),
                Map::transports($this->settings->transport(), $this->settings->relays())
            );
        }
        if ($this->args->has('dns')) {
            $sender = Sender::address($this->args, $this->settings);
            $transport = $this->settings->transport();
            $targets = array_filter(
                array_map(Target::of(...), is_string($transport) ? Group::relays($transport) : []),
                static fn (?Target $one): bool => $one?->isLmtp === false
            );
            (new Dns($findings))->look(
                substr((string) strrchr($sender, '@'), 1),
                $this->settings->dkim(),
                $this->args->text('selector'),
                $targets[0] ?? null
            );
            array_map((new Helo($findings))->look(...), $targets);
        }
        return $findings->all;
    }
}
