<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** The words of the command line, checked. */
final class Arguments
{
    public ?string $command = null;
    /** @var array<string, string|true> */
    public array $options = [];
    /** @var list<string> */
    public array $words = [];

    /** Options that can be given several times; their values are joined with commas. */
    private const SEVERAL = ['dkim'];

    /** @param list<string> $argv without the program's name */
    public function __construct(array $argv)
    {
        $literal = false;
        while (($word = array_shift($argv)) !== null) {
            if ($this->command === 'sendmail' && !preg_match('/\A--./', $word)) {
                // The rest are sendmail's words. None of our options is read after the first of
                // them: programs may add words of strangers there, and --bootstrap runs code.
                $this->words = [$word, ...$argv];
                return;
            }
            if ($literal || preg_match('/\A(?:[^-]|-?\z|-\d)/', $word)) { // "-1" is a number
                $this->word($word);
            } elseif ($word === '--') {
                $literal = true;
            } else {
                $this->option($word === '-h' ? '--help' : $word, $argv);
            }
        }
    }

    private function word(string $word): void
    {
        if ($this->command !== null) {
            $this->words[] = $word;
        } elseif (isset(Commands::ALL[$word])) {
            $this->command = $word;
        } elseif ($word === 'help') {
            $this->options['help'] = true;
        } else {
            throw Stop::usage("There is no command \"$word\"."
                . Nearest::hint($word, array_keys(Commands::ALL))
                . ' mailqueue --help lists them.');
        }
    }

    /** @param list<string> $rest */
    private function option(string $word, array &$rest): void
    {
        $parts = explode('=', substr($word, 2), 2);
        [$name, $value] = [$parts[0], $parts[1] ?? null];
        $spelling = str_starts_with($word, '--') ? $this->spelling($name) : null;
        if ($spelling === null) {
            $of = $this->command === null ? '' : " $this->command";
            throw Stop::usage("Unknown option $word."
                . Nearest::hint(ltrim(explode('=', $word)[0], '-'), $this->known(), '--')
                . " mailqueue$of --help lists the options"
                . ($of === '' ? ' (options of a command come after it).' : '.'));
        }
        $takesValue = str_contains($spelling, '=');
        if (!$takesValue && $value !== null) {
            throw Stop::usage("--$name takes no value.");
        }
        if ($takesValue && $value === null && ($value = array_shift($rest)) === null) {
            throw Stop::usage("--$name needs a value: --$spelling");
        }
        $before = in_array($name, self::SEVERAL, true) ? $this->options[$name] ?? null : null;
        $value = $before === null ? $value : "$before,$value";
        $this->options[$name] = $value ?? true;
    }

    /** Returns "name" or "name=VALUE", as the tables of Commands spell it; null: not an option. */
    private function spelling(string $name): ?string
    {
        foreach ($this->spellings() as $spelling) {
            if (explode('=', $spelling)[0] === $name) {
                return $spelling;
            }
        }
        return null;
    }

    /** @return list<string> */
    private function spellings(): array
    {
        return array_keys(Commands::GLOBAL
            + ($this->command === null ? [] : Commands::ALL[$this->command]['options']));
    }

    /** @return list<string> */
    private function known(): array
    {
        $name = static fn (string $spelling): string => explode('=', $spelling)[0];
        return array_map($name, $this->spellings());
    }

    /** Checks the number of words, and that sendmail got no option that it refuses. */
    public function check(): void
    {
        $about = Commands::ALL[(string) $this->command];
        if (count($this->words) > $about['words']) {
            $taken = $about['words'] === 0 ? 'no arguments' : $about['args'];
            $excess = $this->words[$about['words']];
            throw Stop::usage("$this->command takes $taken, but got \"$excess\".");
        }
        $barred = array_intersect(Commands::NOT_SENDMAIL, array_keys($this->options));
        if ($this->command === 'sendmail' && $barred) {
            throw Stop::usage('sendmail takes no --' . current($barred) . ': programs give it '
                . 'words of strangers. Name the queue with --database, --table, --config-table '
                . 'and --reference-column.');
        }
    }

