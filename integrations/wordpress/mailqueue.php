<?php
/**
 * Plugin Name: mailqueue
 * Description: wp_mail() puts mail into the queue; bin/mailqueue, started by cron, sends it.
 * License: MIT
 */

declare(strict_types=1);

namespace MailQueue\Bridge\WordPress;

use PHPMailer\PHPMailer\PHPMailer;

if (!defined('ABSPATH')) {
    exit;
}

if (!trait_exists(SendsWordPressMail::class)) {
    require_once dirname(__DIR__) . '/autoload.php';
}

/**
 * Lets wp_mail() go on with a PHPMailer that queues. So WordPress itself composes the mail, with
 * its filters and phpmailer_init, and fires wp_mail_succeeded and wp_mail_failed.
 *
 * @param bool|null $done what an earlier filter made of the mail; null: nothing yet
 */
function use_queue($done)
{
    static $mailer = null;
    if ($done === null && extension_loaded('mailqueue')) {
        $GLOBALS['phpmailer'] = $mailer ??= new_mailer();
    } elseif ($done === null) {
        trigger_error('mailqueue: PHP has not loaded the extension; the mail is sent directly',
            E_USER_WARNING);
    }
    return $done;
}

/** As wp_mail() makes its own. */
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
    PHPMailer::$validator = static fn($email) => (bool) is_email($email);
    return $mailer;
}

add_filter('pre_wp_mail', __NAMESPACE__ . '\\use_queue', PHP_INT_MAX);
