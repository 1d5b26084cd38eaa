<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue\Internal;

/** What the extension's parser says about a text that names a database. */
final class Named
{
    public readonly string $shown; // without user and secrets
    public readonly bool $hasPassword;
    public readonly bool $isServer;
    public readonly ?string $path; // null: it cannot be a file

    public function __construct(string $database)
    {
        $about = Internal::describe($database);
        $this->shown = $about['shown'];
        $this->hasPassword = $about['password'];
        $this->isServer = $about['server'];
        $this->path = $about['path'];
    }
}
