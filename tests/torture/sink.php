<?php

// The server of tests/sink: accepts, waits or refuses as its script says, and records who got what
// before it replies.

declare(strict_types=1);

namespace Torture;

final class Sink
{
    public readonly int $port;
    public readonly string $log;
    private readonly string $directory;
    private $process;

    public function __construct(string $directory, string $script = '', int $port = 0)
    {
        $this->directory = $directory;
        $this->log = "$directory/accepted";
        file_put_contents("$directory/script", $script);
        touch($this->log);
        $binary = dirname(__DIR__, 2) . '/.build/sink/mq-sink';
        $this->process = proc_open([$binary, '--die-with-parent', '--port', (string) $port, '--port-file', "$directory/port", '--log', $this->log,
            '--transcript', "$directory/transcript", '--script', "$directory/script", '--seed', (string) mt_rand(1, 1 << 30)],
            [['file', '/dev/null', 'r'], ['file', "$directory/sink-output", 'w'], ['redirect', 1]], $pipes);
        wait_until('the sink', static fn(): bool => is_file("$directory/port"));
        $this->port = (int) file_get_contents("$directory/port");
    }

    public function dsn(string $more = ''): string
    {
        return "smtp://127.0.0.1:$this->port?max_mails=1000$more";
    }

    public function stop(): void
    {
        proc_terminate($this->process);
        proc_close($this->process);
    }

    /** Replaces the script, and returns once it is in force. */
    public function rules(string $script): void
    {
        $reloads = fn(): int => count(preg_grep('/^reload\t/', file($this->log)));
        $before = $reloads();
        file_put_contents("$this->directory/script", $script);
        proc_terminate($this->process, SIGHUP);
        wait_until('the script', static fn(): bool => $reloads() > $before);
    }

    /** How many commands with this beginning came. */
    public function received(string $command): int
    {
        return preg_match_all('/\t<\t' . preg_quote($command, '/') . '/i', (string) @file_get_contents("$this->directory/transcript"));
    }

    /** @return list<array{test: string, to: string, hash: string}> */
    public function accepted(): array
    {
        $all = [];
        foreach (file($this->log, FILE_IGNORE_NEW_LINES) as $line) {
            if (ctype_digit($line[0] ?? '')) {
                [, , $test, $to, , , $hash] = explode("\t", $line);
                $all[] = ['test' => $test, 'to' => $to, 'hash' => $hash];
            }
        }
        return $all;
    }

    /** When each recipient was accepted: seconds, in order. @return list<float> */
    public function times(): array
    {
        $times = array_map(floatval(...), preg_grep('/^\d/', file($this->log)));
        sort($times);
        return $times;
    }

    /** Protocol violations, which no correct client commits. @return list<string> */
    public function violations(): array
    {
        return array_values(preg_grep('/^violation\t/', file($this->log, FILE_IGNORE_NEW_LINES)));
    }
}
