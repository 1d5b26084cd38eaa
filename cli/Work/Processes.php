<?php

declare(strict_types=1);

namespace MailQueue\Cli\Work;

use MailQueue\Cli\Arguments;
use MailQueue\Cli\Classes;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;

use const MailQueue\Cli\PROGRAM;

/**
 * `work --processes N`: keeps N workers running beside each other, each of which claims what is
 * due. This process opens no database and loads no bootstrap file, so no connection is shared.
 */
final class Processes
{
    public const MAX = 10;
    private const PREFIX = ['/usr/bin/setsid', '/usr/bin/setpriv', '--pdeathsig', 'TERM'];
    private const TICK_US = 200_000;
    /** Seconds from the end of the grace period to SIGKILL. */
    private const KILL_AFTER = 5;
    private const SILENCE = 300;
    /** Seconds until another process takes the place of one that died, doubled each time … */
    private const PAUSE_FIRST = 1;
    /** … up to this one, or of one that found all worker slots taken. */
    private const PAUSE = 60;
    /** The same after trouble of the relay. */
    private const PAUSE_RELAY = 30;
    /** For so many seconds, processes do not repeat each other's errors. */
    private const REPEATED = 60;
    /** Errors that another process would meet as well. */
    private const FATAL = [ExitCode::USAGE, ExitCode::CANTCREAT, ExitCode::NOPERM,
        ExitCode::CONFIG];

    private readonly int $count;
    private readonly bool $isDaemon;
    private readonly ?int $timeLimit;
    private readonly ?int $messageLimit;
    private readonly int $grace;
    private readonly int $silence;
    private readonly float $startedAt;
    /** @var list<string> */
    private readonly array $command;
    /** @var array<int, Process> by number, from 1 on */
    private array $running = [];
    /** @var array<int, float> when the next process of a number starts */
    private array $due = [];
    /** @var array<int, int> how often processes of a number died in a row */
    private array $deaths = [];
    /** @var array<int, true> numbers that found all worker slots taken */
    private array $locked = [];
    /** Worker slots of processes that have sent their share of the message limit */
    private int $freed = 0;
    /** @var array<int, int> how many mails processes of a number claimed */
    private array $claimed = [];
    /** @var array<string, array{int, float}> errors → which number printed them, and when */
    private array $errors = [];
    /** @var array<int, int> exit codes other than 0, by number */
    private array $codes = [];
    private ?Summary $summary = null;
    private int $signals = 0;
    private int $sent = 0;
    private int $hangups = 0;
    /** @var array<int, int> how many SIGHUPs were passed on to a process, by its number */
    private array $told = [];
    private ?float $killAt = null;
    private bool $isStopping = false;
    private bool $hasFailed = false;

    public function __construct(private readonly Arguments $args)
    {
        $this->count = self::count($args);
        $limits = Internal::limits();
        $this->isDaemon = $args->has('daemon');
        $this->timeLimit = $args->int('time-limit', null, ...$limits['timeLimit'])
            ?? ($this->isDaemon ? null : 55);
        $this->messageLimit = $args->int('message-limit', null, ...$limits['messageLimit']);
        $this->grace = $args->int('grace', 30, ...$limits['grace']);
        $workers = $args->int('workers', $this->count, ...$limits['maxWorkers']);
        if ($workers < $this->count) {
            throw Stop::usage("--workers $workers is less than --processes $this->count: that many "
                . 'could never run.');
        }
        $usec = (int) Arguments::environment('WATCHDOG_USEC');
        $this->silence = $usec > 0 ? max(1, intdiv($usec, 1_000_000)) : self::SILENCE;
        $this->startedAt = self::now();
        $this->command = self::command();
    }

    /** How many processes are wanted. */
    public static function count(Arguments $args): int
    {
        return $args->int('processes', 1, 1, self::MAX);
    }

    /** Seconds of a clock that nobody sets. */
    public static function now(): float
    {
        return hrtime(true) / 1e9;
    }

    /**
     * This program, as it was started: PHP has no list of its own options.
     *
     * @return list<string>
     */
    private static function command(): array
    {
        foreach (['proc_open', 'pcntl_signal', 'pcntl_async_signals'] as $function) {
            if (!function_exists($function)) {
                throw Stop::config("--processes needs PHP's function $function: " . (
                    $function === 'proc_open' ? 'take it out of disable_functions in php.ini.'
                    : 'install or enable the extension pcntl, or start mailqueue work several '
                    . 'times, with --workers.'
                ));
            }
        }
        $words = explode("\0", rtrim((string) @file_get_contents('/proc/self/cmdline'), "\0"));
        /** @var list<string> $own */
        $own = $_SERVER['argv'];
        $command = array_slice($words, -count($own) + 1) === array_slice($own, 1)
            ? [PHP_BINARY, ...array_slice($words, 1)]
            : [PHP_BINARY, PROGRAM, ...array_slice($own, 1)];
        return [...self::prefix(), ...$command];
    }

