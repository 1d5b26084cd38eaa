<?php
/*
 * PHP code that comes back at any moment: signal handlers, forks, Fibers, destructors, exceptions
 * and exit() within every call and callback of the queue; tools/torture reentry runs it under
 * AddressSanitizer. argv: seed, rounds. One round is a process: what it does follows from its seed.
 */
declare(strict_types=1);

[, $seed, $directory] = $argv;
mt_srand((int) $seed);
pcntl_async_signals(true);
$depth = 0;
$fibers = [];

function one(array $list): mixed
{
    return $list[mt_rand(0, count($list) - 1)];
}
function fields(): array
{
    return ['from' => 'a@example.org', 'to' => 'b@example.net', 'subject' => 's' . mt_rand(), 'text' => str_repeat("x\n", mt_rand(1, 300))];
}

/** An action that takes place now, or none, by chance. */
function now(): void
{
    global $depth, $queues;
    if ($depth > 3 || mt_rand(0, 3) !== 0) {
        return;
    }
    $depth++;
    try {
        match (mt_rand(0, 13)) {
            0, 1, 2 => call(),
            3, 4 => Fiber::getCurrent() ? Fiber::suspend() : call(),
            5 => posix_kill(getmypid(), one([SIGUSR1, SIGUSR2])),
            6 => forked(),
            7 => throw new RuntimeException('now'),
            8 => $queues[mt_rand(0, 3)] = null,
            9 => gc_collect_cycles(),
            10 => resume(),
            11 => fiber(),
            12 => new Last(),
            13 => mt_rand(0, 60) === 0 ? exit(3) : call(),
        };
    } finally {
        $depth--;
    }
}
function forked(): void
{
    // Not within SQLite itself: its mutex belongs to the parent's thread, so a child would wait
    // for ever.
    if (mt_rand(0, 3) !== 0 || ($GLOBALS['withinSql'] ?? 0) > 0) {
        return;
    }
    $pid = pcntl_fork();
    if ($pid === 0) {
        mt_srand(mt_rand());
        call();
        if (mt_rand(0, 1)) {
            exit(0);
        }
        register_shutdown_function(fn() => exit(0));
        $GLOBALS['child'] = true;
        return;
    }
    $pid > 0 && pcntl_waitpid($pid, $status);
    if ($pid > 0 && (!pcntl_wifexited($status) || !in_array(pcntl_wexitstatus($status), [0, 1, 3, 255], true))) {
        fwrite(STDERR, "a child ended with $status\n");
        posix_kill(getmypid(), SIGABRT);
    }
}
function fiber(): void
{
    global $fibers;
    $fiber = new Fiber(call(...));
    try {
        $fiber->start();
    } catch (FiberError) {
        return;
    }
    $fiber->isTerminated() || $fibers[] = $fiber;
}
function resume(): void
{
    global $fibers;
    $key = $fibers ? array_rand($fibers) : null;
    if ($key === null || !$fibers[$key]->isSuspended()) {
        return;
    }
    $fiber = $fibers[$key];
    unset($fibers[$key]);
    match (mt_rand(0, 4)) {
        0 => $fiber->throw(new RuntimeException('thrown in')),
        1 => null, // destroyed
        default => $fiber->resume(),
    };
    $fiber->isTerminated() || !$fiber->isStarted() || $fibers[] = $fiber;
}

