<?php

declare(strict_types=1);

namespace MailQueue\Tools;

spl_autoload_register(static function (string $class): void {
    $root = dirname(__DIR__, 2);
    $places = ['MailQueue\\Cli\\' => "$root/cli/", 'MailQueue\\Tools\\' => __DIR__ . '/'];
    foreach ($places as $space => $place) {
        if (str_starts_with($class, $space)) {
            require $place . strtr(substr($class, strlen($space)), '\\', '/') . '.php';
        }
    }
});

/** @return array<string, string> path => what tools/share writes there */
function shared_files(): array
{
    return [
        'share/man/man1/mailqueue.1' => CommandPage::text(),
        'share/man/man5/mailqueue.5' => SettingsPage::text(),
        'share/bash-completion/completions/mailqueue' => Completion::bash(),
        'share/zsh/site-functions/_mailqueue' => Completion::zsh(),
        'share/fish/vendor_completions.d/mailqueue.fish' => Completion::fish(),
    ];
}
