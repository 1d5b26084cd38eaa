<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

/** An object that refers to the old table: it is dropped, or stays with the old table. */
final class Dependent
{
    /**
     * @param string|null $drop SQL that drops it; null: it stays with the old table
     * @param string|list<string>|null $create SQL that makes it again
     */
    public function __construct(
        public readonly string $what,
        public readonly ?string $drop = null,
        public readonly string|array|null $create = null,
    ) {
    }
}
