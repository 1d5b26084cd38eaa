<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Nearest;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;
use MailQueue\MessageException;

/** suppress: addresses that get no mail, or none of a list. */
final class Suppress extends Command
{
    /** The entry in Commands::ALL. */
    public const ABOUT = [
        'args' => 'ACTION…',
        'words' => PHP_INT_MAX,
        'text' => 'Addresses that get no mail, or none of a list: add, remove, list, import or '
            . 'export them. Addresses follow, or a CSV file or - (the default). '
            . 'Exit 1 if an address is not there (remove, list), or if a line of the file '
            . 'cannot be taken (import): the others are.',
        'examples' => [
            'mailqueue suppress add --reason complaint name@example.org',
            'mailqueue suppress list name@example.org',
            'mailqueue suppress export suppressed.csv',
            'mailqueue suppress import --dry-run suppressed.csv',
            'mailqueue suppress remove name@example.org',
        ],
        'options' => [
            'reason=REASON' => 'unsubscribe, hard_bounce, complaint or manual (the default of '
                . 'add and import); an unsubscription stops only mail to lists',
            'scope=SCOPE' => 'the list, as list:news (default of add and import: all mail)',
            'source=TEXT' => 'who or what says so (add, import)',
            'dry-run' => 'say what would be done, change nothing',
            'limit=N' => 'list: how many (default 50)',
            'after=ID' => 'list: only later ones',
        ],
    ];
    private const DEEDS = ['add', 'remove', 'list', 'import', 'export'];
    private const COLUMNS = ['address', 'scope', 'reason', 'source', 'created_at'];
    private const AT_ONCE = 1000;
    private const FAULTS_SHOWN = 20;

    /** @var array<int, string> what is wrong with lines of a file */
    private array $faults = [];
    private int $faulty = 0;
    private int $read = 0;

    public function run(): int
    {
        $words = $this->args->words;
        $deed = array_shift($words) ?? '';
        try {
            return $this->do($deed, $words);
        } catch (MessageException | \ValueError $e) {
            throw Stop::usage(ucfirst(rtrim($e->getMessage(), '.')) . '.');
        }
    }

    /** @param list<string> $words */
    private function do(string $deed, array $words): int
    {
        return match ($deed) {
            'add' => $this->add($this->addresses($deed, $words)),
            'remove' => $this->remove($this->addresses($deed, $words)),
            'list' => $this->list($words),
            'import' => $this->import($words),
            'export' => $this->export($words),
            default => throw Stop::usage('suppress takes ' . implode(', ', self::DEEDS)
                . ($deed === '' ? '.' : ', not "' . Terminal::safe($deed) . '".'
                    . Nearest::hint($deed, self::DEEDS))),
        };
    }

    /**
     * @param list<string> $words
     * @return non-empty-list<string>
     */
    private function addresses(string $deed, array $words): array
    {
        return $words ?: throw Stop::usage("suppress $deed takes an address, such as "
            . 'name@example.org.');
    }

    /** @param list<string> $words */
    private function file(string $deed, array $words, string $standard): string
    {
        count($words) < 2 || throw Stop::usage("suppress $deed takes one file, but got "
            . '"' . Terminal::safe($words[1]) . '".');
        $word = $words[0] ?? '-';
        return $word === '-' ? $standard : $word;
    }

    /** @param list<string> $addresses */
    private function add(array $addresses): int
    {
        $queue = $this->settings->queue(create: !$this->args->has('dry-run'));
        $added = 0;
        foreach ($addresses as $address) {
            $row = $this->row($address, null, null, null, 0);
            $added += Internal::suppressMany($queue, [$row], $this->args->has('dry-run'));
        }
        return $this->tell(['added' => $added], count($addresses), 'added', 'were there already');
    }

    /** @param list<string> $addresses */
    private function remove(array $addresses): int
    {
        $queue = $this->settings->queue();
        [$scope, $reason] = [$this->args->text('scope'), $this->args->text('reason')];
        $found = $removed = 0;
        foreach ($addresses as $address) {
            $those = array_filter($queue->suppression($address), static fn (array $one): bool
                => ($scope === null || $scope === ($one['scope'] ?? ''))
                    && ($reason === null || $reason === $one['reason']));
            $found += $those === [] ? 0 : 1;
            $removed += $this->args->has('dry-run') ? count($those)
                : $queue->unsuppress($address, $scope, $reason);
        }
        $code = $this->result(
            ['removed' => $removed],
            fn () => print($this->would() . "$removed removed.\n")
        );
        return $found === count($addresses) ? $code : ExitCode::FINDINGS;
    }

    private function would(): string
    {
        return $this->args->has('dry-run') ? 'Would be: ' : '';
    }

