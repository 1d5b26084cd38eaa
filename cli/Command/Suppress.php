<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue;
use MailQueue\Cli\Csv;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Import;
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
        'actions' => ['add', 'remove', 'list', 'import', 'export'],
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
            'scope=SCOPE' => 'the list, as list:news, or campaign:NAME (default of add and import: '
                . 'all mail)',
            'source=TEXT' => 'who or what says so (add, import)',
            'dry-run' => 'say what would be done, change nothing',
            'limit=N' => 'list: how many (default 50)',
            'after=ID' => 'list: only later ones',
        ],
    ];
    private const DEEDS = self::ABOUT['actions'];
    private const COLUMNS = ['address', 'scope', 'reason', 'source', 'created_at'];
    private const AT_ONCE = 1000;

    private Import $import;

    public function run(): int
    {
        $words = $this->args->words;
        $deed = array_shift($words) ?? '';
        $this->import = new Import();
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
        $isDry = $this->args->has('dry-run');
        $queue = $this->settings->queue();
        $this->import->read = count($addresses);
        $rows = array_map(fn (string $address): array
            => $this->row($address, null, null, null, 0), $addresses);
        $added = Internal::suppressMany($queue, $rows, $isDry);
        return $this->tell(['added' => $added], $added);
    }

    /** @param list<string> $addresses */
    private function remove(array $addresses): int
    {
        $queue = $this->settings->queue();
        [$rows, $isComplete] = $this->find($queue, $addresses); // before the first change
        $removed = count($rows);
        if (!$this->args->has('dry-run')) {
            $removed = 0;
            foreach ($addresses as $address) {
                $removed += $queue->unsuppress(
                    $address,
                    $this->args->text('scope'),
                    $this->args->text('reason')
                );
            }
        }
        $code = $this->result(
            ['removed' => $removed],
            fn () => print($this->would() . "$removed removed.\n")
        );
        return $isComplete ? $code : ExitCode::FINDINGS;
    }

    /**
     * Finds the suppressions of addresses that --scope and --reason mean.
     *
     * @param list<string> $addresses
     * @return array{list<array{id: int, address: ?string, scope: ?string, reason: string,
     *      source: ?string, createdAt: int}>, bool} and whether each address has one
     */
    private function find(MailQueue $queue, array $addresses): array
    {
        [$scope, $reason] = [$this->args->text('scope'), $this->args->text('reason')];
        $this->some($queue, PHP_INT_MAX, 1); // a reason that there cannot be is an error
        $found = [];
        $isComplete = true;
        foreach ($addresses as $address) {
            $those = array_filter($queue->suppression($address), static fn (array $one): bool
                => ($scope === null || $scope === ($one['scope'] ?? ''))
                    && ($reason === null || $reason === $one['reason']));
            $found += array_column($those, null, 'id'); // an address may be given twice
            $isComplete = $isComplete && $those !== [];
        }
        return [array_values($found), $isComplete];
    }

    private function would(): string
    {
        return $this->args->has('dry-run') ? 'Would be: ' : '';
    }

    /** @param array<string, int> $result */
    private function tell(array $result, int $added): int
    {
        return $this->result($result, fn () => print($this->would()
            . $this->import->text($added) . ".\n"));
    }

    /** @param list<string> $words */
    private function list(array $words): int
    {
        $queue = $this->settings->queue();
        $limit = $this->args->int('limit', 50, 1, 10_000);
        $after = $this->args->int('after', 0, 0, PHP_INT_MAX);
        [$rows, $isComplete] = $words === [] ? [$this->some($queue, $after, $limit), true]
            : $this->find($queue, $words);
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
        return $isComplete ? $code : ExitCode::FINDINGS;
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
        $file = Import::open($this->file('import', $words, '-'));
        $queue = $this->settings->queue();
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
        $this->import->showFaults();
        $code = $this->tell(['added' => $added, 'read' => $this->import->read,
            'faulty' => $this->import->faulty], $added);
        return $this->import->faulty > 0 ? ExitCode::FINDINGS : $code;
    }

    /**
     * @param resource $file
     * @return \Generator<int, array{string, string, ?string, ?string, int}> rows, by their lines
     */
    private function lines($file): \Generator
    {
        foreach (Csv::rows($file, Csv::firstLine($file), self::COLUMNS) as $line => $row) {
            $this->import->read++;
            if (is_string($row)) {
                $this->import->fault($line, $row);
                continue;
            }
            $at = self::time($row['created_at'] ?? '');
            if ($at === null) {
                $this->import->fault($line, 'created_at is not a time, such as '
                    . '2026-11-26T08:00:00Z');
                continue;
            }
            yield $line => $this->row(
                $row['address'],
                $row['scope'] ?? null,
                $row['reason'] ?? null,
                $row['source'] ?? null,
                $at
            );
        }
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
                $this->import->fault((int) key($rows), $e->getMessage());
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
        Csv::write($file, self::COLUMNS);
        for ($after = 0; $rows = $this->some($queue, $after, 10_000); $after = end($rows)['id']) {
            foreach ($rows as $row) {
                if ($row['address'] === null) {
                    $forgotten++;
                    continue;
                }
                Csv::write($file, [$row['address'], $row['scope'] ?? '', $row['reason'],
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
    private function some(MailQueue $queue, int $after, int $limit): array
    {
        return $queue->suppressions(
            $limit,
            $after,
            $this->args->text('scope'),
            $this->args->text('reason')
        );
    }
}