    /**
     * Words before a command: signals of the terminal, or to the process group, reach only this
     * process, which passes them on; and if this process is killed, the others get SIGTERM.
     *
     * @return list<string>
     */
    private static function prefix(): array
    {
        $null = ['file', '/dev/null', 'w'];
        foreach ([self::PREFIX, [self::PREFIX[0]]] as $prefix) {
            $process = @is_executable($prefix[0])
                ? @proc_open([...$prefix, 'true'], [$null, $null, $null], $pipes) : false;
            if ($process !== false && proc_close($process) === 0) {
                return $prefix;
            }
        }
        return [];
    }

    /** Runs until all have ended; returns the exit code. */
    public function run(): int
    {
        $this->isDaemon && Classes::loadAll();
        pcntl_async_signals(true);
        $stop = function (): void {
            $this->signals++;
        };
        pcntl_signal(SIGTERM, $stop);
        pcntl_signal(SIGINT, $stop);
        pcntl_signal(SIGHUP, $this->isDaemon ? function (): void {
            $this->hangups++;
        } : $stop);
        $this->due = array_fill(1, $this->count, 0.0);
        $manager = new Manager($this->isDaemon);
        try {
            do {
                $this->start();
                $this->wait();
                $this->reap();
                $this->signal();
                $this->watch();
                $manager->tell($this->isReady(), $this->isStopping, $this->status());
            } while ($this->running || $this->due);
        } finally {
            $this->running && $this->stop();
        }
        $this->summary?->show($this->args);
        return $this->code();
    }

    private function isReady(): bool
    {
        $is = static fn (Process $one): bool => $one->isReady;
        return array_filter($this->running, $is) !== []; // others may find no worker slot
    }

    /** Starts what is due. */
    private function start(): void
    {
        foreach ($this->due as $number => $at) {
            if (self::now() < $at) {
                continue;
            }
            unset($this->due[$number], $this->locked[$number]);
            $more = $this->share($number);
            if ($more === null) {
                continue;
            }
            $this->told[$number] = $this->hangups;
            try {
                $command = [...$this->command, ...$more];
                $this->running[$number] = new Process($command, $this->silence);
            } catch (\MailQueue\Exception $e) {
                $this->error($e->getMessage());
                $this->hasFailed = true;
                $this->isDaemon && $this->due[$number] = self::now() + self::PAUSE;
            }
        }
    }

    /**
     * The options that this process does not share with the others; null: it need not start.
     *
     * @return list<string>|null
     */
    private function share(int $number): ?array
    {
        $more = [];
        if ($this->timeLimit !== null && self::now() - $this->startedAt >= 1.0) {
            $rest = $this->timeLimit - (int) (self::now() - $this->startedAt);
            $more[] = "--time-limit=$rest";
        }
        if ($this->messageLimit !== null) {
            $share = intdiv($this->messageLimit + $this->count - $number, $this->count)
                - ($this->claimed[$number] ?? 0);
            $more[] = "--message-limit=$share";
        }
        return ($rest ?? 1) > 0 && ($share ?? 1) > 0 ? $more : null;
    }

    /** Waits until a process has something to read, or a moment. */
    private function wait(): void
    {
        $streams = array_merge(...array_map(
            static fn (Process $one): array => $one->streams(),
            array_values($this->running)
        ));
        $none = null;
        if ($streams === [] || @stream_select($streams, $none, $none, 0, self::TICK_US) === false) {
            usleep($streams === [] ? self::TICK_US : 0);
        }
        foreach ($this->running as $number => $process) {
            $process->read($this->lines($number));
        }
    }

    /** @return \Closure(int, string): void prints a line of a process */
    private function lines(int $number): \Closure
    {
        return function (int $stream, string $line) use ($number): void {
            if ($stream === 1) {
                echo "$line\n";
                return;
            }
            [$first, $at] = $this->errors[$line] ?? [$number, 0.0];
            if ($first === $number || self::now() - $at > self::REPEATED) {
                $this->errors[$line] = [$number, self::now()];
                Terminal::error($line);
            }
            $this->errors = array_slice($this->errors, -100);
        };
    }

    /** Sees which processes have ended, and what follows. */
    private function reap(): void
    {
        foreach ($this->running as $number => $process) {
            if (!$process->runs($this->lines($number))) {
                unset($this->running[$number]);
                $this->end($number, $process);
            }
        }
        for (; $this->freed > 0 && $this->locked && !$this->isStopping; $this->freed--) {
            // A process that found no worker slot has a share, too.
            $number = array_key_first($this->locked);
            unset($this->locked[$number]);
            $this->due[$number] = self::now();
        }
        if ($this->running === [] && array_diff_key($this->due, $this->locked) === []) {
            $this->due = []; // others have all worker slots
        }
    }

