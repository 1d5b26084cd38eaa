<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

/** An object that names the old table and has no equivalent with the new one. */
final class Dependent
{
    /**
     * @param string|null $drop null: it stays with the old table
     * @param string|null $create what makes it again
     */
    public function __construct(
        public readonly string $what,
        public readonly ?string $drop = null,
        public readonly ?string $create = null,
    ) {
    }
}
