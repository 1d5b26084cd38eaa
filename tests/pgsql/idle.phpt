--TEST--
Connections of the queue's own: servers end a transaction that is idle; a daemon waits for a lock that another process holds for long
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
pcntl
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
$triggers = [
    'pgsql' => ['CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO told VALUES (current_setting(\'idle_in_transaction_session_timeout\')); RETURN NEW; END $$',
        'CREATE TRIGGER tell BEFORE UPDATE ON mail_queue FOR EACH ROW EXECUTE PROCEDURE tell()'],
    'mysql' => ['CREATE TRIGGER tell BEFORE UPDATE ON mail_queue FOR EACH ROW
        INSERT INTO told VALUES (@@SESSION.idle_write_transaction_timeout)'],
];
$locks = ['pgsql' => ['BEGIN; LOCK TABLE config, mail_queue', 'COMMIT'],
    'mysql' => ['LOCK TABLES mail_queue WRITE, config WRITE', 'UNLOCK TABLES']];
$waits = ['pgsql' => 'SELECT count(*) FROM pg_locks WHERE NOT granted',
    'mysql' => "SELECT count(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%'"];
foreach (['pgsql', 'mysql'] as $name) {
    $backend = new Backend($name);
    $pdo = $backend->pdo();
    $other = $backend->pdo();
    $own = new MailQueue($backend->dsn);
    $ids = [$own->enqueue(mail_fields()), $own->enqueue(mail_fields())];
    $pdo->exec('CREATE TABLE told (what varchar(50))');
    array_map($pdo->exec(...), $triggers[$name]);
    $own->hold([$ids[0]]);
    $backend->queue()->hold([$ids[1]]);
    echo "$name: ", implode(', ', $pdo->query('SELECT what FROM told')->fetchAll(PDO::FETCH_COLUMN)), "\n";

    $own->retryFailed($ids);
    $daemon = $backend->other('$queue = new MailQueue($dsn, busyTimeout: 300);
        $report = $queue->runWorker("null://null", log: "", daemon: true);
        echo "$report->end, $report->sent sent";');
    $queue = $backend->queue();
    must(wait_until(fn() => $queue->jobs() === []), 'both are sent');
    $pdo->exec($locks[$name][0]);
    must(wait_until(fn() => (bool) $other->query($waits[$name])->fetchColumn()), 'it waits');
    usleep(1_500_000);
    $pdo->exec($locks[$name][1]);
    $queue->enqueue(mail_fields());
    must(wait_until(fn() => $queue->jobs() === []), 'the third is sent');
    posix_kill($daemon->pid(), SIGTERM);
    echo $daemon->end()[0], "\n";
}
?>
--EXPECT--
pgsql: 1min, 0
signal, 3 sent
mysql: 60, 0
signal, 3 sent
