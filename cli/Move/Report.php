<?php

declare(strict_types=1);

namespace MailQueue\Cli\Move;

/** What a move did. */
final class Report
{
    public bool $late = false; // the move had ended before: this run copied later mail
    public int $copied = 0; // rows written by this run
    public int $deleted = 0;
    public int $kept = 0; // not deleted: neither the target has them nor has this run read them
    public int $mails = 0; // mails compared; if late: copied; in a dry run: to be copied
    /** @var array<string, int> mails by status */
    public array $counts = [];
    public string $checksum = ''; // XOR of the rows' hashes
    /** @var list<string> the application's own columns in the source */
    public array $ignoredColumns = [];
    /** @var list<string> settings that had another value in the target */
    public array $changedKeys = [];
    /** @var list<string> settings that only the target has */
    public array $keptKeys = [];

    public function __construct()
    {
        $this->reset();
    }

    /** Clears counts and checksum, before all rows are compared. */
    public function reset(): void
    {
        $this->counts = array_fill_keys(array_column(\MailQueue\Status::cases(), 'value'), 0);
        $this->checksum = str_repeat("\0", 32);
    }

    /** Adds a row's hash; adding it again removes it. */
    public function sum(string ...$hashes): void
    {
        foreach ($hashes as $hash) {
            $this->checksum ^= $hash;
        }
    }

    /** @param array<string, int> $counts */
    public function count(array $counts): void
    {
        foreach ($counts as $status => $count) {
            $this->counts[$status] += $count;
        }
    }

    /** @return array<string, mixed> */
    public function toArray(): array
    {
        return array_replace(get_object_vars($this), ['checksum' => bin2hex($this->checksum)]);
    }
}
