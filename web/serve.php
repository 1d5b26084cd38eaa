<?php

/* What PHP's own web server runs for `mailqueue page --serve`. */

declare(strict_types=1);

require __DIR__ . '/autoload.php';

$options = json_decode((string) getenv('MAILQUEUE_PAGE_OPTIONS'), true);
MailQueue\Web\Page::of(array_values(array_filter((array) $options, is_string(...))))->handle();
