--TEST--
The database is renamed, restored, deleted or copied while it is open: no mail is acknowledged that other processes do not see
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';

/* The references that another process sees. */
function seen(string $path): array
{
    $other = new Other('echo json_encode((new PDO("sqlite:$argv[1]"))->query("SELECT reference FROM mail_queue ORDER BY id")->fetchAll(PDO::FETCH_COLUMN));', $path);
    return json_decode($other->end()[0]);
}

foreach (['wal', 'delete'] as $journal) {
    foreach ([
        'renamed, another in its place' => function (string $path) {
            rename($path, "$path.old");
            @rename("$path-wal", "$path.old-wal");
            @rename("$path-shm", "$path.old-shm");
            new MailQueue($path);
        },
        'restored over it' => function (string $path) use ($journal) {
            new MailQueue("$path.backup", journal: $journal);
            @unlink("$path-wal");
            @unlink("$path-shm");
            rename("$path.backup", $path);
            @rename("$path.backup-wal", "$path-wal");
        },
        'deleted' => function (string $path) {
            array_map('unlink', glob("$path*"));
        },
        'deleted and recreated' => function (string $path) use ($journal) {
            array_map('unlink', glob("$path*"));
            new MailQueue($path, journal: $journal);
        },
        'copied by copy(), another queue beside' => function (string $path) {
            copy($path, "$path.copy");
            $other = new Other('(new MailQueue($argv[1]))->enqueue(null, "other");', $path);
            echo $other->end()[0];
        },
        'copied by copy(), another application beside' => function (string $path) {
            /* copy() drops our locks, so the other process may believe it is the last one and
             * delete the WAL. */
            copy($path, "$path.copy");
            $other = new Other('(new PDO("sqlite:$argv[1]"))->exec("INSERT INTO config VALUES (\'color\', \'red\')");', $path);
            echo $other->end()[0];
        },
    ] as $what => $deed) {
        $path = database();
        $queue = new MailQueue($path, journal: $journal);
        $queue->enqueue(null, 'before');
        $deed($path);
        $acknowledged = [];
        $texts = [];
        for ($i = 1; $i <= 5; $i++) {
            try {
                $queue->enqueue(null, "after $i");
                $acknowledged[] = "after $i";
            } catch (MailQueue\DatabaseException $e) {
                $texts[] = $e->reason;
                must(str_contains($e->getMessage(), $path), "the path is named: {$e->getMessage()}");
            }
        }
        $lost = is_file($path) ? array_diff($acknowledged, seen($path)) : $acknowledged;
        echo "$journal, $what: ", implode(' ', $texts) ?: 'no exception', ', ', count($acknowledged), ' acknowledged, ', count($lost), " lost\n";
        must(!str_contains($what, 'deleted') || is_file($path) === str_contains($what, 'recreated'), 'no file is made in place of one that was deleted');
    }
}
?>
--EXPECTF--
wal, renamed, another in its place: replaced, 4 acknowledged, 0 lost
wal, restored over it: replaced, 4 acknowledged, 0 lost
wal, deleted: replaced cantopen cantopen cantopen cantopen, 0 acknowledged, 0 lost
wal, deleted and recreated: replaced, 4 acknowledged, 0 lost
wal, copied by copy(), another queue beside: %r(replaced, 4|no exception, 5)%r acknowledged, 0 lost
wal, copied by copy(), another application beside: %r(replaced, 4|no exception, 5)%r acknowledged, 0 lost
delete, renamed, another in its place: replaced, 4 acknowledged, 0 lost
delete, restored over it: replaced, 4 acknowledged, 0 lost
delete, deleted: replaced cantopen cantopen cantopen cantopen, 0 acknowledged, 0 lost
delete, deleted and recreated: replaced, 4 acknowledged, 0 lost
delete, copied by copy(), another queue beside: no exception, 5 acknowledged, 0 lost
delete, copied by copy(), another application beside: no exception, 5 acknowledged, 0 lost
