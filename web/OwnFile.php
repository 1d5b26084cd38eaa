<?php

declare(strict_types=1);

namespace MailQueue\Web;

use MailQueue\Cli\FileAccess;

/**
 * A list that outlives a request. It is in a file of this user: the page keeps nothing of its own
 * in the application's database.
 *
 * @phpstan-type Entry array{int, string}
 */
final class OwnFile
{
    private readonly string $directory;

    /** @param string $without what follows if it cannot be used, as a sentence for people */
    public function __construct(
        private readonly string $name,
        private readonly string $without = ''
    ) {
        $this->directory = sys_get_temp_dir() . '/mailqueue-page-' . FileAccess::user();
    }

    /** Others could write what they like into a directory of theirs. */
    private function isOurs(): bool
    {
        return !is_link($this->directory) && @fileowner($this->directory) === FileAccess::user()
            && (@fileperms($this->directory) & 0077) === 0;
    }

    /**
     * Not by scandir(), which some hosts disable.
     *
     * @return ?array<string, mixed> by their names; null: the directory cannot be read
     */
    private function files(): ?array
    {
        try {
            return iterator_to_array(
                new \FilesystemIterator($this->directory, \FilesystemIterator::KEY_AS_FILENAME)
            );
        } catch (\UnexpectedValueException) {
            return null;
        }
    }

    /**
     * @return list<Entry> times and texts
     * @throws Refusal if they cannot be read
     */
    public function entries(): array
    {
        if (!file_exists($this->directory)) {
            return [];
        }
        $path = "$this->directory/$this->name";
        $files = $this->isOurs() ? $this->files() : null;
        $text = match (true) {
            $files === null => throw $this->foreign(),
            !isset($files[$this->name]) => '[]',
            default => @file_get_contents($path),
        };
        if ($text === false) {
            throw new Refusal('%s cannot be read: the user of this PHP must own it, with mode '
                . '0600. %s', 503, $path, $this->without);
        }
        $kept = json_decode($text, true);
        /** @var list<Entry> $entries */
        $entries = is_array($kept) ? $kept : [];
        return $entries;
    }

    /**
     * @template T
     * @param \Closure(list<Entry>): array{?list<Entry>, T} $change the new list, or null: it stays;
     *     and what to return
     * @return T
     * @throws Refusal if it cannot be kept; the list stays as it was
     */
    public function change(\Closure $change): mixed
    {
        @mkdir($this->directory, 0700);
        $this->isOurs() || throw $this->foreign();
        $path = "$this->directory/$this->name";
        $lock = @fopen("$path.lock", 'c');
        if ($lock === false || !flock($lock, LOCK_EX)) {
            throw $this->unwritable();
        }
        [$entries, $result] = $change($this->entries());
        $text = (string) json_encode($entries);
        // A new file takes the list's place: on a full disk the old one is still there.
        $isKept = $entries === null || (@file_put_contents("$path.new", $text) === strlen($text)
            && @rename("$path.new", $path));
        $isKept || @unlink("$path.new");
        fclose($lock);
        return $isKept ? $result : throw $this->unwritable();
    }

    private function foreign(): Refusal
    {
        return new Refusal('%s must be a directory of the user of this PHP, with mode 0700. '
            . '%s', 503, $this->directory, $this->without);
    }

    private function unwritable(): Refusal
    {
        return new Refusal('%s cannot be written. Is the disk full, or its directory read-only? '
            . '%s', 503, "$this->directory/$this->name", $this->without);
    }
}
