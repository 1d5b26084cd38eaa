<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** Loads the extension when php.ini does not. */
final class Extension
{
    /**
     * Starts PHP again with the extension of the build tree or of PHP's extension_dir. If that
     * is not possible, says that the extension is not loaded, and returns the exit code.
     *
     * @param list<string> $argv
     */
    public static function load(array $argv): int
    {
        $candidates = [dirname(PROGRAM) . '/../modules/mailqueue.so',
            dirname(PROGRAM) . '/../.build/plain/modules/mailqueue.so',
            ini_get('extension_dir') . '/mailqueue.so'];
        $found = array_filter(array_map(realpath(...), $candidates));
        foreach ($found as $library) {
            if (getenv('MAILQUEUE_LOADING') === false && is_executable(PHP_BINARY)) {
                $hasIni = php_ini_loaded_file() || php_ini_scanned_files();
                // $argv[0] is the name this program was called by, such as sendmail.
                self::become([PHP_BINARY, ...($hasIni ? [] : ['-n']), '-d', "extension=$library",
                    ...$argv], ['MAILQUEUE_LOADING' => '1'] + getenv());
            }
        }
        $text = $found
            ? 'The PHP extension is not loaded: add extension=' . current($found) . ' to php.ini.'
            : 'The PHP extension is not loaded. Install it (README, "Installation") and add '
                . 'extension=mailqueue to php.ini, or build it here with tools/build.';
        return Failure::show($text, ExitCode::CONFIG, $argv);
    }

    /**
     * Replaces this program by another. Returns if this PHP cannot start programs.
     *
     * @param non-empty-list<string> $command
     * @param array<string, string> $environment
     */
    public static function become(array $command, array $environment): void
    {
        if (function_exists('pcntl_exec')) {
            pcntl_exec($command[0], array_slice($command, 1), $environment);
        }
        if (!function_exists('proc_open')) {
            return;
        }
        $forwards = function_exists('pcntl_signal') && function_exists('pcntl_async_signals');
        if (!$forwards && is_executable('/usr/bin/setpriv')) {
            // SIGTERM kills only this process; setpriv makes it reach the other one.
            array_unshift($command, '/usr/bin/setpriv', '--pdeathsig', 'TERM');
        }
        $process = $early = null;
        if ($forwards) {
            // Set before the other process starts: a signal in between would end only this one.
            pcntl_async_signals(true);
            $forward = static function (int $number) use (&$process, &$early): void {
                /** @var resource|null $process */
                $process ? proc_terminate($process, $number) : $early = $number;
            };
            pcntl_signal(SIGTERM, $forward);
            pcntl_signal(SIGHUP, $forward);
            // The terminal signals both processes, and a second SIGINT would end the grace period.
            pcntl_signal(SIGINT, static fn () => null);
        }
        $process = proc_open($command, [STDIN, STDOUT, STDERR], $pipes, null, $environment);
        if ($process === false) {
            return;
        }
        if ($early !== null) {
            proc_terminate($process, $early);
        }
        do {
            usleep(10_000);
            $state = proc_get_status($process);
        } while ($state['running']);
        exit($state['signaled'] ? 128 + $state['termsig'] : $state['exitcode']);
    }
}
