<?php

// Processes, figures and databases for the rows of tools/torture. The parent never opens a
// database: what SQLite knows of one would be wrong in every child forked afterwards.

declare(strict_types=1);

namespace Torture;

use MailQueue;

final class Failure extends \Exception {}

final class Options
{
    public readonly int $seed;

    /** @param list<string> $rows */
    public function __construct(
        public readonly array $rows,
        public readonly ?int $kills = null,
        public readonly ?int $mails = null,
        public readonly int $runs = 20,
        ?int $seed = null,
        public readonly bool $keep = false,
    ) {
        $this->seed = $seed ?? random_int(1, 999_999_999);
    }
}

/** One row: its directory, its figures, its failures. */
final class Row
{
    /** @var list<string> */
    public array $problems = [];
    /** @var array<string, int> */
    private array $figures = [];
    private string $skipped = '';

    public function __construct(
        public readonly string $name,
        public readonly string $directory,
        public readonly Options $options,
    ) {}

    public function count(string $what, int $more): void
    {
        $this->figures[$what] = ($this->figures[$what] ?? 0) + $more;
    }

    /** Runs parts of the row side by side; each gets a Row that is added to this one. */
    public function sideBySide(callable ...$parts): void
    {
        $begun = array_map(fn(callable $part): array => begin(function () use ($part): array {
            [$this->figures, $this->problems] = [[], []];
            try {
                $part($this);
            } catch (Failure $e) {
                $this->problem($e->getMessage());
            } finally {
                stop_children();
            }
            return [$this->figures, $this->problems];
        }), $parts);
        foreach ($begun as $one) {
            [$figures, $problems] = result($one);
            array_map($this->count(...), array_keys($figures), $figures);
            $this->problems = [...$this->problems, ...$problems];
        }
    }

    public function problem(string $text): void
    {
        $this->problems[] = $text;
    }

    /** A name for part of the row, shown in its line. */
    public function skip(string $why): void
    {
        $this->skipped = $why;
    }

    public function check(bool $fact, string $otherwise): void
    {
        $fact || $this->problem($otherwise);
    }

    public function print(float $seconds): void
    {
        $errors = @file("$this->directory/errors", FILE_IGNORE_NEW_LINES) ?: [];
        $this->problems = [...$this->problems, ...array_slice($errors, 0, 5)];
        $text = '';
        foreach ($this->figures as $what => $number) {
            $text .= "  $what $number";
        }
        printf("%-15s%s  seconds %.1f  %s\n", $this->name, $text, $seconds, $this->problems ? 'FAILED' : ($this->skipped === '' ? 'ok' : "SKIPPED: $this->skipped"));
        foreach (array_slice($this->problems, 0, 20) as $problem) {
            echo "    $problem\n";
        }
    }
}

/** @return array<int, true> the children that live */
function &children(): array
{
    static $children = [];
    return $children;
}

/**
 * Runs $work in a separate process. Its exceptions go to $errors, and its exit status is then 70.
 */
function start(callable $work, string $errors): int
{
    $pid = pcntl_fork();
    if ($pid === 0) {
        $inherited = &children();
        $inherited = []; // they are the parent's
        pcntl_signal(SIGINT, SIG_DFL);
        pcntl_signal(SIGTERM, SIG_DFL);
        $status = 0;
        try {
            $work();
        } catch (\Throwable $e) {
            file_put_contents($errors, get_class($e) . ': ' . $e->getMessage() . ' at ' . basename($e->getFile()) . ':' . $e->getLine() . "\n", FILE_APPEND);
            $status = 70;
        }
        exit($status);
    }
    children()[$pid] = true;
    return $pid;
}

/** Waits for the end of a child. @return string "exit 0", "signal 9", or '' if it still runs */
function ended(int $pid, bool $wait = true): string
{
    if (pcntl_waitpid($pid, $status, $wait ? 0 : WNOHANG) === 0) {
        return '';
    }
    unset(children()[$pid]);
    return pcntl_wifsignaled($status) ? 'signal ' . pcntl_wtermsig($status) : 'exit ' . pcntl_wexitstatus($status);
}

