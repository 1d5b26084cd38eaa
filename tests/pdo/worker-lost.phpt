--TEST--
runWorker() on the application's own connection to a server: lost connections, transactions of callbacks
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/backends.inc';
echo backends_missing('pgsql', 'mysql');
?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';

/**
 * Loses its connection at one of the queue's commits: before the commit, or after it was stored.
 */
final class Losing extends PDO
{
    public int $commits = 0;
    public int $at = -1;
    public bool $made = false;
    /**
     * Without a reference to this PDO: PHP would not free the cycle at its end, which the sanitizer
     * reports.
     */
    public ?Closure $kill = null;

    #[ReturnTypeWillChange]
    public function exec($statement)
    {
        if (str_starts_with($statement, 'COMMIT') && ++$this->commits === $this->at) {
            if ($this->made) {
                parent::exec($statement);
                ($this->kill)();
                return parent::exec('SELECT 1');
            }
            ($this->kill)();
        }
        return parent::exec($statement);
    }
}

on_backends(['pgsql', 'mysql'], function (Backend $backend): void {
[$own, $end, $there] = $backend->name === 'pgsql'
    ? ['pg_backend_pid()', 'SELECT pg_terminate_backend(%d)', 'SELECT count(*) FROM pg_stat_activity WHERE pid = %d']
    : ['CONNECTION_ID()', 'KILL CONNECTION %d', 'SELECT count(*) FROM information_schema.processlist WHERE id = %d'];
$other = $backend->pdo();

$kill = function (int $pid) use ($other, $end, $there): void {
    $other->query(sprintf($end, $pid));
    must(wait_until(fn() => !$other->query(sprintf($there, $pid))->fetchColumn()), 'the session is gone');
    usleep(100000); // longer than a worker waits before it stores finished outcomes
};
$left = function () use ($other): string {
    $counts = $other->query('SELECT status, count(*) FROM mail_queue GROUP BY 1 ORDER BY 1')->fetchAll(PDO::FETCH_KEY_PAIR);
    return json_encode($counts);
};
$accepted = new ArrayObject();
$take = function ($job) use ($accepted): void { $accepted[] = $job->reference; };
$once = function () use ($accepted): string {
    $all = $accepted->exchangeArray([]);
    return count($all) . (count($all) === count(array_unique($all)) ? ' each once' : ' some twice');
};

echo "between two cycles\n";
$pdo = $backend->pdo();
$pid = (int) $pdo->query("SELECT $own")->fetchColumn();
$queue = new MailQueue($pdo);
$queue->enqueueMany(array_map(fn($n) => ['message' => mail_fields(), 'reference' => "a$n"], range(1, 20)));
$began = microtime(true);
$text = thrown(fn() => $queue->runWorker(function ($job) use ($take, $kill, $pid, $accepted): void {
    $take($job);
    if (count($accepted) === 8) {
        $kill($pid);
    }
}, log: ''));
echo strstr($text, ': ', true), '; the cure: ', str_contains($text, 'open a new PDO') ? 'named' : $text, "\n";
echo microtime(true) - $began < 60 ? "at once\n" : "late\n";
must(count($accepted) < 20, 'some are left');
$report = $backend->queue()->runWorker($take, log: '');
echo "then: $report->end, uncertain $report->uncertain, accepted {$once()}, left {$left()}\n";

foreach ([false, true] as $made) {
    echo $made ? "after a commit, before its answer\n" : "before a commit\n";
    for ($at = 1; $at <= 4; $at++) {
        $pdo = new Losing($backend->dsn);
        $pid = (int) $pdo->query("SELECT $own")->fetchColumn();
        $queue = new MailQueue($pdo);
        $queue->enqueueMany(array_map(fn($n) => ['message' => mail_fields(), 'reference' => "b$n"], range(1, 12)));
        [$pdo->kill, $pdo->made, $pdo->at, $pdo->commits] = [fn() => $kill($pid), $made, $at, 0];
        $text = thrown(fn() => $queue->runWorker($take, log: '', batch: 5));
        $report = $backend->queue()->runWorker($take, log: '');
        echo str_contains($text, '[io]') ? 'lost' : $text, "; then: uncertain $report->uncertain, accepted {$once()}, left {$left()}\n";
    }
}

echo "callbacks use the PDO\n";
$pdo = $backend->pdo();
$pdo->exec('CREATE TABLE done (reference TEXT)');
$queue = new MailQueue($pdo);
foreach (['tidy', 'open', 'thrown'] as $reference) {
    $queue->enqueue(null, $reference, recipients: ['a@example.net'], envelopeFrom: 'me@example.org');
}
$report = $queue->runWorker('null://null', function ($job) use ($pdo) {
    $pdo->beginTransaction();
    $pdo->exec("INSERT INTO done VALUES ('$job->reference')");
    if ($job->reference === 'thrown') {
        throw new Exception('not now');
    }
    if ($job->reference === 'tidy') {
        $pdo->commit();
    }
    return mail_fields();
}, log: '');
echo "$report->end sent $report->sent later $report->tryLater, stored: ", implode(' ', $pdo->query('SELECT reference FROM done')->fetchAll(PDO::FETCH_COLUMN)), "\n";
foreach ($queue->jobs() as $job) {
    echo "$job->reference: $job->lastError\n";
}
$queue->delete(array_map(fn($job) => $job->id, $queue->jobs()));
$queue->enqueueMany([['message' => mail_fields(), 'reference' => 'c1'], ['message' => mail_fields(), 'reference' => 'c2']]);
echo thrown(fn() => $queue->runWorker(function ($job) use ($pdo, $take) { $take($job); $pdo->beginTransaction(); }, log: '')), "\n";
echo "accepted {$once()}, left {$left()}, ", $pdo->inTransaction() ? 'open' : 'ended', "\n";
echo thrown(fn() => $queue->runWorker('null://null', log: '', onEvent: fn() => $pdo->inTransaction() || $pdo->beginTransaction())), "\n";
echo "left {$left()}\n";
$pdo->beginTransaction();
echo thrown(fn() => $queue->runWorker('null://null', log: '')), "\n";
echo $pdo->inTransaction() ? "still open\n" : "ended\n";
$pdo->commit();
echo $queue->runWorker('null://null', log: '')->end, "\n";
}, together: true);
?>
--EXPECT--
between two cycles
MailQueue\DatabaseException [io]; the cure: named
at once
then: empty, uncertain 0, accepted 20 each once, left []
before a commit
lost; then: uncertain 0, accepted 12 each once, left []
lost; then: uncertain 0, accepted 12 each once, left []
lost; then: uncertain 0, accepted 12 each once, left []
lost; then: uncertain 0, accepted 12 each once, left []
after a commit, before its answer
lost; then: uncertain 0, accepted 12 each once, left []
lost; then: uncertain 0, accepted 12 each once, left []
lost; then: uncertain 0, accepted 12 each once, left []
lost; then: uncertain 0, accepted 12 each once, left []
callbacks use the PDO
empty sent 1 later 2, stored: tidy
open: compose: it left a transaction open on the PDO that the worker uses; it was rolled back: commit it before returning
thrown: compose: it left a transaction open on the PDO that the worker uses; it was rolled back: commit it before returning
MailQueue\DatabaseException [database]: the transport left a transaction open on the PDO that the worker uses; it was rolled back: commit it before returning
accepted 1 each once, left {"pending":1}, ended
MailQueue\DatabaseException [database]: onEvent left a transaction open on the PDO that the worker uses; it was rolled back: commit it before returning
left {"pending":1}
MailQueue\DatabaseException [database]: runWorker() cannot run within a transaction of the PDO: commit it or roll it back first
still open
empty
