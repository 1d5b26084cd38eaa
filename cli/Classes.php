<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** The classes of this program, which are loaded when they are first used. */
final class Classes
{
    /**
     * All at once: for what runs behind code of others, which may shut their files out
     * (open_basedir, autoloaders, stream wrappers), and for what runs so long that an update may
     * replace them.
     */
    public static function loadAll(string $below = ''): void
    {
        foreach (scandir(__DIR__ . "/$below") ?: [] as $name) {
            if (str_ends_with($name, '.php')) {
                class_exists(strtr(__NAMESPACE__ . "/$below" . basename($name, '.php'), '/', '\\'));
            } elseif (!str_starts_with($name, '.')) {
                self::loadAll("$name/");
            }
        }
    }
}
