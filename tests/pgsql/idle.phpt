--TEST--
Connections of the queue's own: servers end a transaction of theirs that does nothing; a daemon waits for a lock that another holds long
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
$triggers = [
    'pgsql' => ['CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO told VALUES (current_setting(\'idle_in_transaction_session_timeout\')); RETURN NEW; END $$',
        'CREATE TRIGGER tell BEFORE INSERT ON mail_queue FOR EACH ROW EXECUTE PROCEDURE tell()'],
    'mysql' => ['CREATE TRIGGER tell BEFORE INSERT ON mail_queue FOR EACH ROW
        INSERT INTO told VALUES (@@SESSION.idle_write_transaction_timeout)'],
];
$locks = ['pgsql' => ['BEGIN; LOCK TABLE mail_queue, config', 'COMMIT'],
    'mysql' => ['LOCK TABLES mail_queue WRITE, config WRITE', 'UNLOCK TABLES']];
foreach (['pgsql', 'mysql'] as $name) {
    $backend = new Backend($name);
    $pdo = $backend->pdo();
    $own = new MailQueue($backend->dsn);
    $pdo->exec('CREATE TABLE told (what varchar(50))');
    array_map($pdo->exec(...), $triggers[$name]);
    $own->enqueue(mail_fields());
    $backend->queue()->enqueue(mail_fields());
    echo "$name: ", implode(', ', $pdo->query('SELECT what FROM told')->fetchAll(PDO::FETCH_COLUMN)), "\n";

    $daemon = $backend->other('$queue = new MailQueue($dsn, busyTimeout: 300);
        $report = $queue->runWorker("null://null", log: "", daemon: true, timeLimit: 6);
        echo "$report->end, $report->sent sent";');
    usleep(500_000);
    foreach ($locks[$name] as $i => $sql) {
        $pdo->exec($sql);
        $i === 0 && usleep(1_500_000);
    }
    $backend->queue()->enqueue(mail_fields());
    echo $daemon->end()[0], "\n";
}
?>
--EXPECT--
pgsql: 1min, 0
time, 3 sent
mysql: 60, 0
time, 3 sent
