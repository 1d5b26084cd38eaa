<?php

// A disk whose writes fail for a while and then work again, under ext4 and XFS: each scenario with
// SQLite alone, through PDO with synchronous=FULL, and with the queue, one after the other on disks
// of their own. What is acknowledged and gone after the power cut, or a file that is not sound, is
// counted on both sides; the queue must never be worse. (SQLite alone is not good: on ext4 what it
// writes again over a failed write is lost, and a checkpoint while the disk fails costs the file.)
//
// And a backup that is copied over the file in place, with idle objects, producers and a worker open.
//
// Seen to fail: the WAL not cut after a sync that failed (the scenario "stays open" on ext4), the
// disk not asked before the checkpoint (the same, with the whole file lost), no WAL known to an
// object that only read ("restored").

declare(strict_types=1);

namespace Torture;

use MailQueue;
use PDO;

// If nothing else writes to the file, nothing at all is lost.
const SAFE = ['stays open', 'requests', 'one failure', 'ends meanwhile', 'evicted', 'worker beside'];

/** One way to store: the queue's, or SQLite's own. */
abstract class Store
{
    /** @var list<string> */
    public array $acknowledged = [];
    public int $refused = 0;

    public function __construct(public readonly string $path) {}

    abstract public function open(): void;
    abstract protected function put(string $key): void;
    abstract public function close(): void;

    public function store(string $prefix, int $count): void
    {
        for ($i = 0; $i < $count; $i++) {
            try {
                $this->open();
                $this->put("$prefix$i");
                $this->acknowledged[] = "$prefix$i";
            } catch (\PDOException | MailQueue\DatabaseException) {
                $this->refused++;
            }
        }
    }
}

final class QueueStore extends Store
{
    private ?MailQueue $queue = null;

    public function open(): void
    {
        $this->queue ??= new MailQueue($this->path, journal: 'wal', busyTimeout: 2000);
    }

    protected function put(string $key): void
    {
        // Due tomorrow: a worker beside it sees the mail and leaves it.
        $this->queue->enqueue(message($key, 1), $key, sendAt: time() + 86400, envelopeFrom: 'shop@example.org',
            recipients: ['a@example.com']);
    }

    public function close(): void
    {
        $this->queue = null;
    }
}

/** Prepared statements on one connection, as an application has them. */
final class PdoStore extends Store
{
    private ?PDO $pdo = null;

    public function open(): void
    {
        if ($this->pdo === null) {
            $pdo = connect($this->path);
            $pdo->exec('PRAGMA synchronous=FULL');
            $this->pdo = $pdo;
        }
    }

