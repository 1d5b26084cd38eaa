<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** A bar on standard error while mails go out. */
final class Progress
{
    private const ENDS = ['sent', 'try_later', 'parked', 'expired', 'orphan', 'uncertain'];
    private const PERIOD_S = 0.1;

    private int $done = 0;
    private float $drawn = 0.0;
    private readonly int $length;

    public function __construct(private readonly int $total)
    {
        $this->length = max(5, min(30, Terminal::columns(STDERR) - 30));
    }

    /** @param array<string, mixed> $event of runWorker() */
    public function event(array $event): void
    {
        if (in_array($event['event'], self::ENDS, true)) {
            $this->done++;
            microtime(true) - $this->drawn < self::PERIOD_S || $this->draw();
        }
    }

    private function draw(): void
    {
        $this->drawn = microtime(true);
        $total = max($this->done, $this->total);
        $full = (int) round($this->done / max(1, $total) * $this->length);
        $bar = str_repeat('#', $full) . str_repeat('.', $this->length - $full);
        @fwrite(STDERR, "\r[$bar] $this->done of $total");
    }

    public function end(): void
    {
        if ($this->done > 0) {
            $this->draw();
            @fwrite(STDERR, "\n");
        }
    }
}
