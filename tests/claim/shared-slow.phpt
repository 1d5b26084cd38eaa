--TEST--
Servers: while a domain is slowed down, claims take turns, so that only one takes its next mail
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
on_backends(['pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    [$pdo, $other] = [$backend->pdo(), $backend->pdo()];
    $pdo->exec('SET SESSION ' . ($backend->name === 'pgsql' ? 'CHARACTERISTICS AS ' : '') . 'TRANSACTION ISOLATION LEVEL READ COMMITTED');
    $other->exec($backend->name === 'pgsql' ? "SET lock_timeout = '300ms'" : 'SET innodb_lock_wait_timeout = 1');
    $queue->setConfig('mailRateMode', 'strict'); // else the second one waits, too, but only before it commits
    $add = fn(string $to): ?int => $queue->enqueue(mail_fields(to: $to));
    $claim = function () use ($other): string {
        try {
            return count((new MailQueue($other))->claim(2)) . ' claimed';
        } catch (MailQueue\DatabaseException $e) {
            return preg_match('/lock/i', $e->getMessage()) ? 'waits for the other claim' : $e->getMessage();
        }
    };
    /* With 0, failures of the domain are counted, but it is not slowed down. */
    foreach ([0, 300] as $pause) {
        $queue->setConfig('mailSlowDomains', sprintf('{"@slow.example":"%d %d %2$d 1 5 450 later"}', $pause, time()));
        $add('first@slow.example');
        $pdo->beginTransaction();
        $first = count((new MailQueue($pdo))->claim(2));
        $add('second@slow.example');
        echo "one mail in $pause s: $first claimed, beside it ", $claim();
        $pdo->commit();
        echo ', then ', $claim(), "\n";
    }
    /* As another program may write it: claims of such a text do not take turns. */
    $queue->setConfig('mailSlowDomains', sprintf('{"@slow.example": "300 %1$d %1$d 1 5 450 later"}', time()));
    echo $claim(), "\n";
});
?>
--EXPECT--
one mail in 0 s: 1 claimed, beside it 1 claimed, then 0 claimed
one mail in 300 s: 1 claimed, beside it waits for the other claim, then 0 claimed
0 claimed
