<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

/** migrate: creates or updates the tables. */
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
