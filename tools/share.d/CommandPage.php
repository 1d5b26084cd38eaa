<?php

declare(strict_types=1);

namespace MailQueue\Tools;

use MailQueue\Cli\Commands;
use MailQueue\Cli\Help;

/** mailqueue(1) */
final class CommandPage
{
    public static function text(): string
    {
        $page = new Roff('1', 'sends what applications have put into the mail queue');
        $page->section('SYNOPSIS');
        $page->paragraph('`mailqueue` COMMAND [options] [arguments]');
        $page->section('DESCRIPTION');
        $page->paragraph('Applications store mail in a table of their database: an SQLite file, '
            . 'or a PostgreSQL, MariaDB or MySQL server. `mailqueue work`, which cron or systemd '
            . 'starts, sends it. The other commands show the queue and change it.');
        $page->paragraph('The database and the relay come from options, the environment or '
            . 'php.ini; see `mailqueue`(5).');
        $page->section('COMMANDS');
        foreach (Commands::ALL as $name => $about) {
            self::command($page, $name, $about);
        }
        $page->section('OPTIONS');
        $page->paragraph('Every command takes these:');
        self::options($page, Commands::GLOBAL);
        $page->section('"EXIT STATUS"');
        $codes = Markdown::section('command-line', 'Exit codes');
        foreach (Markdown::rows($codes) as [$code, $text]) {
            $page->item("`$code`", $text);
        }
        $page->section('FILES');
        foreach (Markdown::rows(Markdown::section('operations', 'Files')) as [$file, $text]) {
            $page->item($file, $file === 'log' ? 'See `MAIL_QUEUE_LOG` in `mailqueue`(5).' : $text);
        }
        $page->item('`share/mailqueue/service`', 'Units for systemd and files for cron and '
            . 'logrotate, to be copied.');
        $page->section('"SEE ALSO"');
        $page->paragraph('`mailqueue`(5), `crontab`(5), `systemctl`(1), `logrotate`(8)');
        return $page->text();
    }

    /**
     * @param array{args: string, text: string, examples: list<string>,
     *      options: array<string, string>} $about
     */
    private static function command(Roff $page, string $name, array $about): void
    {
        $page->subsection(trim("mailqueue $name [options] $about[args]"));
        $page->paragraph($about['text']);
        self::options($page, $about['options']);
        isset(Help::MORE[$name]) && $page->help(Help::MORE[$name]);
        $page->paragraph(count($about['examples']) > 1 ? 'Examples:' : 'Example:');
        $page->example($about['examples']);
    }

    /** @param array<string, string> $options */
    private static function options(Roff $page, array $options): void
    {
        foreach ($options as $option => $text) {
            $page->item("`--$option`", $text);
        }
    }
}