    protected function put(string $key): void
    {
        try {
            $this->pdo->exec('BEGIN IMMEDIATE');
            $this->pdo->prepare("INSERT INTO mail_queue (reference, mail_type, status, next_attempt_at, created_at, message_id)
                VALUES (?, 'mail', 'pending', ?, 0, ?)")->execute([$key, time() + 86400, $key]);
            $this->pdo->prepare('INSERT INTO mail_body VALUES (last_insert_rowid(), ?)')->execute([message($key, 1)]);
            $this->pdo->exec('COMMIT');
        } catch (\PDOException $e) {
            try {
                $this->pdo->exec('ROLLBACK');
            } catch (\PDOException) {
                // SQLite has already rolled back.
            }
            throw $e;
        }
    }

    public function close(): void
    {
        $this->pdo = null;
    }
}

/** A worker's run that claims nothing; for SQLite alone, the closest equivalent. */
function work_beside(Store $store): void
{
    try {
        if ($store instanceof QueueStore) {
            (new MailQueue($store->path))->runWorker('null://null', timeLimit: 1, grace: 1, log: '');
        } else {
            $pdo = connect($store->path);
            $pdo->exec('PRAGMA synchronous=FULL');
            $pdo->exec("BEGIN IMMEDIATE; UPDATE mail_queue SET priority = 0 WHERE status = 'sending'; COMMIT");
        }
    } catch (\PDOException | MailQueue\DatabaseException) {
        $store->refused++;
    }
}

/**
 * The actions while the disk fails and afterwards.
 *
 * @return array<string, callable(Store, DiskImage, int): void>
 */
function disk_scenarios(): array
{
    $around = static fn(int $fault, int $after, bool $closes): callable =>
        static function (Store $store, DiskImage $disk, int $pages) use ($fault, $after, $closes): void {
            $round = static function (string $prefix, int $count) use ($store, $closes): void {
                for ($i = 0; $i < ($closes ? $count : 1); $i++) {
                    $store->store("$prefix$i.", $closes ? 1 : $count);
                    $closes && $store->close();
                }
            };
            $round('before', 60);
            $disk->fail($pages);
            $round('during', $fault);
            $disk->work();
            $round('after', $after);
        };
    return [
        'stays open' => $around(8, 20, false),
        'requests' => $around(8, 20, true),
        'one failure' => $around(1, 5, false),
        'ends meanwhile' => static function (Store $store, DiskImage $disk, int $pages): void {
            $store->store('before', 60);
            $disk->fail($pages);
            $store->store('during', 3);
            $store->close();
            $disk->work();
            $store->store('after', 10);
        },
        'evicted' => static function (Store $store, DiskImage $disk, int $pages) use ($around): void {
            $around(6, 10, false)($store, $disk, $pages);
            $disk->evict();
            $store->store('evicted', 5);
            connect($store->path)->query('PRAGMA wal_checkpoint(TRUNCATE)')->fetchAll();
            $store->store('copied', 5);
        },
        'worker beside' => static function (Store $store, DiskImage $disk, int $pages): void {
            $store->store('before', 60);
            $disk->fail($pages);
            $store->store('during', 4);
            work_beside($store);
            $store->store('still', 4);
            $disk->work();
            work_beside($store);
            $store->store('after', 20);
        },
        'application beside' => static function (Store $store, DiskImage $disk, int $pages): void {
            $application = new PdoStore($store->path);
            $application->store('app', 20);
            $store->store('before', 40);
            $disk->fail($pages);
            for ($i = 0; $i < 4; $i++) {
                $store->store("during$i.", 1);
                $application->store("app-during$i.", 1);
            }
            $disk->work();
            for ($i = 0; $i < 10; $i++) {
                $store->store("after$i.", 1);
                $application->store("app-after$i.", 1);
            }
            $store->acknowledged = [...$store->acknowledged, ...$application->acknowledged];
        },
    ];
}

/**
 * A scenario on a disk of its own, in a process of its own.
 *
 * @return array{acknowledged: int, refused: int, lost: list<string>, sound: bool}
 */
function suffer(string $directory, string $type, string $scenario, string $class, int $pages): array
{
    $disk = new DiskImage($directory, $type);
    try {
        return apart(static function () use ($disk, $scenario, $class, $pages): array {
            new MailQueue("$disk->root/db", journal: 'wal');
            $store = new $class("$disk->root/db");
            disk_scenarios()[$scenario]($store, $disk, $pages);
            $left = $disk->cut();
            $store->close(); // before another process is forked
            return ['acknowledged' => count($store->acknowledged), 'refused' => $store->refused]
                + apart(static fn(): array => find("$left/db", $store->acknowledged));
        });
    } finally {
        $disk->close();
    }
}

/** @return array{lost: list<string>, sound: bool} */
function find(string $path, array $acknowledged): array
{
    try {
        $pdo = connect($path);
        $sound = $pdo->query('PRAGMA integrity_check')->fetchColumn() === 'ok';
        $there = $pdo->query('SELECT reference FROM mail_queue JOIN mail_body USING (id)')->fetchAll(PDO::FETCH_COLUMN);
    } catch (\PDOException) {
        [$sound, $there] = [false, []];
    }
    return ['lost' => array_values(array_diff($acknowledged, $there)), 'sound' => $sound];
}

/** @param array<class-string, array<string, mixed>> $seen what suffer() returned */
function compare_losses(Row $row, string $scenario, string $what, array $seen): void
{
    [$ours, $theirs] = [$seen[QueueStore::class], $seen[PdoStore::class]];
    $figures = static fn(array $of): string => "$of[acknowledged] acknowledged, $of[refused] refused, "
        . count($of['lost']) . ' lost' . ($of['sound'] ? '' : ', not sound');
    printf("    %-28s queue: %s; SQLite alone: %s\n", $what, $figures($ours), $figures($theirs));
    $row->count('runs', 1);
    $row->count('lost', count($ours['lost']));
    $row->count('lost-by-sqlite', count($theirs['lost']));
    $row->count('unsound', (int) !$ours['sound']);
    $row->count('unsound-by-sqlite', (int) !$theirs['sound']);
    $row->check(count($ours['lost']) <= count($theirs['lost']), "$what: lost more than SQLite alone: " . implode(' ', array_slice($ours['lost'], 0, 8)));
    $row->check($ours['lost'] === [] || !in_array($scenario, SAFE, true), "$what: lost: " . implode(' ', array_slice($ours['lost'], 0, 8)));
    $row->check($ours['sound'] || !$theirs['sound'], "$what: the file is not sound, SQLite's own is");
    $row->check($ours['refused'] > 0 || $theirs['refused'] === 0, "$what: the queue reported no error, SQLite did");
}

/** A backup is copied over the file, its WAL removed: mail acknowledged afterwards stays. */
function restored(Row $row): void
{
    $path = "$row->directory/restored.db";
    $others = begin(static function () use ($path): array {
        wait_until('the restore', static fn(): bool => is_file("$path.restored"));
        $other = new QueueStore($path);
        $other->store('after', 40);
        touch("$path.stored");
        return $other->acknowledged;
    });
    $acknowledged = apart(static function () use ($path): array {
        $store = new QueueStore($path);
        $store->store('before', 10);
        $idle = new MailQueue($path, journal: 'wal');
        $idle->stats();
        $wrote = new MailQueue($path, journal: 'wal');
        $wrote->setConfig('mailBurst', 5);
        shell("sqlite3 $path '.backup $path.backup'");
        $store->store('gone', 10);
        shell("cp $path.backup $path && rm -f $path-wal $path-shm && touch $path.restored");
        wait_until('what others store', static fn(): bool => is_file("$path.stored"));
        $store->acknowledged = [];
        $store->store('reopened', 10);
        $idle = $wrote = null;
        $store->close();
        return $store->acknowledged;
    });
    $acknowledged = [...$acknowledged, ...result($others)];
    $found = apart(static fn(): array => find($path, $acknowledged));
    $row->count('restored', count($acknowledged));
    $row->count('lost', count($found['lost']));
    $row->check($found['sound'], 'restored in place: the file is not sound');
    $row->check($found['lost'] === [], 'restored in place: acknowledged and gone: ' . implode(' ', array_slice($found['lost'], 0, 8)));
    $row->check(count($acknowledged) >= 30, 'restored in place: only ' . count($acknowledged) . ' were stored');
}

function disk(Row $row): void
{
    restored($row);
    $why = DiskImage::impossible();
    if ($why !== '') {
        $row->skip($why);
        return;
    }
    foreach (['ext4', 'xfs'] as $type) {
        foreach (array_keys(disk_scenarios()) as $number => $scenario) {
            $pages = mt_rand(0, 6);
            $seen = [];
            foreach ([QueueStore::class, PdoStore::class] as $side => $class) {
                $seen[$class] = suffer("$row->directory/$type-$number-$side", $type, $scenario, $class, $pages);
            }
            compare_losses($row, $scenario, "$type, $scenario, $pages pages", $seen);
        }
    }
}
