--TEST--
claim() and recoverStuckSending() read the intent record of a worker that was killed
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

/* The first mail is accepted, and the worker dies in the second, before either is settled; the
 * third is only claimed. */
const DYING = '$handed = 0;
    $open()->runWorker(function () use (&$handed) {
        if (++$handed === 2) { posix_kill(getmypid(), SIGKILL); }
    }, log: "", lease: 900, connections: 1);';

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    foreach ([
        'recoverStuckSending' => fn(MailQueue $queue) => $queue->recoverStuckSending(time() + 901),
        'claim' => function (MailQueue $queue, PDO $pdo): int {
            $pdo->exec('UPDATE mail_queue SET locked_until = 1');
            return count($queue->claim(10));
        },
    ] as $method => $recover) {
        do { /* a worker that took 50 ms between the two mails has settled the first */
            $fresh = $backend->another();
            $queue = $fresh->queue();
            foreach (['accepted', 'under way', 'waiting'] as $reference) {
                $queue->enqueue(mail_fields(), $reference);
            }
            $fresh->other(DYING)->end();
        } while (count($queue->jobs()) < 3);
        echo implode(' ', array_map(fn($job) => $job->status->name, $queue->jobs())), "\n";
        echo "$method: ", $recover($queue, $fresh->pdo()), "\n";
        foreach ($queue->jobs() as $job) {
            echo "  $job->reference: {$job->status->name} attempts $job->attempts uncertain $job->uncertain\n";
        }
    }
});
?>
--EXPECT--
Sending Sending Sending
recoverStuckSending: 3
  under way: Failed attempts 1 uncertain 1
  waiting: Pending attempts 0 uncertain 0
Sending Sending Sending
claim: 1
  under way: Failed attempts 1 uncertain 1
  waiting: Sending attempts 1 uncertain 0
