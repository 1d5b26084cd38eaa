<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue;

/** The PHP file of --bootstrap: checked, then run. */
final class BootstrapFile
{
    /** What errors call the file. */
    private static string $name = 'Bootstrap file';

    public static function load(string $file): Bootstrap
    {
        return self::take($file, Bootstrap::take(...));
    }

    /**
     * The map of relays that a file returns: checked and run in the same way.
     *
     * @return array<string, string>
     */
    public static function relays(string $file): array
    {
        self::$name = 'Relays file';
        try {
            return self::take($file, static fn (mixed $given, string $path): array
                => Relay\Map::take($given, "Relays file $path"));
        } finally {
            self::$name = 'Bootstrap file';
        }
    }

    private static function take(string $file, callable $take): mixed
    {
        $path = self::check($file);
        self::lint($path);
        try {
            return $take(self::run($path), $path);
        } catch (Stop | MailQueue\Exception $e) {
            throw $e;
        } catch (\ParseError $e) {
            throw Stop::config(self::$name . " $path has a syntax error: {$e->getMessage()} "
                . "on line {$e->getLine()}.");
        } catch (\Throwable $e) {
            $text = self::$name . " $path failed: " . $e::class . ": {$e->getMessage()} "
                . "({$e->getFile()}, line {$e->getLine()})";
            throw new Stop($text, self::isBusy($e) ? ExitCode::TEMPFAIL : ExitCode::CONFIG);
        }
    }

    /** Runs the file. If it ends the process instead of returning, the exit code must not be 0. */
    private static function run(string $path): mixed
    {
        Classes::loadAll();
        $running = getmypid(); // a child that the file forks may end in any way
        register_shutdown_function(static function () use (&$running, $path): void {
            $running === getmypid() && exit(self::died($path));
        });
        try {
            return self::required($path);
        } finally {
            $running = false;
        }
    }

    /** Loads the file in a scope without our variables. */
    private static function required(): mixed
    {
        return require func_get_arg(0);
    }

    private static function died(string $path): int
    {
        $error = error_get_last();
        $isFatal = in_array($error['type'] ?? 0, [E_ERROR, E_CORE_ERROR, E_COMPILE_ERROR], true);
        $why = $error && $isFatal
            ? "failed: {$error['message']} ({$error['file']}, line {$error['line']})"
            : 'ended the program (exit or die) before it returned its array. To say what is '
                . 'wrong, throw an exception.';
        if (!defined('STDERR')) { // in PHP-FPM
            function_exists('error_log') && error_log("mailqueue: " . self::$name . " $path $why");
            return ExitCode::CONFIG;
        }
        return Failure::show(self::$name . " $path $why", ExitCode::CONFIG, $_SERVER['argv']);
    }

    /** SQLITE_BUSY and SQLITE_LOCKED by the application's own PDO: the next run may succeed. */
    private static function isBusy(\Throwable $e): bool
    {
        return $e instanceof \PDOException && in_array($e->errorInfo[1] ?? null, [5, 6], true);
    }

    private static function check(string $file): string
    {
        $path = self::isWrapper($file) ? '' : (string) realpath($file);
        $why = match (true) {
            self::isWrapper($file) => 'is a stream wrapper; give the path of a file',
            !str_starts_with($file, '/') => 'is not an absolute path',
            $path === '' => 'does not exist or cannot be reached',
            !is_file($path) => 'is not a regular file',
            !str_ends_with($path, '.php') => 'does not end in .php'
                . ($path === $file ? '' : " (it leads to $path)"),
            !is_readable($path) => 'cannot be read by this user',
            FileAccess::othersMayWrite($path) => 'can be written by others than its owner; chmod '
                . 'go-w ' . Terminal::word($path),
            !self::isOurs($path) => 'belongs neither to root nor to this user, who would run '
                . 'its code; chown it',
            default => self::openDirectory($file) ?? self::openDirectory($path),
        };
        return $why === null ? $path : throw Stop::config(self::$name . " \"$file\" $why.");
    }

    private static function isOurs(string $path): bool
    {
        return in_array(@fileowner($path), [0, FileAccess::user()], true);
    }

    /** Says which directory above the file lets other users replace it; null: none. */
    private static function openDirectory(string $path): ?string
    {
        while ($path !== '/') {
            $path = dirname($path);
            $isSticky = ((int) @fileperms($path) & 0o1000) !== 0;
            if (!$isSticky && FileAccess::othersMayWrite($path)) {
                return 'lies under a directory where others can replace it; chmod go-w '
                    . Terminal::word($path);
            }
            if (!self::isOurs($path)) {
                return "lies under $path, which belongs neither to root nor to this user: its "
                    . 'owner can replace it';
            }
        }
        return null;
    }

    private static function isWrapper(string $file): bool
    {
        return str_contains($file, '://') || str_starts_with($file, 'data:');
    }

    private static function lint(string $path): void
    {
        if (PHP_SAPI !== 'cli' || !function_exists('proc_open')) {
            return; // PHP-FPM has no -l; loading the file will then show a syntax error
        }
        $command = [PHP_BINARY, '-n', '-d', 'display_errors=1', '-l', $path];
        $process = proc_open(
            $command,
            [1 => ['pipe', 'w'], 2 => ['file', '/dev/null', 'w']],
            $pipes
        );
        if ($process === false) {
            return;
        }
        $said = stream_get_contents($pipes[1]);
        if (proc_close($process) !== 0) {
            $line = trim(strtok(ltrim($said), "\n") ?: 'php -l failed');
            throw Stop::config(self::$name . " $path has a syntax error: $line");
        }
    }
}
