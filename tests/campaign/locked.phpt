--TEST--
An application starts a campaign in a transaction that lasts: a daemon that looks for campaigns meanwhile waits for it
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

const DAEMON = <<<'PHP'
$report = (new MailQueue($argv[1], busyTimeout: 500))->runWorker('null://null', log: '', daemon: true);
echo "$report->end, $report->sent sent\n";
PHP;

on_backends(['pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $message = ['from' => 'news@example.org', 'subject' => 'Hello', 'text' => 'Hello'];
    foreach (['first', 'second'] as $name) {
        $queue->campaign($name)->setMessage($message);
        $queue->campaign($name)->add(['ann@example.com']);
    }
    $queue->campaign('first')->start();
    $queue->campaign('first')->cancel(); // the next claim is to find that none runs
    $pdo = $backend->pdo();
    $pdo->beginTransaction();
    (new MailQueue($pdo))->campaign('second')->start();
    $daemon = new Other(DAEMON, $backend->dsn);
    must(wait_until(fn() => $queue->diagnostics()['workers'] === 1), 'it works');
    sleep(4);
    echo $queue->diagnostics()['workers'], " waits\n";
    $pdo->commit();
    must(wait_until(fn() => $queue->campaign('second')->progress()['sent'] === 1, 20), 'it sends');
    posix_kill($daemon->pid(), SIGTERM);
    echo $daemon->end()[0];
});
?>
--EXPECT--
1 waits
signal, 1 sent
