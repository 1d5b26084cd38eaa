<?php

/*
 * Loads the bridges' classes where Composer does not: require this file.
 */
declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    $directories = [
        'MailQueue\\Bridge\\CakePHP\\' => 'cakephp',
        'MailQueue\\Bridge\\Laravel\\' => 'laravel',
        'MailQueue\\Bridge\\PHPMailer\\' => 'phpmailer',
        'MailQueue\\Bridge\\Symfony\\' => 'symfony',
        'MailQueue\\Bridge\\WordPress\\' => 'wordpress',
        'MailQueue\\Bridge\\' => 'core',
    ];
    foreach ($directories as $prefix => $directory) {
        $name = substr($class, strlen($prefix));
        if (str_starts_with($class, $prefix) && !str_contains($name, '\\')) {
            $file = __DIR__ . "/$directory/$name.php";
            if (is_file($file)) {
                require $file;
            }
            return;
        }
    }
});