    private function end(int $number, Process $process): void
    {
        $summary = $process->summary();
        $this->summary = $summary === null ? $this->summary
            : ($this->summary?->with($summary) ?? $summary);
        $this->claimed[$number] = ($this->claimed[$number] ?? 0)
            + (int) ($summary?->report['claimed'] ?? 0);
        if ($summary?->end() === 'locked') {
            $this->locked[$number] = true;
        } elseif ($summary?->end() === 'messages') {
            $this->freed++;
        }
        $this->codes[$number] = match ($process->signal) {
            0 => $process->code,
            SIGTERM => ExitCode::OK, // it had told its summary, or died() says more
            default => ExitCode::FINDINGS,
        };
        if ($summary === null && in_array($process->code, self::FATAL, true)) {
            $this->isStopping || $this->stop();
        } elseif ($summary === null && $process->code !== ExitCode::TEMPFAIL) {
            $this->died($number, $process);
        } elseif ($this->isDaemon && !$this->isStopping) {
            $this->replace($number, $process, $summary?->end());
        }
    }

    private function died(int $number, Process $process): void
    {
        if ($this->isStopping && $process->signal === SIGTERM) {
            $this->codes[$number] = ExitCode::OK; // before it had begun
            return;
        }
        $this->codes[$number] = ExitCode::FINDINGS;
        $this->hasFailed = $this->hasFailed || !$this->isDaemon;
        $again = !$this->isStopping && $this->messageLimit === null
            && ($this->isDaemon || ($this->deaths[$number] ?? 0) === 0);
        $pause = $again ? $this->pause($number, $process) : 0;
        $how = $process->signal !== 0 ? "was killed by signal $process->signal"
            : "died with exit code $process->code";
        $this->error("process $number $how"
            . ($again ? "; another one starts in $pause s" : '') . '.');
    }

    private function error(string $text): void
    {
        Terminal::error($this->args->has('json')
            ? Terminal::json(['error' => $text, 'exit' => ExitCode::FINDINGS], 0)
            : "mailqueue: $text");
    }

    /** Plans the process after one that ended, and did not die; none if it ended as it was to. */
    private function replace(int $number, Process $process, ?string $end): void
    {
        if ($end === null || $end === 'signal') {
            $this->pause($number, $process);
        } elseif (!in_array($end, ['time', 'messages'], true)) {
            $pause = $end === 'relay' ? self::PAUSE_RELAY : self::PAUSE;
            $this->due[$number] = self::now() + $pause;
        }
    }

    /** Plans the next process; returns in how many seconds it starts. */
    private function pause(int $number, Process $process): int
    {
        $isNew = self::now() - $process->startedAt < self::PAUSE;
        $deaths = $isNew || !$this->isDaemon ? $this->deaths[$number] ?? 0 : 0;
        $this->deaths[$number] = $deaths + 1;
        $pause = min(self::PAUSE_FIRST << min($deaths, 6), self::PAUSE);
        $this->due[$number] = self::now() + $pause;
        return $pause;
    }

    /** Passes signals on. */
    private function signal(): void
    {
        while ($this->sent < $this->signals) {
            $this->sent++;
            // A second signal cuts off what is under way.
            ($this->sent > 1 || !$this->isStopping) && $this->stop();
        }
        foreach ($this->running as $number => $process) {
            // Before it is ready, SIGHUP would end it.
            if ($process->isReady && $this->told[$number] < $this->hangups) {
                $this->told[$number] = $this->hangups;
                $process->send(SIGHUP);
            }
        }
    }

    private function stop(): void
    {
        $this->isStopping = true;
        $this->due = [];
        $this->killAt ??= self::now() + $this->grace + self::KILL_AFTER;
        foreach ($this->running as $process) {
            $process->send(SIGTERM);
        }
    }

    /** Kills what hangs. */
    private function watch(): void
    {
        foreach ($this->running as $number => $process) {
            $silence = self::now() - $process->heardAt;
            if ($this->killAt !== null && self::now() >= $this->killAt) {
                $process->send(SIGKILL);
            } elseif ($this->isDaemon && !$this->isStopping && $process->isReady
                && !$process->isMute() && $silence > $this->silence) {
                $this->error("process $number hangs: it was silent for $this->silence s.");
                $process->heardAt = self::now();
                $process->send(SIGKILL);
            }
        }
    }

    /** For the service manager. */
    private function status(): string
    {
        $words = ['sent' => 'sent', 'tryLater' => 'to be tried later', 'parked' => 'parked'];
        $sums = ['under way' => 0];
        foreach ($words as $key => $word) {
            $sums[$word] = (int) ($this->summary?->report[$key]);
        }
        foreach ($this->running as $process) {
            preg_match_all('/(\d+) (\D+?)(?:, |$)/', $process->status, $parts, PREG_SET_ORDER);
            foreach ($parts as [, $number, $word]) {
                $sums[$word] = ($sums[$word] ?? 0) + (int) $number;
            }
        }
        $texts = array_map(
            static fn (string $word): string => "$sums[$word] $word",
            [...array_values($words), 'under way']
        );
        return implode(', ', $texts) . '; ' . count($this->running) . ' processes';
    }

    /** 1 if one failed that need not have; else what they agree on. */
    private function code(): int
    {
        $codes = array_unique(array_diff($this->codes, [ExitCode::OK]));
        return $this->hasFailed || count($codes) > 1 ? ExitCode::FINDINGS
            : (int) (current($codes) ?: ExitCode::OK);
    }
}
