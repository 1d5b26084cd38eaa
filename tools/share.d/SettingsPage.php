<?php

declare(strict_types=1);

namespace MailQueue\Tools;

use MailQueue;

/** mailqueue(5): docs/settings.md, whose table of keys is MailQueue::configKeys(). */
final class SettingsPage
{
    public static function text(): string
    {
        $page = new Roff('5', 'settings of the mail queue');
        $page->section('DESCRIPTION');
        self::paragraphs($page, Markdown::section('settings', 'Settings'));
        $page->section('"IN THE DATABASE"');
        self::paragraphs($page, Markdown::section('settings', 'In the database'));
        foreach (MailQueue::configKeys() as $key => $about) {
            $text = $about['meaning'] . ($about['internal'] ? ' Kept by the queue.' : '')
                . ($about['type'] === 'text' || $about['type'] === 'object'
                    ? " Value: $about[range]." : " Range: $about[range].");
            $page->item("`$key` ($about[type])", $text . self::default($about['default']));
        }
        foreach (['In php.ini' => '"IN PHP.INI"', 'In the environment' => 'ENVIRONMENT']
            as $heading => $name) {
            $section = Markdown::section('settings', $heading);
            $rows = Markdown::rows($section);
            $page->section($name);
            $paragraphs = Markdown::paragraphs($section);
            foreach ($heading === 'In the environment' ? $paragraphs : [] as $paragraph) {
                $page->paragraph($paragraph);
            }
            foreach ($rows as [$key, $type, $default, $meaning]) {
                $text = $meaning === '' ? '' : "$meaning.";
                $page->item("$key ($type)", $text . self::default($default));
            }
            foreach ($heading === 'In php.ini' ? $paragraphs : [] as $paragraph) {
                $page->paragraph($paragraph);
            }
        }
        $page->section('"SEE ALSO"');
        $page->paragraph('`mailqueue`(1), `systemd.exec`(5), `crontab`(5)');
        return $page->text();
    }

    private static function default(string $value): string
    {
        return $value === '' ? '' : " Default: $value.";
    }

    private static function paragraphs(Roff $page, string $section): void
    {
        foreach (Markdown::paragraphs($section) as $paragraph) {
            $page->paragraph($paragraph);
        }
    }
}
