<?php

// A file system on a loop device whose image is in a tmpfs. When that is full, writes to blocks that the
// image does not have yet fail, as with a thin volume; when it grows, they work again. The power
// is cut by copying the image. For root, on Linux.

declare(strict_types=1);

namespace Torture;

function shell(string $command): string
{
    exec("$command 2>&1", $lines, $status);
    $text = implode("\n", $lines);
    return $status === 0 ? $text : throw new Failure("$command: exit $status: $text");
}

final class DiskImage
{
    private const MIB = ['ext4' => 40, 'xfs' => 320];
    private const MAKE = [
        'ext4' => 'mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0,lazy_journal_init=0',
        'xfs' => 'mkfs.xfs -q -f -K',
    ];
    /** @var list<string> what is mounted, the last first to go */
    private array $mounted = [];
    public readonly string $root;

    public function __construct(private readonly string $directory, private readonly string $type)
    {
        $image = "$directory/memory/image";
        $this->root = "$directory/root";
        mkdir("$directory/memory", 0700, true);
        mkdir($this->root);
        $this->mount("-t tmpfs -o size=" . (self::MIB[$type] + 40) . 'm tmpfs', "$directory/memory");
        shell('truncate -s ' . self::MIB[$type] . "M $image");
        shell(self::MAKE[$type] . " $image");
        // Only free blocks are missing in the image, not the journal and the inodes.
        shell("dd if=$image of=$image bs=1M conv=notrunc status=none");
        $this->mount("-o loop $image", $this->root);
        // The loop device reports success for a request that it wrote only in part, so each
        // request is one page.
        $device = basename(shell("losetup -j $image -n -O NAME"));
        file_put_contents("/sys/block/$device/queue/max_sectors_kb", '4');
        shell("fstrim $this->root");
    }

    /** Why there cannot be one here; '' if there can. */
    public static function impossible(): string
    {
        $missing = array_filter(['losetup', 'mkfs.ext4', 'mkfs.xfs', 'fstrim'],
            static fn(string $program): bool => !is_executable("/usr/sbin/$program") && !is_executable("/sbin/$program"));
        return match (true) {
            posix_geteuid() !== 0 => 'only root may mount file systems',
            $missing !== [] => 'missing: ' . implode(', ', $missing) . ' (packages mount, e2fsprogs, xfsprogs)',
            !file_exists('/dev/loop-control') => 'no /dev/loop-control: this kernel or container has no loop devices',
            default => '',
        };
    }

    private function mount(string $what, string $where): void
    {
        shell("mount $what $where");
        array_unshift($this->mounted, $where);
    }

    private function size(int $kib): void
    {
        shell("mount -o remount,size={$kib}k $this->directory/memory");
    }

    /** From now on the image gets only $pages more pages. */
    public function fail(int $pages): void
    {
        shell("sync -f $this->root && fstrim $this->root");
        $used = (int) shell("df -k --output=used $this->directory/memory | tail -n 1");
        $this->size($used + 4 * $pages);
    }

    public function work(): void
    {
        $this->size((self::MIB[$this->type] + 40) << 10);
    }

    /**
     * Drops cached pages that are clean or believed clean, so that they are read from the disk
     * again.
     */
    public function evict(): void
    {
        exec("sync -f $this->root 2>/dev/null"); // which may be told of what failed before
        file_put_contents('/proc/sys/vm/drop_caches', '1');
    }

    /** The state when the power comes back, as a directory. */
    public function cut(): string
    {
        $copy = "$this->directory/cut" . count(glob("$this->directory/cut?"));
        mkdir($copy);
        shell("cp --sparse=always $this->directory/memory/image $copy.image");
        $this->mount('-o loop' . ($this->type === 'xfs' ? ',nouuid' : '') . " $copy.image", $copy);
        return $copy;
    }

    public function close(): void
    {
        // The power is cut in the process that has the database open.
        foreach ([...glob("$this->directory/cut?"), ...$this->mounted] as $where) {
            exec("umount $where 2>/dev/null || umount -l $where 2>/dev/null");
        }
        remove_tree($this->directory);
    }
}