    public function has(string $option): bool
    {
        return isset($this->options[$option]);
    }

    /** The option's value, or the environment's, or php.ini's; the last two only if not empty. */
    public function text(string $option, ?string $environment = null, ?string $ini = null): ?string
    {
        $value = $this->options[$option] ?? null;
        if (is_string($value)) {
            return $value;
        }
        $value = $environment === null ? null : self::environment($environment);
        return $value ?? ($ini === null ? null : (ini_get($ini) ?: null));
    }

    public static function environment(string $name): ?string
    {
        $value = getenv($name);
        return $value === false || $value === '' ? null : $value;
    }

    /** @return ($default is null ? int|null : int) */
    public function int(
        string $option,
        ?int $default,
        int $min = PHP_INT_MIN,
        int $max = PHP_INT_MAX
    ): ?int {
        $value = $this->text($option);
        return $value === null ? $default : self::whole($value, $min, $max)
            ?? throw Stop::usage(self::range("--$option", $value, $min, $max));
    }

    /** A number of bytes: "64M", as in php.ini. */
    public function bytes(string $option): ?int
    {
        $value = $this->text($option);
        if ($value === null) {
            return null;
        }
        if (!preg_match('/\A0*([1-9]\d{0,9})([KMG]?)\z/i', $value, $match)) {
            throw Stop::usage("--$option must be a number of bytes, such as 64M, not \"$value\".");
        }
        return (int) $match[1] << ['' => 0, 'K' => 10, 'M' => 20, 'G' => 30][strtoupper($match[2])];
    }

    public static function environmentInt(string $name, int $min, int $max): ?int
    {
        $value = self::environment($name);
        return $value === null ? null : self::whole($value, $min, $max)
            ?? throw Stop::config(self::range($name, $value, $min, $max));
    }

    private static function whole(string $text, int $min, int $max): ?int
    {
        $value = preg_match('/\A-?\d{1,18}\z/', $text) ? (int) $text : null;
        return $value !== null && $value >= $min && $value <= $max ? $value : null;
    }

    private static function range(string $name, string $value, int $min, int $max): string
    {
        $range = match (true) {
            $min === PHP_INT_MIN => '',
            $max === PHP_INT_MAX => ", $min or more",
            default => ", $min to $max",
        };
        return "$name must be a whole number$range, not \"$value\".";
    }

    /** Seconds of a span such as 90s, 15m, 12h or 7d; null: it is none. */
    public static function span(string $text): ?int
    {
        $units = ['s' => 1, 'm' => 60, 'h' => 3600, 'd' => 86400];
        return preg_match('/\A(\d{1,9})([smhd])\z/', $text, $match)
            ? (int) $match[1] * $units[$match[2]] : null;
    }

    /** UTC seconds of a time such as 2026-11-21 or "2 hours ago" (UTC); null: it is none. */
    public static function time(string $text): ?int
    {
        try {
            // An empty text would mean now, and 2025 a time of today: 20:25.
            return preg_match('/\A\s*\d{0,4}\s*\z/', $text) ? null
                : (new \DateTimeImmutable($text, new \DateTimeZone('UTC')))->getTimestamp();
        } catch (\Exception) {
            return null;
        }
    }

    /** @return list<int> */
    public function ids(bool $required): array
    {
        if ($required && !$this->words) {
            $filter = $this->spelling('yes') === null ? '' : ', or a filter such as --status';
            throw Stop::usage("$this->command needs at least one id$filter. mailqueue list shows "
                . 'the ids.');
        }
        foreach ($this->words as $word) {
            if (!preg_match('/\A[1-9]\d{0,17}\z/', $word)) {
                throw Stop::usage("\"$word\" is not the id of a mail. mailqueue list shows them.");
            }
        }
        return array_map(intval(...), array_values(array_unique($this->words)));
    }
}
