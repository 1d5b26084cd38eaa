<?php

declare(strict_types=1);

namespace MailQueue\Tools;

require __DIR__ . '/files.php';

foreach (shared_files() as $path => $text) {
    $path = dirname(__DIR__, 2) . "/$path";
    is_dir(dirname($path)) || mkdir(dirname($path), 0777, true);
    file_put_contents($path, $text);
}
