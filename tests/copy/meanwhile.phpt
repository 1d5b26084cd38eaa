--TEST--
migrate-store: nobody suppresses while the suppressions are copied; recipients that were erased, or got another list, after their first copy are so in the target, too
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
require __DIR__ . '/copy.inc';

/** A connection that does something before the first statement that begins with these words. */
final class Hooked extends PDO
{
    public string $begin = '';
    public ?Closure $do = null;

    public function prepare(string $query, array $options = []): PDOStatement|false
    {
        if ($this->do !== null && str_starts_with($query, $this->begin)) {
            [$do, $this->do] = [$this->do, null];
            $do();
        }
        return parent::prepare($query, $options);
    }
}

foreach ([['sqlite', 'pgsql'], ['pgsql', 'mysql'], ['mysql', 'pgsql'], ['mysql', 'sqlite']] as [$one, $two]) {
    echo "-- $one to $two\n";
    [$a, $b] = [new Backend($one), new Backend($two)];
    [$from, $source] = [$a->queue(), new Hooked($a->dsn)];
    foreach (range(1, 3) as $i) {
        $from->suppress("s$i@example.net", 'unsubscribe', 'list:offers');
    }
    $message = ['from' => 'news@example.org', 'subject' => 'x', 'text' => 'y'];
    foreach (['spring', 'summer'] as $name) {
        $from->campaign($name)->setMessage($message, list: 'news');
        $from->campaign($name)->add(array_map(fn(int $i): string => "s$i@example.net", range(1, 9)));
    }

    // The first run ends when the recipients have been copied; there is no mail.
    $source->begin = 'SELECT at, ABS(n)';
    $source->do = fn() => throw new RuntimeException('killed');
    echo thrown(fn() => migration($source, $b->pdo())->run()), ', ', $b->pdo()->query('SELECT count(*) FROM mail_recipient')->fetchColumn(), " recipients there\n";
    $erased = (int) $a->pdo()->query('SELECT min(id) FROM mail_recipient')->fetchColumn();
    MailQueue\Internal::eraseRecipients($from, [$erased]);
    $from->campaign('summer')->setMessage($message, list: 'offers');

    // The second one comes to the suppressions.
    $source->begin = 'SELECT seq, hash';
    $source->do = function () use ($a, $b): void {
        foreach ([$a, $b] as $backend) {
            $pdo = $backend->pdo($backend->name === 'sqlite' ? [PDO::ATTR_TIMEOUT => 0] : []);
            $set = ['pgsql' => "SET lock_timeout = '1s'", 'mysql' => 'SET innodb_lock_wait_timeout = 1'][$backend->name] ?? null;
            $set === null || $pdo->exec($set);
            echo "$backend->name: ", preg_match('/lock|timeout/i', thrown(fn() => (new MailQueue($pdo, busyTimeout: 1000))->suppress('late@example.net'))) ? 'waits' : 'STORED', "\n";
        }
    };
    migration($source, $b->pdo())->run();
    $to = $b->queue();
    foreach (['spring', 'summer'] as $name) {
        $to->campaign($name)->start();
        $report = $to->runWorker('null://null', log: '');
        echo "$name: sent $report->sent suppressed $report->suppressed\n";
    }
}
?>
--EXPECT--
-- sqlite to pgsql
RuntimeException: killed, 18 recipients there
sqlite: waits
pgsql: waits
spring: sent 8 suppressed 0
summer: sent 6 suppressed 3
-- pgsql to mysql
RuntimeException: killed, 18 recipients there
pgsql: waits
mysql: waits
spring: sent 8 suppressed 0
summer: sent 6 suppressed 3
-- mysql to pgsql
RuntimeException: killed, 18 recipients there
mysql: waits
pgsql: waits
spring: sent 8 suppressed 0
summer: sent 6 suppressed 3
-- mysql to sqlite
RuntimeException: killed, 18 recipients there
mysql: waits
sqlite: waits
spring: sent 8 suppressed 0
summer: sent 6 suppressed 3
