<?php

/*
 * Finds the classes of the page: MailQueue\Web\View\Mails is View/Mails.php. What the page shares
 * with the command line is in cli, beside this directory.
 */

declare(strict_types=1);

namespace MailQueue\Web;

spl_autoload_register(static function (string $class): void {
    $places = ['MailQueue\\Web\\' => __DIR__, 'MailQueue\\Cli\\' => dirname(__DIR__) . '/cli'];
    foreach ($places as $prefix => $directory) {
        if (str_starts_with($class, $prefix)) {
            $file = $directory . '/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
            is_file($file) && require $file;
        }
    }
});
