<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue\Backoff;

/** When failed mail is tried again: --backoff, or the environment, or the queue's default. */
final class Retries
{
    /** The variables that are read here, and the arguments of Backoff::exponential(). */
    private const NAMES = [
        'DISPATCH_BACKOFF_BASE' => 'base', 'DISPATCH_BACKOFF_BASE_SECONDS' => 'base',
        'DISPATCH_BACKOFF_MAX' => 'max', 'DISPATCH_BACKOFF_MAX_SECONDS' => 'max',
        'DISPATCH_BACKOFF_JITTER' => 'jitter', 'DISPATCH_MAX_ATTEMPTS' => 'maxAttempts',
    ];
    /** Variables that are defaults for options of `work`. */
    public const OF_WORK = ['DISPATCH_BATCH', 'DISPATCH_CONNECTIONS', 'DISPATCH_LEASE'];

    private const NUMBER = '/\A\d{1,9}(?:\.\d{1,9})?\z/';
    private const FORMS = 'steps[:ATTEMPTS], fixed[:SECONDS[,ATTEMPTS]] or '
        . 'exponential[:SECONDS[,MAX[,JITTER[,ATTEMPTS]]]]';

    public static function backoff(?string $option): ?Backoff
    {
        return $option === null ? self::ofEnvironment() : self::parse($option);
    }

    private static function parse(string $text): Backoff
    {
        $policies = [
            'steps' => Backoff::steps(...),
            'fixed' => Backoff::fixed(...),
            'exponential' => Backoff::exponential(...),
        ];
        $parts = explode(':', $text, 2);
        $numbers = isset($parts[1]) ? explode(',', $parts[1]) : [];
        $make = $policies[$parts[0]] ?? null;
        if (
            $make === null || preg_grep(self::NUMBER, $numbers, PREG_GREP_INVERT)
            || count($numbers) > (new \ReflectionFunction($make))->getNumberOfParameters()
        ) {
            throw Stop::usage('--backoff must be ' . self::FORMS . ", not \"$text\".");
        }
        try {
            return self::make($make, $numbers);
        } catch (\TypeError | \ValueError $e) {
            [$argument, $why] = self::why($e);
            throw Stop::usage("--backoff: $argument $why.");
        }
    }

    /**
     * @param \Closure $make one of Backoff's
     * @param array<string> $numbers
     */
    private static function make(\Closure $make, array $numbers): Backoff
    {
        return $make(...array_map(static fn (string $n): int|float
            => str_contains($n, '.') ? (float) $n : (int) $n, $numbers));
    }

    /** @return array{string, string} the argument, and what it must be */
    private static function why(\Throwable $e): array
    {
        preg_match('/\(\$(\w+)\) (.*)/', $e->getMessage(), $match);
        return [$match[1] ?? '', $match[2] ?? $e->getMessage()];
    }

    private static function ofEnvironment(): ?Backoff
    {
        /** @var array<string, string> $given */
        $given = [];
        /** @var array<string, string> $from */
        $from = [];
        foreach (self::NAMES as $name => $argument) {
            $text = Arguments::environment($name);
            if ($text !== null) {
                preg_match(self::NUMBER, $text)
                    || throw Stop::config("$name must be a number, not \"$text\".");
                $given[$argument] = $text;
                $from[$argument] = $name;
            }
        }
        try {
            return $given ? self::make(Backoff::exponential(...), $given) : null;
        } catch (\TypeError | \ValueError $e) {
            [$argument, $why] = self::why($e);
            throw Stop::config("{$from[$argument]} $why, not \"{$given[$argument]}\".");
        }
    }

    /** @return array<string, string> DISPATCH_ variables that nothing reads → a hint */
    public static function unread(): array
    {
        $known = [...array_keys(self::NAMES), ...self::OF_WORK];
        $prefix = 'DISPATCH_'; // not compared: a short name would be near any other
        $words = str_replace($prefix, '', $known);
        $hints = [];
        foreach (array_diff(array_keys(getenv()), $known) as $name) {
            if (str_starts_with($name, $prefix)) {
                $word = substr($name, strlen($prefix));
                $hints[$name] = Nearest::hint($word, $words, $prefix);
            }
        }
        return $hints;
    }
}
