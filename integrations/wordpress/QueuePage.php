<?php

declare(strict_types=1);

namespace MailQueue\Bridge\WordPress;

use MailQueue\Bridge\Outbox;
use MailQueue\Web\Page;
use MailQueue\Web\Request;

/**
 * Tools > Mail queue: the page of the extension, with its switches, for those who may set the
 * queue up. It is a document of its own, without WordPress's frame.
 */
final class QueuePage
{
    private const SLUG = 'mailqueue-page';

    public function register(): void
    {
        // The page's classes come with the extension, not with this plugin.
        $classes = defined('MAILQUEUE_PAGE_CLASSES') ? MAILQUEUE_PAGE_CLASSES
            : dirname(PHP_BINDIR) . '/share/mailqueue/web/autoload.php';
        if (!extension_loaded('mailqueue') || !@is_file($classes)) {
            return;
        }
        add_action('admin_menu', function () use ($classes): void {
            $hook = add_management_page(
                'Mail queue',
                'Mail queue',
                SettingsPage::capability(),
                self::SLUG,
                '__return_null'
            );
            $hook === false || add_action("load-$hook", fn () => $this->show($classes));
        });
    }

    private function show(string $classes): void
    {
        require_once $classes;
        $mayChange = current_user_can(SettingsPage::capability());
        $page = new Page(
            static fn (): \MailQueue => Outbox::queue(SettingsPage::options()),
            access: static fn (): ?string => $mayChange ? 'admin' : null,
            user: wp_get_current_user()->user_login,
            keep: ['page' => self::SLUG],
        );
        // WordPress adds slashes to what the browser sends.
        $page->respond(new Request(
            (array) wp_unslash($_GET),
            (array) wp_unslash($_POST),
            (array) wp_unslash($_COOKIE),
            (array) wp_unslash($_SERVER)
        ))->send();
        exit;
    }
}
