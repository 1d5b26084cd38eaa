<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue\Backoff;

/** When failed mail is tried again: --backoff, or the environment, or the queue's default. */
final class Retries
{
    /** The variables that are read here; a name with _SECONDS means the same as without. */
    private const NAMES = [
        'DISPATCH_BACKOFF_BASE', 'DISPATCH_BACKOFF_BASE_SECONDS',
        'DISPATCH_BACKOFF_MAX', 'DISPATCH_BACKOFF_MAX_SECONDS',
        'DISPATCH_BACKOFF_JITTER', 'DISPATCH_MAX_ATTEMPTS',
    ];
    /** Variables that are defaults for options of `work`. */
    private const OF_WORK = ['DISPATCH_BATCH', 'DISPATCH_CONNECTIONS', 'DISPATCH_LEASE'];

    private const FORMS = 'steps[:ATTEMPTS], fixed[:SECONDS[,ATTEMPTS]] or '
        . 'exponential[:SECONDS[,MAX[,JITTER[,ATTEMPTS]]]]';

    public static function backoff(?string $option): ?Backoff
    {
        return $option === null ? self::ofEnvironment() : self::parse($option);
    }

    private static function parse(string $text): Backoff
    {
        /** @var array<string, \Closure(int|float...): Backoff> $policies */
        $policies = [
            'steps' => Backoff::steps(...),
            'fixed' => Backoff::fixed(...),
            'exponential' => Backoff::exponential(...),
        ];
        [$policy, $list] = explode(':', $text, 2) + [1 => null];
        $numbers = $list === null ? [] : explode(',', $list);
        $make = $policies[$policy] ?? null;
        $isNone = '/\A(?!\d{1,9}(?:\.\d{1,9})?\z)/';
        if (
            $make === null || preg_grep($isNone, $numbers)
            || count($numbers) > (new \ReflectionFunction($make))->getNumberOfParameters()
        ) {
            throw Stop::usage('--backoff must be ' . self::FORMS . ", not \"$text\".");
        }
        try {
            return $make(...array_map(static fn (string $n): int|float
                => str_contains($n, '.') ? (float) $n : (int) $n, $numbers));
        } catch (\TypeError | \ValueError $e) {
            $why = preg_replace('/\A.*?\(\$(\w+)\) /', '$1 ', $e->getMessage());
            throw Stop::usage("--backoff: $why.");
        }
    }

    private static function ofEnvironment(): ?Backoff
    {
        $isSet = static fn (string $name): bool => Arguments::environment($name) !== null;
        if (!array_filter(self::NAMES, $isSet)) {
            return null;
        }
        $jitter = Arguments::environment('DISPATCH_BACKOFF_JITTER') ?? '0.2';
        if (!is_numeric($jitter) || (float) $jitter < 0 || (float) $jitter > 1) {
            throw Stop::config(
                "DISPATCH_BACKOFF_JITTER must be a number from 0 to 1, not \"$jitter\"."
            );
        }
        return Backoff::exponential(
            base: self::seconds('DISPATCH_BACKOFF_BASE', 30),
            max: self::seconds('DISPATCH_BACKOFF_MAX', 3600),
            jitter: (float) $jitter,
            maxAttempts: Arguments::environmentInt('DISPATCH_MAX_ATTEMPTS', 5, 1, 1000),
        );
    }

    private static function seconds(string $name, int $default): int
    {
        $default = Arguments::environmentInt($name, $default, 1, 31_622_400);
        return Arguments::environmentInt("{$name}_SECONDS", $default, 1, 31_622_400);
    }

    /** @return array<string, string> DISPATCH_ variables that nothing reads → a hint */
    public static function unread(): array
    {
        $known = [...self::NAMES, ...self::OF_WORK];
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
