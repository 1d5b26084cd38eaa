<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

/** A column of the old table. */
final class Column
{
    /** @param string $definition its declared type, with a default where it has one */
    public function __construct(
        public readonly string $name,
        public readonly string $definition,
        public readonly bool $isKey,
    ) {
    }
}
