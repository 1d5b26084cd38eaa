<?php

/**
 * Plugin Name: mailqueue
 * Description: wp_mail() stores mail in a durable queue; cron sends it within the hourly limit.
 * Version: 0.1.0
 * Requires at least: 5.7
 * Requires PHP: 8.1
 * Author: The mailqueue authors
 * License: MIT
 * License URI: https://opensource.org/licenses/MIT
 * Text Domain: mailqueue
 */

declare(strict_types=1);

namespace MailQueue\Bridge\WordPress;

use PHPMailer\PHPMailer\PHPMailer;

if (!defined('ABSPATH')) {
    exit;
}

// The plugin's zip has the bridges' classes beside this file, a checkout above it.
if (!trait_exists(SendsWordPressMail::class)) {
    require_once is_file(__DIR__ . '/autoload.php') ? __DIR__ . '/autoload.php'
        : dirname(__DIR__) . '/autoload.php';
}

/**
 * Lets wp_mail() go on with a PHPMailer that queues. So WordPress itself composes the mail, with
 * its filters and phpmailer_init, and fires wp_mail_succeeded and wp_mail_failed.
 *
 * @param bool|null $done what an earlier filter made of the mail; null: nothing yet
 * @return bool|null
 */
function use_queue($done)
{
    static $mailer = null;
    if ($done === null && extension_loaded('mailqueue')) {
        $GLOBALS['phpmailer'] = $mailer ??= new_mailer();
    } elseif ($done === null) {
        trigger_error(
            'mailqueue: PHP has not loaded the extension; the mail is sent directly',
            E_USER_WARNING
        );
    }
    return $done;
}

/** Makes a PHPMailer as wp_mail() makes its own, but one that queues. */
function new_mailer(): PHPMailer
{
    $includes = \ABSPATH . \WPINC;
    if (!class_exists(PHPMailer::class, false)) {
        require_once "$includes/PHPMailer/PHPMailer.php";
        require_once "$includes/PHPMailer/SMTP.php";
        require_once "$includes/PHPMailer/Exception.php";
    }
    if (is_file("$includes/class-wp-phpmailer.php")) {
        require_once "$includes/class-wp-phpmailer.php";
        $mailer = new class (true) extends \WP_PHPMailer {
            use SendsWordPressMail;
        };
    } else {
        $mailer = new class (true) extends PHPMailer {
            use SendsWordPressMail;
        };
    }
    PHPMailer::$validator = static fn ($email) => (bool) is_email($email);
    return $mailer;
}

add_filter('pre_wp_mail', __NAMESPACE__ . '\\use_queue', PHP_INT_MAX);
(new SettingsPage(__FILE__))->register();
(new QueuePage())->register();
