--TEST--
new MailQueue($pdo): a fork, a Fiber, a destructor or exit() during a call frees nothing that is in use
--EXTENSIONS--
mailqueue
pdo_sqlite
pcntl
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
if (ran_without_leak_check(__FILE__)) {
    return;
}
/* A PDO that runs $on during the call whose SQL contains $at. */
final class Busy extends PDO
{
    public ?Closure $on = null;
    public string $at = '';

    private function now(string $text): void
    {
        if (($on = $this->on) && str_contains($text, $this->at)) {
            $this->on = null;
            $on($this);
        }
    }
    public function prepare(string $query, array $options = []): PDOStatement|false
    {
        $this->now("prepare $query");
        return parent::prepare($query, $options);
    }
    public function exec(string $statement): int|false
    {
        $this->now("exec $statement");
        $result = parent::exec($statement);
        $this->now("done $statement");
        return $result;
    }
    public function getAttribute(int $attribute): mixed
    {
        $this->now('attribute');
        return parent::getAttribute($attribute);
    }
}
final class Last
{
    public function __construct(private Closure $on) {}
    public function __destruct() { ($this->on)(); }
}
function exit_code(int $pid): string
{
    pcntl_waitpid($pid, $status);
    return pcntl_wifexited($status) ? 'exit ' . pcntl_wexitstatus($status) : 'signal ' . pcntl_wtermsig($status);
}
/* The two refusals, each as one word. */
function meant(string $text): string
{
    return match (true) {
        str_contains($text, 'this MailQueue is in use already') => 'in use',
        str_contains($text, 'this MailQueue is being opened or closed') => 'opening',
        default => $text,
    };
}
function stored(string $path): string
{
    return (new PDO("sqlite:$path"))->query('SELECT (SELECT count(*) FROM mail_queue) || " jobs " || (SELECT count(*) FROM mail_body) || " bodies"')->fetchColumn();
}

foreach (['attribute', 'done BEGIN', 'mail_body', 'done COMMIT'] as $at) {
    echo "-- a child forked at: $at\n";
    $pdo = new Busy('sqlite:' . ($path = database()));
    $queue = new MailQueue($pdo);
    $pdo->at = $at;
    $child = null;
    $text = '';
    $pdo->on = function () use ($queue, &$child, &$text): void {
        if (($child = pcntl_fork()) === 0) {
            $text = thrown(fn() => $queue->enqueue(mail_fields()));
        }
    };
    $result = thrown(function () use ($queue): void {
        $queue->enqueue(mail_fields(subject: str_repeat('x', 100)));
    });
    if ($child === 0) {
        $again = thrown(fn() => $queue->enqueue(mail_fields()));
        exit(str_contains($text, 'in use already') && str_contains($result, 'forked') && str_contains($again, 'belongs to the process') ? 7 : 8);
    }
    echo exit_code($child), ", parent: $result, ", stored($path), "\n";
}

echo "-- a queue that is being opened, in a Fiber\n";
foreach ([true, false] as $succeeds) {
    $pdo = new Busy('sqlite:' . ($path = database()));
    $pdo->at = 'attribute';
    $queue = null;
    $pdo->on = function () use (&$queue): void {
        foreach (debug_backtrace() as $frame) {
            $queue ??= ($frame['object'] ?? null) instanceof MailQueue ? $frame['object'] : null;
        }
        Fiber::suspend();
    };
    $fiber = new Fiber(fn() => thrown(fn() => new MailQueue($pdo)));
    $fiber->start();
    foreach (['enqueue' => fn() => $queue->enqueue(mail_fields()), 'stats' => fn() => $queue->stats(), 'again' => fn() => $queue->__construct($pdo),
        'worker' => fn() => $queue->runWorker('null://null', log: '')] as $name => $call) {
        echo "$name: ", meant(thrown($call)), "\n";
    }
    $pdo->at = 'exec BEGIN';
    $pdo->on = fn() => Fiber::suspend();
    $other = new Fiber(fn() => thrown(fn() => $queue->enqueue(mail_fields())));
    $other->start();
    $pdo->on = null;
    $succeeds ? $fiber->resume() : $fiber->throw(new RuntimeException('no'));
    $other->isTerminated() || $other->resume();
    echo 'constructed: ', $fiber->getReturn(), "\nmeanwhile: ", meant($other->getReturn()), "\nthen: ", thrown(fn() => $queue->enqueue(mail_fields())), "\n";
    unset($fiber, $other);
}

