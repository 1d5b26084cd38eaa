<?php

declare(strict_types=1);

namespace MailQueue\Cli\Doctor;

/** Looks at things of one kind. */
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