final class Last
{
    public function __destruct()
    {
        now();
    }
}
final class Odd extends PDO
{
    private function around(callable $call): mixed
    {
        now();
        $result = $call();
        now();
        return mt_rand(0, 30) === 0 ? new Last() : $result;
    }
    #[ReturnTypeWillChange]
    public function exec(string $statement): mixed
    {
        return $this->around(fn() => parent::exec($statement));
    }
    public function prepare(string $query, array $options = []): PDOStatement|false
    {
        now();
        return parent::prepare($query, $options);
    }
    public function getAttribute(int $attribute): mixed
    {
        now();
        return parent::getAttribute($attribute);
    }
    #[ReturnTypeWillChange]
    public function setAttribute(int $attribute, mixed $value): mixed
    {
        return $this->around(fn() => parent::setAttribute($attribute, $value));
    }
    public function inTransaction(): bool
    {
        now();
        return parent::inTransaction();
    }
}
/** A stream; each read of it may call the queue again. */
final class Slow
{
    public $context;
    private int $left = 5;
    public function stream_open(): bool { return true; }
    public function stream_read(int $count): string { now(); return $this->left-- > 0 ? "data\n" : ''; }
    public function stream_eof(): bool { return $this->left <= 0; }
    public function stream_stat(): array { return []; }
    public function stream_set_option(): bool { return false; }
    public function stream_close(): void { now(); }
}
stream_wrapper_register('slow', Slow::class);
final class Text implements Stringable
{
    public function __toString(): string
    {
        now();
        return "To: b@example.net\r\nFrom: a@example.org\r\nSubject: s\r\n\r\nbody\r\n";
    }
}
function messages(): iterable
{
    for ($i = mt_rand(0, 4); $i > 0; $i--) {
        now();
        yield ['message' => message()];
    }
}
function message(): mixed
{
    return match (mt_rand(0, 4)) {
        0 => new Text(),
        1 => ['attachments' => [['data' => fopen('slow://x', 'r'), 'name' => 'x']]] + fields(),
        2 => null,
        default => fields(),
    };
}

$open = [
    fn() => new MailQueue("$directory/native.db", busyTimeout: 50),
    fn() => new MailQueue(new Odd("sqlite:$directory/odd.db", null, null, [PDO::ATTR_TIMEOUT => 0]), busyTimeout: 50),
    function () use ($directory): MailQueue {
        $pdo = new PDO("sqlite:$directory/function.db", null, null, [PDO::ATTR_TIMEOUT => 0]);
        $queue = new MailQueue($pdo);
        $pdo->sqliteCreateFunction('now', function (): int {
            $GLOBALS['withinSql'] = ($GLOBALS['withinSql'] ?? 0) + 1;
            try {
                now();
            } finally {
                $GLOBALS['withinSql']--;
            }
            return 1;
        });
        $pdo->exec('CREATE TEMP TRIGGER IF NOT EXISTS t AFTER INSERT ON mail_queue BEGIN SELECT now(); END');
        return $queue;
    },
    fn() => new MailQueue($GLOBALS['shared'] ??= new Odd("sqlite:$directory/shared.db", null, null, [PDO::ATTR_TIMEOUT => 0])),
];
$queues = [null, null, null, null];

/** One call on one of the queues. */
function call(): void
{
    global $queues, $open;
    $which = mt_rand(0, 3);
    try {
        $queue = $queues[$which] ??= $open[$which]();
        match (mt_rand(0, 11)) {
            0, 1, 2 => $queue->enqueue(message(), recipients: mt_rand(0, 2) ? null : [new Text(), 'b@example.net']),
            3 => $queue->enqueueMany(messages()),
            4 => array_map(fn($job) => one([$queue->complete(...), $queue->release(...)])($job), $queue->claim(2)),
            5 => $queue->stats(),
            6 => $queue->jobs(limit: 5),
            7 => $queue->config('mailMaxPerHour'),
            8 => $queue->retryFailed(),
            9, 10 => $queue->runWorker(
                mt_rand(0, 1) ? 'null://null' : function (): void { now(); },
                compose: function (): mixed { now(); return message(); }, messageLimit: 3, timeLimit: 1, log: '',
                onEvent: function (): void { now(); }),
            11 => mail('b@example.net', 's', 'body'),
        };
    } catch (Exception | FiberError | Error $e) {
        if ($e instanceof Error && !$e instanceof FiberError && get_class($e) !== 'Error' && !$e instanceof ValueError) {
            throw $e;
        }
    }
}
pcntl_signal(SIGUSR1, fn() => now());
pcntl_signal(SIGUSR2, function (): void { now(); call(); });
set_error_handler(function (): bool { now(); return true; });
for ($i = 0; $i < 40 && !isset($child); $i++) {
    mt_rand(0, 2) === 0 ? fiber() : call();
    mt_rand(0, 2) === 0 && resume();
}
