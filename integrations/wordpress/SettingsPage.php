<?php

declare(strict_types=1);

namespace MailQueue\Bridge\WordPress;

use MailQueue\Bridge\Outbox;

/**
 * The page Settings > mailqueue: sets the queue's database, and shows how much mail waits there. If
 * wp-config.php defines MAILQUEUE_OPTIONS, the page only shows those options.
 */
final class SettingsPage
{
    private const OPTION = 'mailqueue_options';
    private const SLUG = 'mailqueue';

    public function __construct(private string $plugin)
    {
    }

    public function register(): void
    {
        add_action('admin_init', function (): void {
            register_setting(self::SLUG, self::OPTION, ['type' => 'array',
                'sanitize_callback' => $this->accepted(...), 'default' => []]);
        });
        add_action('admin_menu', function (): void {
            add_options_page(
                'mailqueue',
                'mailqueue',
                self::capability(),
                self::SLUG,
                $this->show(...)
            );
        });
        add_filter('option_page_capability_' . self::SLUG, self::capability(...));
        $basename = plugin_basename($this->plugin);
        add_filter("plugin_action_links_$basename", static fn (array $links): array => [
            '<a href="' . esc_url(admin_url('options-general.php?page=' . self::SLUG)) . '">'
                . esc_html__('Settings', 'default') . '</a>',
            ...$links,
        ]);
    }

    /** @return array<string, mixed> as Outbox::fromOptions() takes them */
    public static function options(): array
    {
        if (defined('MAILQUEUE_OPTIONS')) {
            return MAILQUEUE_OPTIONS;
        }
        $options = get_option(self::OPTION, []);
        return is_array($options) ? $options : [];
    }

    /** In a multisite, only an administrator of the network may set a path on the server. */
    public static function capability(): string
    {
        return is_multisite() ? 'manage_network_options' : 'manage_options';
    }

    /**
     * Returns what to store for a submitted form: its database, or after an error the old options.
     *
     * @param mixed $sent
     * @return array<string, string>
     */
    private function accepted($sent): array
    {
        $path = is_array($sent) ? trim((string) ($sent['database'] ?? '')) : '';
        $error = match (true) {
            $path === '' => null,
            $path[0] !== '/' => 'Database: give the absolute path of a file on this server.',
            self::isPublic($path)
                => 'Database: this path is below the web root, where anybody could fetch the file.',
            default => self::unusable($path),
        };
        if ($error === null) {
            return $path === '' ? [] : ['database' => $path];
        }
        add_settings_error(self::OPTION, 'database', $error);
        $kept = get_option(self::OPTION, []);
        return is_array($kept) ? $kept : [];
    }

    /** Checks the web root, too: WordPress may be in a directory below it. */
    private static function isPublic(string $path): bool
    {
        $directory = (realpath(dirname($path)) ?: dirname($path)) . '/';
        foreach (array_filter([ABSPATH, (string) ($_SERVER['DOCUMENT_ROOT'] ?? '')]) as $root) {
            if (str_starts_with($directory, rtrim(realpath($root) ?: $root, '/') . '/')) {
                return true;
            }
        }
        return false;
    }

    private static function unusable(string $path): ?string
    {
        if (!extension_loaded('mailqueue')) {
            return null;
        }
        try {
            Outbox::queue(['database' => $path])->stats();
            return null;
        } catch (\MailQueue\Exception $e) {
            return "Database: {$e->getMessage()}";
        }
    }

    private function show(): void
    {
        $options = self::options();
        $fixed = defined('MAILQUEUE_OPTIONS');
        echo '<div class="wrap"><h1>mailqueue</h1><form method="post" action="options.php">';
        settings_fields(self::SLUG);
        echo '<table class="form-table" role="presentation">';
        self::row('<label for="mailqueue-database">Database</label>', sprintf(
            '<input id="mailqueue-database" class="regular-text code" name="%s[database]" '
                . 'value="%s"%s placeholder="%s"><p class="description">%s</p>',
            esc_attr(self::OPTION),
            esc_attr(is_string($options['database'] ?? null)
                ? Outbox::shown($options['database']) : ''),
            $fixed ? ' disabled' : '',
            esc_attr(Outbox::shown((string) ini_get('mailqueue.database'))),
            $fixed ? 'Set by MAILQUEUE_OPTIONS in wp-config.php.'
                : 'The absolute path of an SQLite file outside of the web root. '
                    . 'Empty: the ini setting mailqueue.database.',
        ));
        foreach ($this->state($options) as $name => $text) {
            self::row(esc_html($name), esc_html($text));
        }
        echo '</table>';
        $fixed || submit_button();
        echo '</form></div>';
    }

    private static function row(string $head, string $cell): void
    {
        echo "<tr><th scope=\"row\">$head</th><td>$cell</td></tr>";
    }

    /**
     * @param array<string, mixed> $options
     * @return array<string, string>
     */
    private function state(array $options): array
    {
        if (!extension_loaded('mailqueue')) {
            return ['Extension' => 'not loaded by this PHP: mail is sent directly'];
        }
        $state = ['Extension' => 'loaded, ' . phpversion('mailqueue')];
        try {
            $stats = Outbox::queue($options)->stats();
        } catch (\MailQueue\Exception $e) {
            return $state + ['Queue' => $e->getMessage()];
        }
        return $state + [
            'Waiting' => (string) ($stats->pending + $stats->failed + $stats->sending),
            'Parked' => $stats->parked
                . ($stats->parked > 0 ? ': see mailqueue list --status parked' : ''),
            'Last run' => $stats->lastRunAt === null
                ? 'never: add the cron line of the documentation'
                : human_time_diff($stats->lastRunAt) . ' ago',
        ];
    }
}
