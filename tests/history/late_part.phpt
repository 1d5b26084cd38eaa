--TEST--
A part that is committed while its hour is added up is not lost, however old it is
--EXTENSIONS--
mailqueue
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
on_backends(['pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $queue->stats();
    $pdo = $backend->pdo();
    $is_pgsql = $backend->name === 'pgsql';
    $hours = intdiv(time(), 3600) * 3600;
    $add = fn(PDO $to, int $hour, int $part, int $mails) => $to->exec(
        "INSERT INTO mail_count (hour, mail_type, event, part, mails, recipients) VALUES ($hour, 'mail', 'sent', $part, $mails, $mails)");
    $sums = fn(): string => json_encode($pdo->query('SELECT hour, sum(mails), sum(recipients), max(part) FROM mail_count
        GROUP BY hour ORDER BY hour')->fetchAll(PDO::FETCH_NUM), JSON_NUMERIC_CHECK);
    $relative = fn(string $json): string => preg_replace_callback('/\d{10}/', fn($m) => '"' . ($hours - $m[0]) / 3600 . ' h ago"', $json);

    // A worker that adds up waits for the lock of the test, after it has stored the sum.
    $pdo->exec($is_pgsql
        ? "CREATE FUNCTION wait_here() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END'"
        : "CREATE TRIGGER wait_here AFTER INSERT ON mail_count FOR EACH ROW BEGIN DECLARE ignored INT;
            IF NEW.part = 0 THEN SET ignored = GET_LOCK('here', 30); END IF; END");
    $is_pgsql && $pdo->exec('CREATE TRIGGER wait_here AFTER INSERT ON mail_count FOR EACH ROW WHEN (NEW.part = 0) EXECUTE PROCEDURE wait_here()');
    $add($pdo, $hours - 3 * 3600, 1, 10);
    $add($pdo, $hours - 3 * 3600, 2, 20);
    $late = $backend->pdo();
    $late->beginTransaction();
    $add($late, $hours - 3 * 3600, 77, 3);

    $pdo->query($is_pgsql ? 'SELECT pg_advisory_lock(4711)' : "SELECT GET_LOCK('here', 0)")->fetchAll();
    $worker = $backend->other('$open()->runWorker("null://null");');
    $waits = $is_pgsql ? "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted"
        : "SELECT count(*) FROM information_schema.processlist WHERE state = 'User lock'";
    MailQueueTest\wait_for('a worker that adds up', fn() => $pdo->query($waits)->fetchColumn() > 0);
    $late->commit();
    $pdo->query($is_pgsql ? 'SELECT pg_advisory_unlock(4711)' : "SELECT RELEASE_LOCK('here')")->fetchAll();
    $worker->end();
    echo $relative($sums()), "\n";
    $pdo->exec('DROP TRIGGER wait_here' . ($is_pgsql ? ' ON mail_count' : ''));

    // Parts that a queue without workers has kept for a year. They are added up by the day, too.
    $old = intdiv($hours, 86400) * 86400 - 365 * 86400;
    $add($pdo, $old + 3600, 5, 7);
    $backend->queue()->runWorker('null://null');
    echo $relative(str_replace((string) $old, '"a year ago"', $sums())), "\n";
});
?>
--EXPECT--
[["3 h ago",33,33,0]]
[["a year ago",7,7,0],["3 h ago",33,33,0]]