echo "-- a call that waits in a Fiber while others are made\n";
$pdo = new Busy('sqlite:' . ($path = database()));
$queue = new MailQueue($pdo);
foreach (['exec BEGIN', 'exec COMMIT'] as $at) {
    foreach (['resume', 'throw', 'drop'] as $end) {
        $pdo->at = $at;
        $pdo->on = fn() => Fiber::suspend();
        $fiber = new Fiber(fn() => thrown(fn() => $queue->enqueue(mail_fields())));
        $fiber->start();
        $inner = meant(thrown(fn() => $queue->enqueueMany([['message' => mail_fields()]])));
        match ($end) {
            'resume' => $fiber->resume(),
            'throw' => $fiber->throw(new RuntimeException('no')),
            'drop' => $fiber = null,
        };
        echo "$at, $end: $inner; ", $fiber?->getReturn(), '; ', stored($path), "\n";
    }
}
$fiber = null;

echo "-- destructors of what the PDO's methods give\n";
final class Giving extends PDO
{
    public ?Closure $on = null;
    public string $at = '';

    #[ReturnTypeWillChange]
    public function exec(string $statement): mixed
    {
        $result = parent::exec($statement);
        if ($this->on && str_contains($statement, $this->at)) {
            $on = $this->on;
            $this->on = null;
            return new Last($on);
        }
        return $result;
    }
    #[ReturnTypeWillChange]
    public function setAttribute(int $attribute, mixed $value): mixed
    {
        $result = parent::setAttribute($attribute, $value);
        if ($this->on && $this->at === 'attribute') {
            $on = $this->on;
            $this->on = null;
            return new Last($on);
        }
        return $result;
    }
}
foreach (['BEGIN', 'COMMIT', 'attribute'] as $at) {
    $pdo = new Giving('sqlite:' . ($path = database()));
    $queue = new MailQueue($pdo);
    $pdo->at = $at;
    $inner = '';
    $pdo->on = function () use ($queue, &$inner): void {
        $inner = meant(thrown(fn() => $queue->enqueue(mail_fields())));
    };
    echo "$at: ", var_export($queue->enqueue(mail_fields()), true), ", inner: $inner, ", stored($path), "\n";
}

echo "-- destructors of what an exception holds\n";
$pdo = new Busy('sqlite:' . ($path = database()));
$queue = new MailQueue($pdo);
$pdo->exec('CREATE TRIGGER t BEFORE INSERT ON mail_body BEGIN SELECT RAISE(ABORT, "no"); END');
$pdo->at = 'mail_body';
$inner = '';
$pdo->on = function (Busy $pdo) use ($queue, &$inner): void {
    $pdo->at = 'exec ROLLBACK';
    $pdo->on = function () use ($queue, &$inner): void {
        $e = new class('from the rollback') extends PDOException {
            public ?Last $held = null;
        };
        $e->held = new Last(function () use ($queue, &$inner): void {
            $inner = meant(thrown(fn() => $queue->stats()));
        });
        throw $e;
    };
};
echo @thrown(fn() => $queue->enqueue(mail_fields())), "\ninner: $inner\n";
$pdo->exec('ROLLBACK'); // which the exception had kept from the database
$pdo->exec('DROP TRIGGER t');
var_dump($queue->enqueue(mail_fields()));
?>
--EXPECT--
-- a child forked at: attribute
exit 7, parent: nothing, 1 jobs 1 bodies
-- a child forked at: done BEGIN
exit 7, parent: nothing, 1 jobs 1 bodies
-- a child forked at: mail_body
exit 7, parent: nothing, 1 jobs 1 bodies
-- a child forked at: done COMMIT
exit 7, parent: nothing, 1 jobs 1 bodies
-- a queue that is being opened, in a Fiber
enqueue: opening
stats: opening
again: Error: The MailQueue object is constructed already
worker: opening
constructed: nothing
meanwhile: opening
then: nothing
enqueue: opening
stats: opening
again: Error: The MailQueue object is constructed already
worker: opening
constructed: MailQueue\DatabaseException [database]: no
meanwhile: opening
then: Error: The MailQueue object was not constructed
-- a call that waits in a Fiber while others are made
exec BEGIN, resume: in use; nothing; 1 jobs 1 bodies
exec BEGIN, throw: in use; MailQueue\DatabaseException [database]: no; 1 jobs 1 bodies
exec BEGIN, drop: in use; ; 1 jobs 1 bodies
exec COMMIT, resume: in use; nothing; 2 jobs 2 bodies
exec COMMIT, throw: in use; MailQueue\DatabaseException [database]: no; 2 jobs 2 bodies
exec COMMIT, drop: in use; ; 2 jobs 2 bodies
-- destructors of what the PDO's methods give
BEGIN: 1, inner: in use, 1 jobs 1 bodies
COMMIT: 1, inner: in use, 1 jobs 1 bodies
attribute: 1, inner: in use, 1 jobs 1 bodies
-- destructors of what an exception holds
MailQueue\DatabaseException [database]: SQLSTATE[23000]: Integrity constraint violation: 19 no
inner: in use
int(1)
