<?php

declare(strict_types=1);

namespace MailQueue\Cli\Doctor;

/** Base of the checks of one subject. */
abstract class Check
{
    public function __construct(protected readonly Findings $findings)
    {
    }

    protected function add(bool $ok, string $what, string $cure, ?string $run = null): void
    {
        $this->findings->add($ok, $what, $cure, $run);
    }
}
