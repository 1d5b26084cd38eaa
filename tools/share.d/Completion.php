<?php

declare(strict_types=1);

namespace MailQueue\Tools;

use MailQueue;
use MailQueue\Cli\Commands;

/** Completions of the command line for bash, zsh and fish. */
final class Completion
{
    /** What an option or an argument can be completed to: words, or files, or nothing. */
    private static function values(string $value): string
    {
        return match (true) {
            in_array($value, ['FILE', 'PATH', 'PATH|DSN', 'FROM', 'TO'], true) => '<files>',
            $value === 'STATUS' => implode(' ', array_column(MailQueue\Status::cases(), 'value')),
            $value === 'POLICY' => 'steps fixed exponential',
            $value === 'KEY' => implode(' ', array_keys(MailQueue::configKeys())),
            preg_match('/\A[a-z]+(\|[a-z]+)+\z/', $value) === 1 => strtr($value, '|', ' '),
            default => '',
        };
    }

    /**
     * The values of a command's first argument.
     *
     * @param array{args: string, actions?: list<string>, ...} $about
     */
    private static function argument(array $about): string
    {
        return isset($about['actions']) ? implode(' ', $about['actions'])
            : self::values(preg_match('/[A-Z]+/', $about['args'], $found) ? $found[0] : '');
    }

    /** The begin of an explanation, as far as it is one thing, with the actions that it is for. */
    private static function brief(string $text): string
    {
        preg_match('/\A(?:(?:(?:for|without) )?[a-z]+(?:, [a-z]+)*: )?/', $text, $actions);
        $rest = substr($text, strlen($actions[0]));
        return $actions[0] . rtrim(preg_split('/[;(]|: |[.,] | that \w+ \[|\.\z/', $rest)[0]);
    }

    /** @return array<string, list<array{string, ?string, string}>> command => name, value, text */
    private static function options(): array
    {
        $tables = ['' => Commands::GLOBAL];
        foreach (Commands::ALL as $command => $about) {
            $tables[$command] = $about['options'];
        }
        $out = [];
        foreach ($tables as $command => $options) {
            $out[$command] = [];
            foreach ($options as $spelling => $text) {
                [$name, $value] = explode('=', $spelling, 2) + [1 => null];
                $out[$command][] = [$name, $value, self::brief($text)];
            }
        }
        return $out;
    }

    public static function bash(): string
    {
        $words = $values = $first = $global = '';
        foreach (self::options() as $command => $options) {
            $names = [];
            foreach ($options as [$name, $value]) {
                $names[] = "--$name" . ($value === null ? '' : '=');
                if ($value !== null) {
                    $pattern = $command === '' ? "*' --$name'" : "'$command --$name'";
                    $values .= "    $pattern) values='" . self::values($value) . "' ;;\n";
                }
            }
            $names = implode(' ', $names);
            $command === '' ? $global = $names : $words .= "    $command) options='$names' ;;\n";
        }
        foreach (Commands::ALL as $command => $about) {
            $found = self::argument($about);
            $first .= $found === '' ? '' : "        $command) values='$found' ;;\n";
        }
        return strtr(file_get_contents(__DIR__ . '/completion.bash'), [
            '@commands@' => implode(' ', array_keys(Commands::ALL)),
            '@global@' => $global,
            "    @options@\n" => $words,
            "    @values@\n" => $values,
            "        @arguments@\n" => $first,
        ]);
    }

    public static function zsh(): string
    {
        $commands = $cases = '';
        $tables = self::options();
        foreach (Commands::ALL as $command => $about) {
            $text = strtr(self::brief($about['text']), ["'" => "'\\''", ':' => '\:']);
            $commands .= "        '$command:$text'\n";
            $specs = self::zshOptions($tables[$command]) . self::zshArguments($about);
            $specs = preg_replace('/^(?=.)/m', '    ', $specs);
            $cases .= $specs === '' ? ''
                : "    $command)\n        specs+=(\n$specs        )\n        ;;\n";
        }
        return strtr(file_get_contents(__DIR__ . '/completion.zsh'), [
            "        @global@\n" => self::zshOptions($tables['']),
            "        @commands@\n" => $commands,
            "    @cases@\n" => $cases,
        ]);
    }

    /** @param list<array{string, ?string, string}> $options */
    private static function zshOptions(array $options): string
    {
        $specs = '';
        foreach ($options as [$name, $value, $text]) {
            $text = strtr($text, ["'" => "'\\''", '[' => '\[', ']' => '\]']);
            $spec = ($name === 'dkim' ? '*' : '') . "--$name";
            $spec .= $value === null ? "[$text]" : "=[$text]:" . strtr($value, [':' => '\:'])
                . ':' . self::zshAction(self::values($value));
            $specs .= "        '$spec'\n";
        }
        return $specs;
    }

    /** @param array{args: string, words: int, actions?: list<string>, ...} $about */
    private static function zshArguments(array $about): string
    {
        if (isset($about['actions'])) {
            return "        '1:ACTION:" . self::zshAction(self::argument($about)) . "'\n"
                . "        '*:FILE:_files'\n";
        }
        preg_match_all('/[A-Z]+/', $about['args'], $found);
        $specs = '';
        foreach ($found[0] as $index => $word) {
            $position = $about['words'] > 2 ? '*' : $index + 1;
            $specs .= "        '$position:$word:" . self::zshAction(self::values($word)) . "'\n";
        }
        return $specs;
    }

    private static function zshAction(string $values): string
    {
        return match ($values) {
            '' => ' ',
            '<files>' => '_files',
            default => "($values)",
        };
    }

    public static function fish(): string
    {
        $quote = static fn (string $text): string
            => "'" . strtr($text, ['\\' => '\\\\', "'" => "\\'"]) . "'";
        $out = file_get_contents(__DIR__ . '/completion.fish')
            . 'set -l commands ' . implode(' ', array_keys(Commands::ALL)) . "\n"
            . "complete -c mailqueue -f\n";
        foreach (Commands::ALL as $command => $about) {
            $out .= 'complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" '
                . "-a $command -d " . $quote(self::brief($about['text'])) . "\n";
            $found = self::argument($about);
            $out .= $found === '' ? '' : "complete -c mailqueue -n '__fish_seen_subcommand_from "
                . "$command'" . self::fishValues($found) . "\n";
        }
        foreach (self::options() as $command => $options) {
            $when = $command === '' ? '' : " -n '__fish_seen_subcommand_from $command'";
            foreach ($options as [$name, $value, $text]) {
                $out .= "complete -c mailqueue$when -l $name -d " . $quote($text)
                    . ($value === null ? '' : ' -r' . self::fishValues(self::values($value)))
                    . "\n";
            }
        }
        return $out;
    }

    private static function fishValues(string $values): string
    {
        return match ($values) {
            '' => ' -f',
            '<files>' => ' -F',
            default => " -f -a '$values'",
        };
    }
}
