--TEST--
A claim that lost its lease settles nothing, even if another claim holds the job
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
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $a = $backend->queue();
    $b = $backend->queue();
    $pdo = $backend->pdo();
    $id = $a->enqueue(mail_fields());
    [$first] = $a->claim(1, 60);

    echo 'recovered before the lease is over: ', $a->recoverStuckSending(), "\n";
    echo 'in two minutes: ', $b->recoverStuckSending(time() + 120), "\n";
    $job = $a->job($id);
    echo $job->status->name, " $job->attempts uncertain $job->uncertain\n";
    $pdo->exec('UPDATE mail_queue SET next_attempt_at = 1');
    [$second] = $b->claim(1, 60);
    must($second->lockedBy !== $first->lockedBy, 'another token');
    foreach (['complete', 'release', 'renew'] as $method) {
        echo "$method: ", var_export($a->$method($first), true), "\n";
    }
    echo 'fail: ', var_export($a->fail($first, 'x'), true), "\n";
    echo $a->job($id)->status->name, ' ', $a->job($id)->lockedBy === $second->lockedBy ? 'held by the second' : 'not held', "\n";

    /* The token decides, not the calling object. */
    echo 'through the other object: ', var_export($a->complete($second), true), ' ', var_export($a->job($id), true), "\n";

    /* A settled job settles nothing more, even if its row has the same attempt number again. */
    $again = $a->enqueue(mail_fields());
    [$one] = $a->claim();
    $a->release($one);
    [$two] = $a->claim();
    echo 'settled before: ', $two->attempts, ' ', var_export($a->release($one), true), ' ', var_export($a->complete($one), true), ' ', $a->job($again)->status->name, ' ', var_export($a->complete($two), true), "\n";

    /* A claim in another table has another token. */
    $other = $backend->queue(table: 'other_queue');
    $other->enqueue(mail_fields());
    $a->enqueue(mail_fields());
    [$there] = $other->claim();
    [$here] = $a->claim();
    echo 'another table: ', var_export($a->complete($there), true), ' ', $a->job($here->id)->status->name, ' ', $other->job($there->id)->status->name, "\n";
});
?>
--EXPECT--
recovered before the lease is over: 0
in two minutes: 1
Failed 1 uncertain 1
complete: false
release: false
renew: false
fail: false
Sending held by the second
through the other object: true NULL
settled before: 1 false false Sending true
another table: false Sending Sending
