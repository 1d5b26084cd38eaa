<?php

// Shared by the benchmarks: children, medians, databases, servers. Everything is compared in turn
// (A B A B …) in one run, because machines differ from minute to minute.

declare(strict_types=1);

namespace Bench;

/** @param list<float> $values */
function median(array $values): float
{
    sort($values);
    $n = count($values);
    return $n % 2 ? $values[intdiv($n, 2)] : ($values[$n / 2 - 1] + $values[$n / 2]) / 2;
}

/** @param list<float> $values */
function percentile(array $values, float $p): float
{
    sort($values);
    return $values[(int) min(count($values) - 1, floor(count($values) * $p))];
}

/** Starts $work in a separate process; the handle is for result(). */
function start(callable $work): array
{
    [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $pid = pcntl_fork();
    if ($pid === 0) {
        fclose($ours);
        try {
            fwrite($theirs, json_encode(['value' => $work()], JSON_THROW_ON_ERROR));
        } catch (\Throwable $e) {
            fwrite($theirs, json_encode(['error' => (string) $e]));
        }
        fclose($theirs);
        posix_kill(getmypid(), SIGKILL); // nothing of the parent's is torn down twice
    }
    fclose($theirs);
    stream_set_timeout($ours, 3600); // default_socket_timeout is a minute
    return [$pid, $ours];
}

function result(array $child): mixed
{
    $said = json_decode(stream_get_contents($child[1]), true);
    pcntl_waitpid($child[0], $status);
    if (!is_array($said) || isset($said['error'])) {
        $error = $said['error'] ?? 'no result';
        throw new \RuntimeException("a benchmark process failed: $error");
    }
    return $said['value'];
}

function run(callable $work): mixed
{
    return result(start($work));
}

/**
 * Runs each case once a round, in turn, each in a separate process.
 *
 * @param array<string, callable(): float> $cases
 * @return array<string, float> medians
 */
function alternate(int $rounds, array $cases): array
{
    $seen = [];
    for ($i = 0; $i < $rounds; $i++) {
        foreach ($cases as $name => $case) {
            $seen[$name][] = (float) run($case);
        }
    }
    return array_map(median(...), $seen);
}

/** The value of --NAME=VALUE on the command line. */
function option(string $name): ?string
{
    $given = preg_grep("/^--$name=./", $_SERVER['argv']);
    return $given ? substr(end($given), strlen($name) + 3) : null;
}

function directory(): string
{
    static $directory;
    if ($directory === null) {
        $directory = sys_get_temp_dir() . '/mailqueue-bench-' . bin2hex(random_bytes(6));
        mkdir($directory, 0700);
        $owner = getmypid();
        register_shutdown_function(static function () use ($directory, $owner): void {
            if (getmypid() === $owner) {
                array_map(remove(...), glob("$directory/*.sqlite"));
                foreach (glob("$directory/*") as $file) {
                    is_dir($file) || unlink($file);
                }
                rmdir($directory);
            }
        });
    }
    return $directory;
}

/** A new database's path. */
function fresh(string $name = 'bench'): string
{
    return directory() . "/$name-" . bin2hex(random_bytes(4)) . '.sqlite';
}

function remove(string $path): void
{
    foreach ([...glob("$path*"), ...glob("$path.run/*")] as $file) {
        is_dir($file) || unlink($file);
    }
    is_dir("$path.run") && rmdir("$path.run");
}

/** A complete message of about 2 KB, as an application would have it. */
function message(int $n): string
{
    static $text;
    $text ??= str_repeat("The quick brown fox jumps over the lazy dog, and again it does.\r\n", 26);
    $id = dechex($n) . '.' . bin2hex(random_bytes(8)) . '@example.org';
    return "From: Shop <shop@example.org>\r\nTo: person$n@example.com\r\nSubject: Order $n\r\n"
        . "Date: Sat, 21 Nov 2026 09:35:00 +0000\r\nMessage-ID: <$id>\r\nX-Test-Id: $n\r\n"
        . "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n$text";
}

/** The same two inserts as enqueue(), through prepared pdo_sqlite. */
final class PdoQueue
{
    public readonly \PDO $pdo;
    private readonly \PDOStatement $job;
    private readonly \PDOStatement $body;

    public function __construct(
        string $path,
        private readonly string $journal,
        bool $pragmas = true,
    ) {
        $options = [\PDO::ATTR_ERRMODE => \PDO::ERRMODE_EXCEPTION];
        $this->pdo = new \PDO("sqlite:$path", null, null, $options);
        if ($pragmas) {
            $this->pdo->exec('PRAGMA synchronous=FULL');
            // The journal mode of a WAL file is in the file; a rollback journal's is the
            // connection's.
            $journal === 'truncate' && $this->pdo->exec('PRAGMA journal_mode=TRUNCATE');
        }
        $this->job = $this->pdo->prepare(
            'INSERT INTO mail_queue (reference, mail_type, status, priority, next_attempt_at,'
            . ' created_at, message_id, envelope_from, recipients)'
            . " VALUES (?, 'mail', 'pending', 0, ?, ?, ?, ?, ?)"
            . ' ON CONFLICT (reference, mail_type) WHERE reference IS NOT NULL DO NOTHING'
        );
        $this->body = $this->pdo->prepare('INSERT INTO mail_body (id, content) VALUES (?, ?)');
    }

    public function enqueue(string $message, string $recipient): void
    {
        $this->pdo->exec('BEGIN IMMEDIATE');
        $now = time();
        $id = '<' . bin2hex(random_bytes(16)) . '@example.org>';
        $recipients = json_encode([$recipient]);
        $this->job->execute([null, $now, $now, $id, 'shop@example.org', $recipients]);
        $this->body->bindValue(1, (int) $this->pdo->lastInsertId(), \PDO::PARAM_INT);
        $this->body->bindValue(2, $message, \PDO::PARAM_LOB);
        $this->body->execute();
        $this->pdo->exec('COMMIT');
    }
}

/** CPU seconds of this process so far. */
function cpu(): float
{
    $usage = getrusage();
    $seconds = $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'];
    $microseconds = $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec'];
    return $seconds + $microseconds / 1e6;
}

/** A server on loopback for as long as the object lives. */
final class Sink
{
    public readonly int $port;
    private $process;

    public function __construct(string ...$options)
    {
        $file = directory() . '/port-' . bin2hex(random_bytes(4));
        $binary = dirname(__DIR__) . '/.build/sink/mq-sink';
        $command = [$binary, '--port', '0', '--port-file', $file, ...$options];
        $this->process = proc_open($command, [2 => ['file', '/dev/null', 'w']], $pipes);
        for ($i = 0; $i < 100 && !is_file($file); $i++) {
            usleep(50_000);
        }
        $this->port = (int) @file_get_contents($file)
            ?: throw new \RuntimeException('the sink did not start');
    }

    public function pid(): int
    {
        return proc_get_status($this->process)['pid'];
    }

    /** SIGHUP reads the script again. */
    public function signal(int $signal): void
    {
        posix_kill(proc_get_status($this->process)['pid'], $signal);
        usleep(200_000);
    }

    public function relay(): string
    {
        return "smtp://127.0.0.1:$this->port?max_mails=1000000";
    }

    public function stop(): void
    {
        if ($this->process !== null) {
            proc_terminate($this->process);
            proc_close($this->process);
            $this->process = null;
        }
    }
}

/** Collects the measurements and prints them. */
final class Results
{
    /**
     * @var list<array{name: string, value: float, unit: string, want: ?string, ok: ?bool,
     *     detail: array<string, float>}>
     */
    private array $rows = [];

    /** @param array<string, float> $detail */
    public function ratio(
        string $name,
        float $value,
        ?float $atLeast = null,
        ?float $atMost = null,
        array $detail = [],
        string $unit = '',
    ): void {
        $ok = match (true) {
            $atLeast !== null => $value >= $atLeast,
            $atMost !== null => $value <= $atMost,
            default => null,
        };
        $want = $atLeast !== null ? "≥ $atLeast" : ($atMost !== null ? "≤ $atMost" : null);
        $row = compact('name', 'value', 'unit', 'want', 'ok', 'detail');
        $this->rows[] = $row;
        $verdict = $ok === null ? '' : ($ok ? 'ok' : 'MISSED');
        fprintf(STDERR, "%-62s %8.2f%s %-7s %s\n", $name, $value, $unit, $want ?? '', $verdict);
        foreach ($detail as $what => $number) {
            $shown = number_format($number, $number < 100 ? 2 : 0);
            fprintf(STDERR, "    %-58s %12s\n", $what, $shown);
        }
    }

    public function json(): string
    {
        $flags = JSON_PRETTY_PRINT | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION;
        return json_encode($this->rows, $flags);
    }
}
