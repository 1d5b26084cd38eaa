<?php

declare(strict_types=1);

namespace MailQueue\Cli\Bounce;

/** What a report says about one recipient. */
final class Notice
{
    /** @param list<string> $addresses of the recipient, as the report names it */
    public function __construct(
        public readonly array $addresses,
        public readonly Kind $kind,
        public readonly string $text,
    ) {
    }
}
