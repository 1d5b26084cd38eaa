--TEST--
A claim that read the settings before a move began takes nothing once it has; nor mail whose recipient was suppressed meanwhile
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
const CLAIM = '$pdo = new PDO($argv[1]); $queue = new MailQueue($pdo); $queue->stats(); echo "ready\n"; fgets(STDIN);
    echo count($queue->claim(5)), "\n";';
$waits = ['pgsql' => 'SELECT count(*) FROM pg_locks WHERE NOT granted',
    'mysql' => "SELECT count(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%'"];
on_backends(['pgsql', 'mysql'], function (Backend $backend) use ($waits): void {
    $queue = $backend->queue();
    foreach (range(1, 3) as $i) {
        $queue->enqueue(mail_fields(to: "r$i@example.net"));
    }
    $locker = $backend->pdo();
    foreach ([null, 'suppressed', '{"mail_queue":"' . str_repeat('a', 32) . '.- moved 0 0 there"}'] as $note) {
        $other = new Other(CLAIM, $backend->dsn);
        $other->line();
        /* It reads the settings, then waits here. */
        $backend->name === 'pgsql' ? $locker->exec('BEGIN; LOCK TABLE mail_queue IN EXCLUSIVE MODE') : $locker->exec('LOCK TABLES mail_queue WRITE');
        $other->tell('go');
        must(wait_until(fn() => (bool) $locker->query($waits[$backend->name])->fetchColumn()), 'it waits');
        if ($note === 'suppressed') {
            $backend->queue()->suppress('r2@example.net');
        } elseif ($note) {
            $backend->pdo()->exec("INSERT INTO config VALUES ('mailQueueMovedTo', '$note')");
        }
        $locker->exec($backend->name === 'pgsql' ? 'COMMIT' : 'UNLOCK TABLES');
        echo match ($note) {
            null => 'not moved: ',
            'suppressed' => 'suppressed: ',
            default => 'moved: ',
        }, $other->end()[0];
        $backend->pdo()->exec("UPDATE mail_queue SET status = 'pending', locked_until = NULL, locked_by = NULL");
    }
});
?>
--EXPECT--
not moved: 3
suppressed: 2
moved: 0
