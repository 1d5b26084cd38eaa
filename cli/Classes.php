<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** Loads the classes of this program, which otherwise load when they are first used. */
final class Classes
{
    /**
     * Loads all at once. Other code may later make the files unreadable (open_basedir, autoloaders,
     * stream wrappers), and an update may replace them during a long run.
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