    /** @param array<string, int> $result */
    private function tell(array $result, int $of, string $what, string $others): int
    {
        $count = current($result);
        $rest = $of - $count - $this->faulty;
        return $this->result($result, fn () => print($this->would() . "$count $what"
            . ($rest > 0 ? "; $rest $others" : '') . ".\n"));
    }

    /** @param list<string> $words */
    private function list(array $words): int
    {
        $queue = $this->settings->queue();
        $limit = $this->args->int('limit', 50, 1, 10_000);
        $after = $this->args->int('after', 0, 0, PHP_INT_MAX);
        $rows = $words === [] ? $queue->suppressions(
            $limit,
            $after,
            $this->args->text('scope'),
            $this->args->text('reason')
        ) : array_merge(...array_map($queue->suppression(...), $words));
        $code = $this->result($rows, static fn () => $rows === [] ? print("None.\n")
            : Terminal::table([
                ['id', 'address', 'reason', 'scope', 'since', 'source'],
                ...array_map(static fn (array $row): array => [
                    (string) $row['id'],
                    Terminal::safe($row['address'] ?? '(forgotten)'),
                    $row['reason'],
                    Terminal::safe($row['scope'] ?? 'all mail'),
                    Terminal::time($row['createdAt']),
                    Terminal::safe($row['source']),
                ], $rows),
            ]));
        return $words !== [] && $rows === [] ? ExitCode::FINDINGS : $code;
    }

    /** @return array{string, string, ?string, ?string, int} as Internal::suppressMany() takes it */
    private function row(
        string $address,
        ?string $scope,
        ?string $reason,
        ?string $source,
        int $at
    ): array {
        return [
            $address,
            ($reason ?? '') !== '' ? (string) $reason : $this->args->text('reason') ?? 'manual',
            $scope ?? $this->args->text('scope'),
            $source ?? $this->args->text('source'),
            $at,
        ];
    }

    // ---- files (RFC 4180)

    /** @param list<string> $words */
    private function import(array $words): int
    {
        $name = $this->file('import', $words, 'php://stdin');
        $file = @fopen($name, 'r') ?: throw new Stop("$name cannot be read: "
            . (error_get_last()['message'] ?? ''), ExitCode::NOINPUT);
        $queue = $this->settings->queue(create: !$this->args->has('dry-run'));
        $added = 0;
        $rows = [];
        foreach ($this->lines($file) as $line => $row) {
            $rows[$line] = $row;
            if (count($rows) === self::AT_ONCE) {
                $added += $this->take($queue, $rows);
                $rows = [];
            }
        }
        $added += $this->take($queue, $rows);
        ksort($this->faults);
        foreach ($this->faults as $line => $fault) {
            Terminal::error("Line $line: $fault.");
        }
        $more = $this->faulty - count($this->faults);
        $more <= 0 || Terminal::error("$more more lines cannot be taken.");
        $code = $this->tell(
            ['added' => $added, 'read' => $this->read, 'faulty' => $this->faulty],
            $this->read,
            'added',
            'were there already'
        );
        return $this->faulty > 0 ? ExitCode::FINDINGS : $code;
    }

    /**
     * The rows of a file, by the lines that they begin in. A first line with the word "address"
     * names the columns; without it there is one, the address.
     *
     * @param resource $file
     * @return \Generator<int, array{string, string, ?string, ?string, int}>
     */
    private function lines($file): \Generator
    {
        $places = ['address' => 0];
        $by = ',';
        for ($next = 1; ($cells = fgetcsv($file, null, $by, '"', '')) !== false;) {
            $line = $next;
            $next += 1 + array_sum(array_map(self::lineEnds(...), $cells));
            if ($line === 1) {
                [$by, $cells] = self::first($cells);
                $names = array_map(strtolower(...), array_map(trim(...), $cells));
                if (in_array('address', $names, true)) {
                    $places = array_flip($names);
                    continue;
                }
            }
            if ($cells === [null] || $cells === ['']) {
                continue; // an empty line
            }
            $this->read++;
            $cell = static fn (string $column): ?string
                => isset($places[$column]) ? self::bare($cells[$places[$column]] ?? '') : null;
            $at = self::time($cell('created_at') ?? '');
            if ($at === null) {
                $this->fault($line, 'created_at is not a time, such as 2026-11-26T08:00:00Z');
                continue;
            }
            yield $line => $this->row(
                (string) $cell('address'),
                $cell('scope'),
                $cell('reason'),
                $cell('source'),
                $at
            );
        }
    }

