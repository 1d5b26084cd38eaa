--TEST--
mailqueue.database_persistent: a server's connection stays open for the next request, and no two queues share it
--EXTENSIONS--
mailqueue
pdo_pgsql
pdo_mysql
--INI--
mailqueue.database_persistent=1
--SKIPIF--
<?php
require __DIR__ . '/../lib/backends.inc';
require __DIR__ . '/../lib/fpm.inc';
die(backends_missing('pgsql', 'mysql') ?: MailQueueTest\Fpm::missing());
?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
require __DIR__ . '/../lib/fpm.inc';

use MailQueue\Internal;
use MailQueueTest\Fpm;

on_backends(['pgsql', 'mysql'], function (Backend $backend): void {
    $sql = $backend->name === 'pgsql' ? 'SELECT pg_backend_pid()' : 'SELECT connection_id()';
    $session = fn(MailQueue $queue): int => (int) Internal::select($queue, $sql)[0][0];
    $open = fn(int $busyTimeout = 5000) => new MailQueue($backend->dsn, busyTimeout: $busyTimeout);

    $first = $session($queue = $open());
    unset($queue);
    must($session($open()) === $first, 'the next queue has the connection');

    $queue = $open();
    $beside = $open();
    must($session($queue) === $first && $session($beside) !== $first, 'two at the same time');
    unset($beside);
    must($session($open()) !== $first, 'the second one of two is not kept');
    $application = $backend->pdo([PDO::ATTR_PERSISTENT => true]);
    must((int) $application->query($sql)->fetchColumn() !== $first, 'the application has its own');
    unset($queue);
    must($session($open(1000)) !== $first, 'another limit for locks');

    $queue = $open();
    $queue->enqueue(mail_fields());
    $queue->runWorker('null://null');
    $backend->name === 'pgsql' && must((int) $application->query('SELECT count(*) FROM pg_locks '
        . "WHERE locktype = 'advisory'")->fetchColumn() === 0, 'no lock outlives a run');
    must($session($queue) === $first && $queue->stats()->pending === 0, 'a run has its own');
    unset($queue);

    $application->exec($backend->name === 'pgsql' ? "SELECT pg_terminate_backend($first)" : "KILL $first");
    must(wait_until(fn() => !$backend->pdo()->query($backend->name === 'pgsql' ? "SELECT count(*) FROM pg_stat_activity WHERE pid = $first"
        : "SELECT count(*) FROM information_schema.processlist WHERE id = $first")->fetchColumn()), 'it is gone');
    $queue = $open();
    must($queue->enqueue(mail_fields()) > 0 && $session($queue) !== $first, 'the server closed it');
    unset($queue);

    $fpm = new Fpm(['mailqueue.database_persistent' => '1'], children: 1);
    $page = $fpm->page('page', '$queue = new MailQueue(' . var_export($backend->dsn, true) . ');
        $session = MailQueue\Internal::select($queue, ' . var_export($sql, true) . ')[0][0];
        if (($_SERVER["QUERY_STRING"] ?? "") === "fatal") {
            $queue->enqueueMany((function () {
                yield ["from" => "a@example.org", "to" => "b@example.org", "text" => "x"];
                trigger_error("in the middle of a transaction", E_USER_ERROR);
            })());
        }
        echo $session, " ", $queue->stats()->pending;');
    [$kept, $total] = explode(' ', $fpm->get($page));
    $fpm->get($page, ['QUERY_STRING' => 'fatal']);
    $after = $fpm->get($page);
    must($after === "$kept $total", "after a fatal error: $kept $total, then $after");
    $fpm->process->stop();
    echo "ok\n";
});
?>
--EXPECT--
ok
