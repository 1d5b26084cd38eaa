<?php

declare(strict_types=1);

namespace MailQueue\Web;

use MailQueue;
use MailQueue\Cli\Terminal;

/**
 * Writes down who did what: in the workers' log where this process may write to it, so that
 * `mailqueue log` shows it, otherwise in PHP's error log. It creates no log: a worker of another
 * user could not use it.
 */
final class Journal
{
    /** @param MailQueue|null $queue null: the queue is not open, as in a login */
    public static function note(?MailQueue $queue, string $user, string $what): void
    {
        $line = Terminal::json(['time' => gmdate('Y-m-d\TH:i:s\Z'), 'event' => 'page',
            'user' => $user, 'reply' => $what], 0);
        $log = $queue?->diagnostics()['log'] ?? '';
        $isOurs = $log !== '' && is_file($log) && !is_link($log) && is_writable($log);
        if (!$isOurs || @file_put_contents($log, "$line\n", FILE_APPEND) === false) {
            Php::log('mailqueue page: ' . Terminal::safe("$user: $what"));
        }
    }
}