    /**
     * @param list<?string> $cells of the first line
     * @return array{string, list<string>} what is between the cells of the file, and those cells
     */
    private static function first(array $cells): array
    {
        $cells = array_map(strval(...), $cells);
        $cells[0] = (string) preg_replace('/\A\xEF\xBB\xBF/', '', $cells[0]);
        return str_contains($cells[0], ';') // of Excel, in many countries
            ? [';', array_map(strval(...), str_getcsv($cells[0], ';', '"', ''))]
            : [',', $cells];
    }

    private static function lineEnds(?string $cell): int
    {
        return substr_count((string) $cell, "\n");
    }

    /** A cell without what shielded() put before it. */
    private static function bare(string $cell): string
    {
        return (string) preg_replace('/\A\'(?=\'*[=+\-@])/', '', trim($cell));
    }

    /** A cell that no spreadsheet takes for a formula, as it does what begins with one of these. */
    private static function shielded(string $cell): string
    {
        return (string) preg_replace('/\A(?=\'*[=+\-@])/', "'", $cell);
    }

    /** UTC seconds; 0: none is given; null: that is not a time. */
    private static function time(string $text): ?int
    {
        if ($text === '' || preg_match('/\A\d{1,11}\z/', $text) === 1) {
            return (int) $text;
        }
        $time = preg_match('/\A\d{4}-/', $text) === 1 ? strtotime("$text UTC") : false;
        $time = $time === false ? strtotime($text) : $time;
        return $time === false || $time < 0 ? null : $time;
    }

    private function fault(int $line, string $what): void
    {
        $this->faulty++;
        if (count($this->faults) < self::FAULTS_SHOWN) {
            $this->faults[$line] = Terminal::safe($what);
        }
    }

    /**
     * Adds the rows that can be taken.
     *
     * @param array<int, array{string, string, ?string, ?string, int}> $rows by their lines
     */
    private function take(MailQueue $queue, array $rows): int
    {
        $isDry = $this->args->has('dry-run');
        try {
            return Internal::suppressMany($queue, array_values($rows), $isDry);
        } catch (MessageException | \ValueError) {
            $rows = $this->good($queue, $rows);
            return Internal::suppressMany($queue, array_values($rows), $isDry);
        }
    }

    /**
     * Those of the rows that can be taken, found by halves, which are tried and undone.
     *
     * @param array<int, array{string, string, ?string, ?string, int}> $rows
     * @return array<int, array{string, string, ?string, ?string, int}>
     */
    private function good(MailQueue $queue, array $rows): array
    {
        try {
            Internal::suppressMany($queue, array_values($rows), true);
            return $rows;
        } catch (MessageException | \ValueError $e) {
            if (count($rows) === 1) {
                $this->fault((int) key($rows), rtrim($e->getMessage(), '.'));
                return [];
            }
        }
        $half = intdiv(count($rows), 2);
        return $this->good($queue, array_slice($rows, 0, $half, true))
            + $this->good($queue, array_slice($rows, $half, null, true));
    }

    /** @param list<string> $words */
    private function export(array $words): int
    {
        $queue = $this->settings->queue();
        $name = $this->file('export', $words, 'php://output');
        $file = @fopen($name, 'w') ?: throw new Stop("$name cannot be written: "
            . (error_get_last()['message'] ?? ''), ExitCode::CANTCREAT);
        $forgotten = 0;
        self::line($file, self::COLUMNS);
        for ($after = 0; $rows = $this->some($queue, $after); $after = end($rows)['id']) {
            foreach ($rows as $row) {
                if ($row['address'] === null) {
                    $forgotten++;
                    continue;
                }
                self::line($file, [$row['address'], $row['scope'] ?? '', $row['reason'],
                    $row['source'] ?? '', gmdate('Y-m-d\TH:i:s\Z', $row['createdAt'])]);
            }
        }
        fclose($file) || throw new Stop("$name cannot be written.", ExitCode::IOERR);
        $forgotten === 0 || Terminal::error("$forgotten without an address (forgotten) are left "
            . 'out: only this database knows them.');
        return ExitCode::OK;
    }

    /** @return list<array{id: int, address: ?string, scope: ?string, reason: string,
     *      source: ?string, createdAt: int}> */
    private function some(MailQueue $queue, int $after): array
    {
        return $queue->suppressions(
            10_000,
            $after,
            $this->args->text('scope'),
            $this->args->text('reason')
        );
    }

    /**
     * @param resource $file
     * @param list<string> $cells
     */
    private static function line($file, array $cells): void
    {
        fputcsv($file, array_map(self::shielded(...), $cells), ',', '"', '', "\r\n") !== false
            || throw new Stop('The file cannot be written.', ExitCode::IOERR);
    }
}
