<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue\Campaign;

/**
 * Adds the recipients in a file to a campaign. The file is CSV, or has a JSON object in each line,
 * as Campaign::add() takes them. Only the line at hand is in memory.
 *
 * @phpstan-type Recipient array{address: string, name?: string|null,
 *     fields?: array<string, mixed>|string|null}
 */
final class RecipientFile
{
    private const COLUMNS = ['address', 'name'];
    /** If none of so many lines can be taken, the file is not for this message. */
    private const HOPELESS = 1000;

    public readonly Import $import;
    private readonly ?Progress $progress;
    private int $line = 0;

    /** @param resource $file */
    public function __construct(
        private readonly Campaign $campaign,
        private $file,
        bool $isShown,
    ) {
        $this->import = new Import();
        $size = (int) (fstat($file)['size'] ?? 0);
        $this->progress = $isShown ? new Progress($size > 0 ? $size : null) : null;
    }

    /** Returns how many were new. A line that cannot be taken does not keep the others back. */
    public function add(): int
    {
        $refused = function (int $number, string $why): void {
            $this->import->fault($this->line, $why);
            $this->giveUp();
        };
        $added = $this->campaign->add($this->recipients(), $refused);
        $this->progress?->end();
        return $added;
    }

    private function giveUp(): void
    {
        if ($this->import->faulty === self::HOPELESS
            && $this->import->read === self::HOPELESS) {
            $this->progress?->end();
            $this->import->showFaults();
            throw new Stop('None of the first ' . self::HOPELESS . ' lines can be taken: stopped '
                . 'here.', ExitCode::DATAERR);
        }
    }

    /** @return \Generator<int, Recipient> */
    private function recipients(): \Generator
    {
        $first = Csv::firstLine($this->file);
        $isJson = str_starts_with(ltrim($first), '{');
        $rows = $isJson ? $this->objects($first) : $this->rows($first);
        foreach ($rows as $line => $row) {
            $this->line = $line;
            $this->import->read++;
            $this->progress?->at(
                (int) ftell($this->file),
                number_format($this->import->read) . ' lines'
            );
            if (is_string($row)) {
                $this->import->fault($line, $row);
                continue;
            }
            yield $row;
        }
    }

    /** @return \Generator<int, Recipient|string> of CSV; an empty cell is a missing field */
    private function rows(string $first): \Generator
    {
        foreach (Csv::rows($this->file, $first, self::COLUMNS) as $line => $row) {
            if (is_string($row)) {
                yield $line => $row;
                continue;
            }
            if ($line === 1 && !str_contains($row['address'], '@')) {
                throw new Stop('The first line names the columns, and one of them must be '
                    . '"address"; it is: ' . substr($first, 0, 200), ExitCode::DATAERR);
            }
            $fields = array_diff_key($row, array_flip(self::COLUMNS));
            yield $line => ['address' => $row['address'], 'name' => $row['name'] ?? null,
                'fields' => array_filter($fields, static fn (string $cell): bool => $cell !== '')];
        }
    }

    /** @return \Generator<int, Recipient|string> of JSON lines */
    private function objects(string $text): \Generator
    {
        for ($line = 1; $text !== false; $line++, $text = fgets($this->file)) {
            if (trim($text) === '') {
                continue;
            }
            $row = json_decode($text, true, 64);
            if (is_array($row['fields'] ?? null)) {
                $row['fields'] = self::member($text, 'fields') ?? $row['fields'];
            }
            if (!is_array($row)) {
                yield $line => 'this is not a JSON object';
                continue;
            }
            /** @var Recipient $row what it has is checked in Campaign::add() */
            yield $line => $row;
        }
    }

    /**
     * A member of a JSON object as it is written there: decoded and encoded, 3.00 would be 3.
     *
     * @param string $object valid JSON
     */
    private static function member(string $object, string $name): ?string
    {
        $members = '/(?:\A\s*\{|\G,)\s*+"((?&in)*+)"\s*+:\s*+((?&value))\s*+'
            . '(?(DEFINE)(?<in>[^"\\\\]|\\\\.)(?<value>"(?&in)*+"'
            . '|[{\[](?:[^"{}\[\]]|"(?&in)*+"|(?=[{\[])(?&value))*+[}\]]|[^\s",{}\[\]]++))/s';
        preg_match_all($members, $object, $match);
        $at = array_search($name, array_reverse($match[1] ?? [], true), true);
        return $at === false ? null : $match[2][$at];
    }
}
