<?php

/* WordPress runs this when the plugin is deleted. The database with the mail stays. */

declare(strict_types=1);

if (defined('WP_UNINSTALL_PLUGIN')) {
    delete_option('mailqueue_options');
}
