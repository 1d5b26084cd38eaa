<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\Arguments;
use MailQueue\Cli\Extension;
use MailQueue\Cli\Named;
use MailQueue\Cli\Settings;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** page: the file that shows the queue in a browser, its password, or a look at it. */
final class Page extends Command
{
    /** Those that name the queue; the page finds all others in its environment and php.ini. */
    private const OPTIONS = ['database', 'table', 'config-table', 'reference-column',
        'orphan-check', 'backoff', 'bootstrap'];
    private const LEAST = 8;
    /** Of longer ones PHP's default, bcrypt, ignores the rest. */
    private const MOST = 72;

    public function run(): int
    {
        if ($this->args->has('password')) {
            return $this->password();
        }
        $this->settings->queue(); // says what is wrong while a person is here
        $address = $this->args->text('serve');
        $address === null || $this->serve($address);
        $stub = $this->stub();
        return $this->result(['page' => $stub], static fn () => print($stub));
    }

    private function stub(): string
    {
        $quoted = static fn (string $text): string => var_export($text, true);
        $options = implode(', ', array_map($quoted, $this->words()));
        $classes = $quoted(self::web('autoload.php'));
        return <<<PHP
            <?php

            // The page of mailqueue, by `mailqueue page`; its classes come with the extension. It
            // is closed until MAILQUEUE_PAGE_HASH is set (mailqueue page --password), or until your
            // own login is asked who may see it, by the second argument of of():
            // fn () => \$isAdmin ? 'admin' : (\$isStaff ? 'viewer' : null)
            require $classes;

            MailQueue\Web\Page::of([$options])->handle();

            PHP;
    }

    /** The path of one of the page's files. */
    private static function web(string $name): string
    {
        $path = dirname(__DIR__, 2) . "/web/$name";
        return @is_file($path) ? $path
            : throw Stop::config("$path is missing: copy the directory web beside cli.");
    }

    /** @return list<string> the options that name the queue */
    private function words(): array
    {
        $words = [];
        foreach (self::OPTIONS as $name) {
            $isMissing = $name === 'database' && !$this->args->has('bootstrap');
            $value = $this->args->text($name)
                ?? ($isMissing ? $this->settings->database() : null);
            $isSecret = $name === 'database' && (new Named((string) $value))->hasPassword;
            if ($value !== null && !$isSecret) {
                $words[] = "--$name=" . Settings::absolute($name, $value);
            }
        }
        return $words;
    }

    private function password(): int
    {
        $password = Terminal::secret('Password: ');
        if (strlen($password) < self::LEAST || strlen($password) > self::MOST) {
            throw Stop::usage('The password must have ' . self::LEAST . ' to ' . self::MOST
                . ' bytes.');
        }
        $hash = password_hash($password, PASSWORD_DEFAULT);
        return $this->result(['hash' => $hash], static fn () => print("$hash\n"));
    }

    private function serve(string $address): never
    {
        if (!preg_match('/\A(127\.[\d.]+|localhost|\[::1\]):\d{1,5}\z/', $address)) {
            throw Stop::usage('--serve takes an address of this machine and a port, such as '
                . '127.0.0.1:8025. Others need a web server with HTTPS.');
        }
        if (Arguments::environment('MAILQUEUE_PAGE_HASH') === null
            && (string) ini_get('mailqueue.page_hash') === '') {
            throw Stop::config('The page needs a password: mailqueue page --password makes a hash; '
                . 'set MAILQUEUE_PAGE_HASH to it.');
        }
        echo "http://$address/ shows the page; Ctrl+C ends it.\n";
        Extension::become(
            [PHP_BINARY, ...self::phpOptions(), '-S', $address, self::web('serve.php')],
            ['MAILQUEUE_PAGE_OPTIONS' => Terminal::json($this->words(), 0)] + getenv()
        );
        throw Stop::config('This PHP cannot start programs. Let a web server show what '
            . 'mailqueue page prints.');
    }

    /** @return list<string> what this PHP was started with, such as -d extension=… */
    private static function phpOptions(): array
    {
        $words = explode("\0", (string) @file_get_contents('/proc/self/cmdline'));
        $end = array_search($_SERVER['argv'][0], $words, true);
        return is_int($end) ? array_slice($words, 1, $end - 1) : [];
    }
}
