<?php

declare(strict_types=1);

namespace MailQueue\Web;

/** Functions of PHP that some hosts disable: without them a request is answered all the same. */
final class Php
{
    /** What PHP says of an error is for its log. */
    public static function hideErrors(): void
    {
        function_exists('ini_set') && ini_set('display_errors', '0');
    }

    /** Lets a request last as long as it takes, even if the browser does not wait for it. */
    public static function takeTime(): void
    {
        function_exists('set_time_limit') && @set_time_limit(0);
        function_exists('ignore_user_abort') && ignore_user_abort(true);
    }

    /** Writes into PHP's error log; without error_log(), to the web server's. */
    public static function log(string $line): void
    {
        if (function_exists('error_log')) {
            error_log($line);
        } else {
            @file_put_contents('php://stderr', "$line\n");
        }
    }
}
