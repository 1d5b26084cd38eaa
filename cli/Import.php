<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** A file of which some lines may not be taken: counts them, and says which and why. */
final class Import
{
    private const SHOWN = 20;

    public int $read = 0;
    public int $faulty = 0;
    /** @var array<int, string> what is wrong with lines */
    private array $faults = [];

    /** @return resource */
    public static function open(string $name)
    {
        return @fopen($name === '-' ? 'php://stdin' : $name, 'r')
            ?: throw new Stop("$name cannot be read: "
                . (error_get_last()['message'] ?? ''), ExitCode::NOINPUT);
    }

    public function fault(int $line, string $what): void
    {
        $this->faulty++;
        if (count($this->faults) < self::SHOWN) {
            $this->faults[$line] = Terminal::safe(rtrim($what, '.'));
        }
    }

    /** Says on standard error which lines could not be taken. */
    public function showFaults(): void
    {
        ksort($this->faults);
        foreach ($this->faults as $line => $fault) {
            Terminal::error("Line $line: $fault.");
        }
        $more = $this->faulty - count($this->faults);
        $more <= 0 || Terminal::error("$more more lines cannot be taken.");
    }

    /** "2 added; 1 were there already" */
    public function text(int $added): string
    {
        $others = $this->read - $added - $this->faulty;
        return "$added added" . ($others > 0 ? "; $others were there already" : '');
    }
}
