--TEST--
migrate-store --delete: after kill -9 before any of its statements, at most one of the queues sends, and the same command ends the move: no mail, counter or row of the history is missing or there twice; on SQLite, and from MariaDB to PostgreSQL
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
/* MAILQUEUE_EACH=1 kills before each statement, not before each fifth or eighth. */
require __DIR__ . '/copy.inc';

const MAILS = 12;
const SENT = 3;

/** Counts what the move says to both databases; kills the process before statement $last. */
final class Mortal extends PDO
{
    public static int $said = 0;
    public static int $last = 0;

    public static function say(): void
    {
        ++self::$said === self::$last && posix_kill(getmypid(), SIGKILL);
    }

    public function exec(string $statement): int|false
    {
        self::say();
        return parent::exec($statement);
    }
}

final class MortalStatement extends PDOStatement
{
    public function execute(?array $params = null): bool
    {
        Mortal::say();
        return parent::execute($params);
    }
}

/** Runs $do in a child process, because the databases' connections must not outlive a fork. */
function ends(callable $do): bool
{
    $pid = pcntl_fork();
    if ($pid === 0) {
        try {
            $do();
        } catch (Throwable $e) {
            echo "$e\n";
        }
        exit(0);
    }
    pcntl_waitpid($pid, $status);
    return pcntl_wifexited($status);
}

/** Mail that was sent, and mail that waits. */
function lived(Backend $from): void
{
    $queue = $from->queue();
    $queue->setConfig('mailHistoryDays', 30);
    $queue->enqueueMany(array_map(static fn(int $i): array => ['message' => mail_fields(), 'reference' => "r$i"], range(1, MAILS + SENT)));
    $queue->runWorker('null://null', messageLimit: SENT);
}

/** Moves the queue; dies before statement $last, 0: never. */
function move(Backend $from, Backend $to, int $last = 0): void
{
    Mortal::$last = $last;
    [$one, $two] = array_map(static fn(Backend $backend): PDO => new Mortal($backend->dsn, null, null, [PDO::ATTR_STATEMENT_CLASS => [MortalStatement::class]]), [$from, $to]);
    migration($one, $two)->run(true);
    $last > 0 || must(Mortal::$said > 0, 'statements are counted');
}

/** Between the kill and the second run. */
function look(Backend $from, Backend $to): void
{
    $claimed = 0;
    foreach ([$from, $to] as $backend) {
        $queue = $backend->queue();
        $jobs = $queue->claim(1);
        $claimed += count($jobs);
        array_map($queue->release(...), $jobs);
    }
    must($claimed <= 1, 'not both send');
    $from->queue()->enqueue(mail_fields(), reference: 'late');
}

function check(Backend $from, Backend $to): void
{
    $of = static fn(Backend $backend, string $sql): array => $backend->pdo()->query($sql)->fetchAll(PDO::FETCH_COLUMN);
    $found = $of($to, 'SELECT q.reference FROM mail_queue q JOIN mail_body b ON b.id = q.id ORDER BY q.id');
    $wanted = [...array_map(static fn(int $i): string => "r$i", range(SENT + 1, MAILS + SENT)), 'late'];
    must($found === $wanted, 'moved: ' . json_encode($found));
    $bodies = (int) $of($to, 'SELECT count(*) FROM mail_body')[0];
    must($bodies === MAILS + 1, "$bodies messages");
    must($of($from, 'SELECT reference FROM mail_queue') === [] && $of($from, 'SELECT id FROM mail_body') === [], 'the source is empty');
    $counts = [$of($to, "SELECT sum(mails) FROM mail_count WHERE event = 'sent'")[0], $of($to, "SELECT count(*) FROM mail_log WHERE event = 'sent'")[0]];
    must(array_map(intval(...), $counts) === [SENT, SENT], 'counters and history: ' . json_encode($counts));
}

foreach ([['sqlite', 'sqlite', 5], ['mysql', 'pgsql', 8]] as [$one, $two, $step]) {
    $step = (int) getenv('MAILQUEUE_EACH') ?: $step;
    $kills = 0;
    for ($last = mt_rand(1, $step); ; $last += $step) {
        [$from, $to] = [new Backend($one), new Backend($two)];
        ends(static fn() => lived($from));
        $isOver = ends(static fn() => move($from, $to, $last));
        ends(static fn() => look($from, $to));
        ends(static fn() => move($from, $to));
        ends(static fn() => check($from, $to));
        if ($isOver) {
            break;
        }
        $kills++;
    }
    echo "$one to $two: ", $kills >= 20 ? 'killed at many places' : "only $kills kills", "\n";
}
?>
--EXPECT--
sqlite to sqlite: killed at many places
mysql to pgsql: killed at many places
