<?php

declare(strict_types=1);

namespace MailQueue\Cli\Doctor;

/** The checks that were made, and their results. */
final class Findings
{
    /** @var list<array{ok: bool, what: string, cure: string, run: ?string}> */
    public array $all = [];

    /** @param string|null $run the command that is the cure, as it can be typed */
    public function add(bool $ok, string $what, string $cure, ?string $run = null): void
    {
        $this->all[] = ['ok' => $ok, 'what' => $what, 'cure' => $ok ? '' : $cure,
            'run' => $ok ? null : $run];
    }
}
