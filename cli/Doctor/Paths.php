<?php

declare(strict_types=1);

namespace MailQueue\Cli\Doctor;

use MailQueue\Cli\Terminal;

/** Checks for any file or directory. */
final class Paths extends Check
{
    public const NETWORK = ['nfs', 'nfs4', 'cifs', 'smb3', 'smbfs', 'ncpfs', 'afs', '9p', 'ceph',
        'lustre', 'fuse.sshfs', 'fuse.glusterfs', 'fuse.ceph', 'fuse.s3fs', 'fuse.rclone'];
    private const PUBLIC_NAMES = ['public_html', 'htdocs', 'httpdocs', 'wwwroot',
        'public', 'web', 'webroot'];
    private const WEB_SERVERS = ['/etc/apache2/sites-enabled/*', '/etc/httpd/conf.d/*.conf',
        '/etc/nginx/sites-enabled/*', '/etc/nginx/conf.d/*.conf'];

    public function writable(string $path, string $name, string $cure): void
    {
        $ok = is_writable($path);
        $verdict = $ok ? 'is writable' : 'cannot be written by this user';
        $this->add($ok, "$name $path $verdict", $cure);
    }

    /** @param string ...$beside files that hold a part of the same */
    public function rights(string $path, string $name, string ...$beside): void
    {
        clearstatcache();
        $this->writable(
            $path,
            $name,
            "chown or chmod $path for the user of the cron job."
        );
        $open = self::open(0o002, $path, ...$beside);
        $first = $open[0] ?? $path;
        $this->add(
            $open === [],
            sprintf(
                '%s has mode %04o',
                $first === $path ? $name : $first,
                (int) @fileperms($first) & 0o7777
            ),
            'It can be written by everybody:',
            'chmod o-w ' . implode(' ', array_map(Terminal::word(...), $open))
        );
    }

    /** @return list<string> the files whose mode has this bit; a WAL can go meanwhile */
    public static function open(int $bit, string ...$paths): array
    {
        return array_values(array_filter($paths, static fn (string $path): bool
            => ((int) @fileperms($path) & $bit) !== 0));
    }

    /** The type of the file system that a path is on, as the kernel names it. */
    public static function fileSystem(string $path): string
    {
        $path = realpath($path) ?: $path;
        [$longest, $type] = [-1, 'an unknown file system'];
        foreach (@file('/proc/self/mounts') ?: [] as $line) {
            [, $point, $name] = explode(' ', $line) + ['', '', ''];
            $point = rtrim(stripcslashes($point), '/'); // the kernel writes blanks as \040
            if (str_starts_with($path, "$point/") && strlen($point) >= $longest) {
                [$longest, $type] = [strlen($point), $name];
            }
        }
        return $type;
    }

    public function documentRoot(string $path, string $name, string $how): void
    {
        // Links are followed: a harmless name may lead to a directory that is served.
        $real = realpath($path) ?: realpath(dirname($path)) . '/' . basename($path);
        $root = self::rootOf($path) ?? self::rootOf($real);
        $this->add(
            $root === null,
            $root === null ? "$name is not under a document root"
            : "$name is under $root, which looks like a document root",
            "$real can perhaps be fetched with a browser: move it out of there$how"
        );
    }

    private static function rootOf(string $path): ?string
    {
        foreach (self::documentRoots() as $root) {
            if (str_starts_with($path, "$root/")) {
                return $root;
            }
        }
        $parts = explode('/', dirname($path));
        foreach ($parts as $i => $part) {
            $isUser = $i === 2 && $parts[1] === 'home'; // somebody may be called "web"
            if (in_array($part, self::PUBLIC_NAMES, true) && !$isUser) {
                return implode('/', array_slice($parts, 0, $i + 1));
            }
        }
        return null;
    }

    /** @return list<string> directories that this machine's web servers seem to serve */
    private static function documentRoots(): array
    {
        $home = (string) getenv('HOME');
        $roots = [(string) getenv('DOCUMENT_ROOT'), '/var/www/html', '/srv/www/htdocs',
            '/usr/share/nginx/html', "$home/www", "$home/html"];
        $files = static fn (string $pattern): array => glob($pattern) ?: [];
        foreach (array_merge(...array_map($files, self::WEB_SERVERS)) as $file) {
            $text = (string) @file_get_contents($file);
            preg_match_all('~^\s*(?:DocumentRoot|root)\s+"?([^";\s]+)~mi', $text, $match);
            $roots = [...$roots, ...$match[1]];
        }
        $all = [];
        foreach (array_filter($roots) as $root) {
            $all[] = rtrim($root, '/');
            $all[] = rtrim((string) realpath($root), '/');
        }
        $isPath = static fn (string $root): bool => str_starts_with($root, '/');
        return array_values(array_unique(array_filter($all, $isPath)));
    }
}
