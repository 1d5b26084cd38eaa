<?php

/* For PHPStan: classes that the bridges use and that their libraries need not have here. */

namespace {
    const WPINC = 'wp-includes';
    define('ABSPATH', (string) getenv('ABSPATH'));

    /** Of WordPress 6.8. */
    class WP_PHPMailer extends PHPMailer\PHPMailer\PHPMailer
    {
    }
}

namespace Symfony\Contracts\HttpClient {
    interface HttpClientInterface
    {
    }
}
