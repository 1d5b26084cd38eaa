<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** Finds the name that a mistyped word was meant to be. */
final class Nearest
{
    private const WORD_MAX = 64;
    private const PART_MIN = 5; // a word at least this long matches if a name contains it

    /**
     * " Did you mean NAME?", or "" if no name is near.
     *
     * @param list<string> $names
     */
    public static function hint(string $word, array $names, string $prefix = ''): string
    {
        $word = strtolower(substr($word, 0, self::WORD_MAX));
        $least = intdiv(strlen($word), 4) + 2;
        $found = null;
        foreach ($names as $name) {
            $isPart = strlen($word) >= self::PART_MIN && stripos($name, $word) !== false;
            $distance = $isPart ? 0 : levenshtein($word, strtolower($name));
            if ($distance < $least) {
                [$least, $found] = [$distance, $name];
            }
        }
        return $found === null ? '' : " Did you mean $prefix$found?";
    }
}
