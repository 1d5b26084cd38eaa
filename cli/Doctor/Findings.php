<?php

declare(strict_types=1);

namespace MailQueue\Cli\Doctor;

/** What was looked at, and how it is. */
final class Findings
{
    /** @var list<array{ok: bool, what: string, cure: string}> */
    public array $all = [];

    public function add(bool $ok, string $what, string $cure): void
    {
        $this->all[] = ['ok' => $ok, 'what' => $what, 'cure' => $ok ? '' : $cure];
    }
}
