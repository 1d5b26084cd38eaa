<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\Doctor;
use MailQueue\Cli\Doctor\Dns;
use MailQueue\Cli\Doctor\Findings;
use MailQueue\Cli\Doctor\Helo;
use MailQueue\Cli\Doctor\Relay;
use MailQueue\Cli\ExitCode;
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
                $mark = $finding['ok'] ? Terminal::paint('ok  ', Terminal::GREEN)
                    : Terminal::paint('look', Terminal::YELLOW);
                echo "$mark  ", Terminal::safe($finding['what']), "\n";
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
            (new Relay($findings))->look($this->settings->transport());
        }
        if ($this->args->has('dns')) {
            $sender = Sender::address($this->args, $this->settings);
            $target = Target::of($this->settings->transport());
            (new Dns($findings))->look(
                substr((string) strrchr($sender, '@'), 1),
                $this->settings->dkim(),
                $this->args->text('selector'),
                $target
            );
            $target === null || (new Helo($findings))->look($target);
        }
        return $findings->all;
    }
}
