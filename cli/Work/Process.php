<?php

declare(strict_types=1);

namespace MailQueue\Cli\Work;

/**
 * One of the workers that Processes keeps running: this program in a process of its own, which
 * tells how it is doing by the service manager's protocol, and at its end its summary by a pipe.
 */
final class Process
{
    private const NAME = 'MAILQUEUE_PROCESS';
    private const SUMMARY = 3; // descriptor
    private const CHUNK = 65536;
    private const LINE_MAX = 1 << 20;
    private const AT_ONCE = 64; // so that no process keeps this one from the others

    public bool $isReady = false;
    /** What it has done, as it said itself: sent, to be tried later, parked, under way. */
    public string $status = '';
    /** When it was heard last, and when it was started; seconds of hrtime(). */
    public float $heardAt;
    public readonly float $startedAt;
    /** The signal that ended it; 0: none did. */
    public int $signal = 0;
    public int $code = 0;

    /** @var resource */
    private $process;
    /** @var array<int, resource> by descriptor */
    private array $pipes = [];
    /** @var array<int, string> what was read of them, and not taken */
    private array $read = [1 => '', 2 => '', self::SUMMARY => ''];
    /** @var resource|null */
    private $news = null;

    /**
     * @param list<string> $command
     * @param int $silence how long it may be silent before it counts as hanging, in seconds
     */
    public function __construct(array $command, int $silence)
    {
        $this->startedAt = $this->heardAt = Processes::now();
        $address = 'mailqueue-' . bin2hex(random_bytes(16));
        $environment = array_diff_key(getenv(), ['NOTIFY_SOCKET' => 1, 'WATCHDOG_PID' => 1]);
        $news = @stream_socket_server("udg://\0$address", $code, $text, STREAM_SERVER_BIND);
        if ($news !== false) {
            stream_set_blocking($news, false);
            $this->news = $news;
            $environment['NOTIFY_SOCKET'] = "@$address";
            $environment['WATCHDOG_USEC'] = (string) ($silence * 1_000_000);
        }
        $out = ['pipe', 'w'];
        $process = proc_open(
            $command,
            [['file', '/dev/null', 'r'], $out, $out, self::SUMMARY => $out],
            $pipes,
            null,
            [self::NAME => '1'] + $environment
        );
        if ($process === false) {
            throw new \MailQueue\Exception('A process cannot be started: '
                . (error_get_last()['message'] ?? 'unknown'));
        }
        $this->process = $process;
        $this->pipes = $pipes;
        foreach ($pipes as $pipe) {
            stream_set_blocking($pipe, false);
        }
    }

    /** Whether this process is one of several, which tells its summary and prints none. */
    public static function isOne(): bool
    {
        static $is;
        $is ??= getenv(self::NAME) !== false;
        putenv(self::NAME); // what this process starts is none of them
        return $is;
    }

    /** Tells the summary of this process. */
    public static function tell(Summary $summary): void
    {
        $pipe = @fopen('php://fd/' . self::SUMMARY, 'w');
        $pipe === false || fwrite($pipe, $summary->encode());
    }

    /** @return list<resource> what becomes readable if there is something to read */
    public function streams(): array
    {
        return [...array_values($this->pipes), ...($this->news === null ? [] : [$this->news])];
    }

    /** Whether it can be told of nothing that it does. */
    public function isMute(): bool
    {
        return $this->news === null;
    }

    /**
     * Reads what it has written.
     *
     * @param callable(int, string): void $line gets whole lines of 1, its output, and 2, its errors
     */
    public function read(callable $line): void
    {
        foreach ($this->pipes as $number => $pipe) {
            for ($i = 0; $i < self::AT_ONCE
                && ($text = (string) @fread($pipe, self::CHUNK)) !== ''; $i++) {
                $this->read[$number] .= $text;
                $number === self::SUMMARY || $this->cut($number, $line);
            }
            if (feof($pipe)) {
                unset($this->pipes[$number]);
            }
        }
        for ($i = 0; $i < self::AT_ONCE && $this->news
            && ($text = (string) @stream_socket_recvfrom($this->news, 4096)) !== ''; $i++) {
            $this->heardAt = Processes::now();
            $this->isReady = true;
            $this->status = preg_match('/^STATUS=\D*(\d.*)$/m', $text, $match)
                ? $match[1] : $this->status;
        }
    }

    /** @param callable(int, string): void $line */
    private function cut(int $number, callable $line, bool $isEnd = false): void
    {
        $lines = explode("\n", $this->read[$number]);
        $rest = (string) array_pop($lines);
        $isWhole = $isEnd || strlen($rest) > self::LINE_MAX;
        $this->read[$number] = $isWhole ? '' : $rest;
        foreach ([...$lines, ...($isWhole && $rest !== '' ? [$rest] : [])] as $text) {
            $line($number, $text);
        }
    }

    /**
     * Whether it still runs. If it has ended, all that it wrote is read.
     *
     * @param callable(int, string): void $line as of read()
     */
    public function runs(callable $line): bool
    {
        $state = proc_get_status($this->process);
        if ($state['running']) {
            return true;
        }
        $this->read($line);
        $this->cut(1, $line, true);
        $this->cut(2, $line, true);
        $this->signal = $state['signaled'] ? $state['termsig'] : 0;
        $this->code = $state['exitcode'];
        $this->pipes = []; // a program that it started may still hold their other ends
        proc_close($this->process);
        return false;
    }

    /** After its end: what it has done. Null: it did not tell. */
    public function summary(): ?Summary
    {
        return Summary::decode($this->read[self::SUMMARY]);
    }

    public function send(int $signal): void
    {
        proc_terminate($this->process, $signal);
    }
}
