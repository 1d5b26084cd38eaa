<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

/** migrate: the tables, created or updated. */
final class Migrate extends Command
{
    public function run(): int
    {
        $version = $this->settings->queue(create: true)->migrate();
        return $this->result(
            ['version' => $version],
            static fn () => print("The tables are at version $version.\n")
        );
    }
}
