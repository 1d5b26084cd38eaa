<?php

declare(strict_types=1);

namespace MailQueue\Web;

/**
 * A list that outlives a request. It is in a file of this user: the page keeps nothing of its own
 * in the application's database.
 *
 * @phpstan-type Entry array{int, string}
 */
final class OwnFile
{
    private readonly string $directory;

    public function __construct(private readonly string $name)
    {
        $this->directory = sys_get_temp_dir() . '/mailqueue-page-' . self::user();
    }

    private static function user(): int
    {
        return function_exists('posix_geteuid') ? posix_geteuid() : (int) getmyuid();
    }

    /** Others could write what they like into a directory of theirs. */
    private function isOurs(): bool
    {
        return !is_link($this->directory) && @fileowner($this->directory) === self::user()
            && (@fileperms($this->directory) & 0077) === 0;
    }

    /** @return list<Entry> times and texts */
    public function entries(): array
    {
        $path = "$this->directory/$this->name";
        return $this->isOurs() && is_file($path)
            ? $this->change(static fn (array $entries): array => [null, $entries]) : [];
    }

    /**
     * @template T
     * @param \Closure(list<Entry>): array{?list<Entry>, T} $change the new list, or null: it stays;
     *     and what to return
     * @return T
     * @throws Refusal if it cannot be kept
     */
    public function change(\Closure $change): mixed
    {
        @mkdir($this->directory, 0700);
        $path = "$this->directory/$this->name";
        $handle = $this->isOurs() ? @fopen($path, 'c+') : false;
        if ($handle === false || !flock($handle, LOCK_EX)) {
            throw new Refusal('Logins cannot be counted, so nobody can log in: %s must be a '
                . 'directory that only this user can write to.', 503, $this->directory);
        }
        $kept = json_decode((string) stream_get_contents($handle), true);
        /** @var list<Entry> $known */
        $known = is_array($kept) ? $kept : [];
        [$entries, $result] = $change($known);
        $text = (string) json_encode($entries);
        $isKept = $entries === null || (ftruncate($handle, 0) && rewind($handle)
            && @fwrite($handle, $text) === strlen($text));
        fclose($handle);
        return $isKept ? $result : throw new Refusal('Logins cannot be counted, so nobody can log '
            . 'in: %s cannot be written. Is the disk full?', 503, $path);
    }
}
