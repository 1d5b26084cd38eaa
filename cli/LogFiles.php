<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** The worker's log and its rotated files: JSON lines, the oldest first. */
final class LogFiles
{
    private const LINE_MAX = 1 << 20;

    /** Lines that cannot be parsed, such as one that a full disk cut off. */
    public int $unreadable = 0;
    /** @var list<string> files that this user or PHP cannot read */
    public array $skipped = [];

    public function __construct(private readonly string $path)
    {
        if (in_array($path, ['/dev/stdout', '/dev/stderr'], true)) {
            throw Stop::config("The log goes to $path, where it cannot be read again: look where "
                . 'its output is kept (journalctl, docker logs), or name a file with --log.');
        }
        if (!@is_file($path)) {
            throw new Stop('There is no log ' . Terminal::safe($path) . ', or this user cannot '
                . 'reach it. No worker has run, or the cron job names another log (MAIL_QUEUE_LOG '
                . 'or --log): give it with --log.', ExitCode::CANTCREAT);
        }
        if (!@is_readable($path)) {
            throw new Stop('The log ' . Terminal::safe($path) . ' cannot be read by this user: it '
                . 'belongs to the user of the cron job.', ExitCode::NOPERM);
        }
    }

    /** @return \Generator<int, array<string, int|string>> events since a time, in UTC seconds */
    public function events(int $since): \Generator
    {
        foreach ($this->files() as $file) {
            if ((int) @filemtime($file) < $since) {
                continue; // its last line is older than $since
            }
            $handle = self::open($file);
            if ($handle === null) {
                $this->skipped[] = $file;
                continue;
            }
            while (($line = @fgets($handle, self::LINE_MAX)) !== false) {
                $event = self::event($line);
                $at = strtotime((string) ($event['time'] ?? ''));
                if ($at === false || !isset($event['event'])) {
                    $this->unreadable += trim($line) === '' ? 0 : 1;
                } elseif ($at >= $since) {
                    yield $event;
                }
            }
            fclose($handle);
        }
    }

    /** @return array<string, int|string> numbers as they are, all else as text */
    private static function event(string $line): array
    {
        $event = json_decode($line, true, 4);
        return array_map(static fn (mixed $value): int|string => is_int($value) ? $value
            : (string) $value, array_filter(is_array($event) ? $event : [], is_scalar(...)));
    }

    /** @return list<string> "log.2.gz", "log-20261121", …, "log": by the time of the last line */
    private function files(): array
    {
        $isRotated = '/\A' . preg_quote(basename($this->path), '/')
            . '(?:\.\d+|[.-]\d{4}-?\d\d-?\d\d(?:[-.]?\d+)?)(?:\.(?:gz|bz2|xz|zst))?\z/';
        $names = preg_grep($isRotated, @scandir(dirname($this->path)) ?: []) ?: [];
        natsort($names);
        $files = array_map(
            fn (string $name): string => dirname($this->path) . "/$name",
            array_reverse($names)
        );
        $files = array_filter($files, is_file(...));
        usort($files, static fn (string $a, string $b): int => filemtime($a) <=> filemtime($b));
        return [...$files, $this->path];
    }

    /** @return resource|null */
    private static function open(string $file)
    {
        $isPlain = !preg_match('/\.(gz|bz2|xz|zst)\z/', $file, $match);
        $wrappers = ['gz' => 'compress.zlib://', 'bz2' => 'compress.bzip2://'];
        $wrapper = $wrappers[$match[1] ?? ''] ?? '';
        $isKnown = $isPlain || in_array(rtrim($wrapper, ':/'), stream_get_wrappers(), true);
        return $isKnown ? (@fopen($wrapper . $file, 'rb') ?: null) : null;
    }
}
