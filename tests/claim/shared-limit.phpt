--TEST--
Servers: a claim that waited for the limit's row uses the time at which it got the lock
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
pcntl
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
on_backends(['pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $begun = hrtime(true);
    foreach (['mailMaxPerHour' => 36000, 'mailBurst' => 1000, 'mailTokens' => 0, 'mailLastRefill' => time()] as $key => $value) {
        $queue->setConfig($key, $value);
    }
    $pdo = $backend->pdo();
    $first = new MailQueue($pdo);
    $pdo->beginTransaction();
    $taken = $first->takeTokens(1000);
    $pid = pcntl_fork();
    if ($pid === 0) {
        (new MailQueue(new PDO($backend->dsn)))->takeTokens(0); // waits for the row
        posix_kill(getmypid(), SIGKILL); // the child must not use the parent's connections
    }
    sleep(3);
    $taken += $first->takeTokens(1000);
    $pdo->commit();
    pcntl_waitpid($pid, $status);
    $taken += $queue->takeTokens(1000);
    $seconds = (hrtime(true) - $begun) / 1e9;
    echo $taken >= 20 && $taken <= 10 * ($seconds + 1.1) ? "within the limit\n" : "$taken tokens in $seconds s\n";
}, together: true);
?>
--EXPECT--
within the limit
