<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** A bar on standard error while something long goes on. */
final class Progress
{
    private const ENDS = ['sent', 'try_later', 'parked', 'expired', 'orphan', 'uncertain'];
    private const PERIOD_S = 0.1;

    private int $done = 0;
    private ?string $text = null;
    private float $drawn = 0.0;
    private readonly int $length;

    /** @param ?int $total null: nobody knows */
    public function __construct(private readonly ?int $total)
    {
        $this->length = max(5, min(30, Terminal::columns(STDERR) - 30));
    }

    /** @param int<0, max> $length without the brackets */
    public static function bar(int $done, int $total, int $length): string
    {
        $full = (int) round($done / max(1, $total) * $length);
        return '[' . str_repeat('#', $full) . str_repeat('.', $length - $full) . ']';
    }

    /** @param array<string, mixed> $event of runWorker() */
    public function event(array $event): void
    {
        if (in_array($event['event'], self::ENDS, true)) {
            $this->at($this->done + 1);
        }
    }

    /** @param ?string $text what to say beside the bar; null: "3 of 10" */
    public function at(int $done, ?string $text = null): void
    {
        $this->done = $done;
        $this->text = $text;
        microtime(true) - $this->drawn < self::PERIOD_S || $this->draw();
    }

    private function draw(): void
    {
        $this->drawn = microtime(true);
        $total = max($this->done, $this->total ?? 0);
        $bar = $this->total === null ? '' : self::bar($this->done, $total, $this->length) . ' ';
        @fwrite(STDERR, "\r$bar" . ($this->text ?? "$this->done of $total"));
    }

    public function end(): void
    {
        if ($this->done > 0) {
            $this->draw();
            @fwrite(STDERR, "\n");
        }
    }
}
