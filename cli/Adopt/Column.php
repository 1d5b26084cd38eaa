<?php

declare(strict_types=1);

namespace MailQueue\Cli\Adopt;

/** A column of the old table. */
final class Column
{
    /**
     * @param string $definition its declared type, with a default where it has one
     * @param bool $isGenerated the database computes it: it is declared, but not copied
     * @param string|null $trouble why it cannot be the application's own column, and the cure
     */
    public function __construct(
        public readonly string $name,
        public readonly string $definition,
        public readonly bool $isKey,
        public readonly bool $isGenerated = false,
        public readonly ?string $trouble = null,
    ) {
    }

    /**
     * @param list<self> $columns
     * @return list<string> their names in lower case
     */
    public static function names(array $columns): array
    {
        return array_map(static fn (self $column): string => strtolower($column->name), $columns);
    }
}