/** The same, for at most this many seconds; then it is killed. */
function ended_within(int $pid, float $seconds): string
{
    $until = microtime(true) + $seconds;
    while (($how = ended($pid, false)) === '') {
        if (microtime(true) > $until) {
            posix_kill($pid, SIGKILL);
            ended($pid);
            return "still running after $seconds s";
        }
        usleep(2000);
    }
    return $how;
}

function stop_children(): void
{
    foreach (array_keys(children()) as $pid) {
        posix_kill($pid, SIGKILL);
        ended($pid);
    }
}

/** Starts $work in a separate process; the handle is for result(). */
function begin(callable $work): array
{
    [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $pid = start(static function () use ($work, $ours, $theirs): void {
        fclose($ours);
        try {
            fwrite($theirs, serialize(['value' => $work()]));
        } catch (\Throwable $e) {
            fwrite($theirs, serialize(['error' => $e instanceof Failure ? $e->getMessage() : (string) $e]));
        }
    }, '/dev/null');
    fclose($theirs);
    stream_set_timeout($ours, 86_400); // not default_socket_timeout, which is a minute
    return [$pid, $ours];
}

function result(array $begun): mixed
{
    $said = unserialize(stream_get_contents($begun[1]), ['allowed_classes' => false]);
    ended($begun[0]);
    if (!is_array($said) || isset($said['error'])) {
        throw new Failure('a process failed: ' . ($said['error'] ?? 'no result'));
    }
    return $said['value'];
}

/** Ctrl-C must not leave workers behind. */
function end_in_order(): void
{
    pcntl_async_signals(true);
    foreach ([SIGINT, SIGTERM] as $signal) {
        pcntl_signal($signal, static function () use ($signal): never {
            stop_children();
            exit(128 + $signal);
        });
    }
}

/** Runs $work in a separate process and returns its result. */
function apart(callable $work): mixed
{
    return result(begin($work));
}

function wait_until(string $what, callable $fact, float $seconds = 20): void
{
    $until = microtime(true) + $seconds;
    while (!$fact()) {
        if (microtime(true) > $until) {
            throw new Failure("waited $seconds s for $what");
        }
        usleep(2000);
    }
}

function remove_tree(string $path): void
{
    if (is_dir($path) && !is_link($path)) {
        foreach (array_diff(scandir($path), ['.', '..']) as $name) {
            remove_tree("$path/$name");
        }
        rmdir($path);
    } else {
        unlink($path);
    }
}

/** The command line program as cron would start it. @return list<string> */
function command(string ...$arguments): array
{
    $library = $GLOBALS['argv'][1] . '/mailqueue.so';
    $extensions = [];
    foreach (['posix', 'pcntl', 'pdo', 'pdo_pgsql', 'mysqlnd', 'pdo_mysql'] as $name) {
        is_file(ini_get('extension_dir') . "/$name.so") && array_push($extensions, '-d', "extension=$name");
    }
    return [PHP_BINARY, '-n', ...$extensions, '-d', "extension=$library", dirname(__DIR__, 2) . '/bin/mailqueue', ...$arguments];
}

/** Starts a command, its output in a file; a pid for ended(). */
function execute(array $command, string $output, array $environment = []): int
{
    return start(static function () use ($command, $output, $environment): void {
        // The shell replaces itself, so the pid is the program's.
        pcntl_exec('/bin/sh', ['-c', 'exec >"$0" 2>&1 </dev/null; exec "$@"', $output, ...$command], $environment + getenv());
    }, '/dev/null');
}

/** Events of a JSON-lines log, those of one name. @return list<array<string, mixed>> */
function events(string $log, string $name): array
{
    $events = [];
    foreach (@file($log, FILE_IGNORE_NEW_LINES) ?: [] as $line) {
        $event = json_decode($line, true);
        if (($event['event'] ?? null) === $name) {
            $events[] = $event;
        }
    }
    return $events;
}
