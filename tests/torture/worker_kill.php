<?php

// Workers are killed at random moments while mail comes in, several at a time: on SQLite with both
// journals, on PostgreSQL, on MariaDB.
// Leases last 900 s: what a dead worker had is finished within the row only because the next one
// finds its record of intent and its free lock.
//
// What was under way at each kill is read from that record, through a descriptor opened before the
// kill: exactly the mails whose body had left, and no others, must be noted as uncertain. A part of
// the mails is sent with OnUncertain::Hold and under an hourly limit: then nothing at all is sent
// twice, and each token is spent for a recipient or back.
//
// Seen to fail (tests/torture/mutants): a body under way taken for never sent (intent-body-safe) or
// for sent (uncertain-is-sent), the record written after the body (intent-late), what was not begun
// deleted (begun-dropped), recovery only by leases (no-recovery), tokens of the dead not given back
// (tokens-of-dead), counters that are committed apart from the history (history-apart,
// history-apart-mysql).

declare(strict_types=1);

namespace Torture;

use MailQueue\OnUncertain;

const WORKER_CONNECTIONS = 5;
const WORKERS_MAX = 4;
/* A server keeps a dead worker's slot until it notices the death. */
const WORKER_SLOTS = 2 * WORKERS_MAX;
/* enum mq_intent_phase, and the record's layout: header and slots of 128 bytes, the phase first. */
const PHASES = ['free', 'begun', 'envelope', 'body', 'accepted', 'refused'];
const RECORD_BLOCK = 128;
const RECORD_PID_AT = 64;

const WORKER_KILL_SCRIPT = <<<'SCRIPT'
    at rcpt match=*@refused.example reply="550 5.1.1 no such user"
    at rcpt percent=1 reply="450 4.2.0 later"
    at rcpt delay-ms=0-4
    at data delay-ms=0-15
    at dot percent=2 reply="451 4.3.0 later"
    at dot delay-ms=0-70
    SCRIPT;

/** The records of intent. @return list<string> */
function records(string $database): array
{
    return glob(is_server($database) ? getenv('XDG_STATE_HOME') . '/mailqueue/*/*.intent' : "$database.run/*.intent");
}

/**
 * The record of a run, still readable after the run and the file are gone; null before the run has
 * one.
 */
function open_record(string $database, int $pid): mixed
{
    foreach (records($database) as $file) {
        $record = @fopen($file, 'r');
        $record && stream_set_read_buffer($record, 0); // the part after the header is read after the kill
        $header = $record ? fread($record, RECORD_BLOCK) : '';
        if (strlen($header) === RECORD_BLOCK && unpack('q', $header, RECORD_PID_AT)[1] === $pid) {
            return $record;
        }
    }
    return null;
}

/** @return array<string, list<int>> phase → ids under way */
function read_record(mixed $record): array
{
    $found = [];
    if ($record !== null) {
        $slots = stream_get_contents($record, offset: RECORD_BLOCK);
        for ($at = 0; $at < strlen($slots); $at += RECORD_BLOCK) {
            if ($slots[$at] !== "\0") {
                ['phase' => $phase, 'id' => $id] = unpack('Vphase/Vcode/qid', $slots, $at);
                $found[PHASES[$phase]][] = $id;
            }
        }
    }
    return $found;
}

/** One part of the row. */
final class Conditions
{
    public function __construct(
        public readonly string $name,
        public readonly string $directory,
        public readonly string $database,
        public readonly string $journal = '',
        public readonly bool $hold = false,
    ) {
        mkdir($directory, 0700);
    }
}

/** Kills workers, and counts the mails under way. */
final class Killer
{
    /** @var array<int, float> pid → when it dies */
    private array $workers = [];
    /** @var array<string, int> phase → mails under way at kills */
    public array $phases = [];
    /** @var array<int, int> id → how often its body was under way */
    public array $bodies = [];
    public int $kills = 0;

    public function __construct(
        private readonly Row $row,
        private readonly Conditions $conditions,
        private readonly string $dsn,
    ) {}

    /** Keeps this many workers at work: kills each when its time has come, and replaces it. */
    public function kill(int $together): void
    {
        while (count($this->workers) < $together) {
            $this->workers[$this->spawn(true)] = microtime(true) + mt_rand(5, 500) / 1000;
        }
        asort($this->workers);
        $pid = array_key_first($this->workers);
        $wait = $this->workers[$pid] - microtime(true);
        $wait > 0 && usleep((int) ($wait * 1e6));
        $this->end($pid);
    }

    public function endAll(): void
    {
        while ($this->workers) {
            $this->end(array_key_first($this->workers));
        }
    }

    private function end(int $pid): void
    {
        unset($this->workers[$pid]);
        $record = open_record($this->conditions->database, $pid);
        posix_kill($pid, SIGKILL);
        $how = ended($pid);
        $this->row->check($how === 'signal 9', "a worker ended by itself: $how");
        $record ??= open_record($this->conditions->database, $pid); // the next mail may have begun between the look and the kill
        $this->kills++;
        foreach (read_record($record) as $phase => $ids) {
            $this->phases[$phase] = ($this->phases[$phase] ?? 0) + count($ids);
            foreach ($phase === 'body' ? $ids : [] as $id) {
                $this->bodies[$id] = ($this->bodies[$id] ?? 0) + 1;
            }
        }
    }

    public function spawn(bool $daemon): int
    {
        [$conditions, $dsn] = [$this->conditions, $this->dsn];
        return start(static function () use ($conditions, $dsn, $daemon): void {
            queue($conditions->database, $conditions->journal)->runWorker($dsn, connections: WORKER_CONNECTIONS, batch: 20, lease: 900,
                maxWorkers: WORKER_SLOTS, timeLimit: $daemon ? null : 20, daemon: $daemon, log: "$conditions->directory/log",
                onUncertain: $conditions->hold ? OnUncertain::Hold : OnUncertain::Retry);
        }, "{$this->row->directory}/errors");
    }
}

function kill_loop(Row $row, Killer $killer, Conditions $conditions, int $kills, int $mails): void
{
    $fed = intdiv($mails, 5);
    $feeder = null;
    for ($k = 1; $killer->kills < $kills; $k++) {
        // Mail keeps coming while workers die.
        $want = intdiv($mails * 4 * min($kills, $k), 5 * $kills) + intdiv($mails, 5);
        if ($want - $fed >= 100 || $k === $kills) {
            $feeder !== null && ended($feeder);
            $from = $fed;
            $fed = $k === $kills ? $mails : $want;
            $to = $fed;
            $feeder = start(static fn() => fill(queue($conditions->database, $conditions->journal), $from, $to), "$row->directory/errors");
        }
        $killer->kill(2 + intdiv($k, 10) % (WORKERS_MAX - 1));
    }
    $how = ended($feeder);
    $row->check($how === 'exit 0', "the producer ended with $how");
    $killer->endAll();
}

/** The dead runs' mail is finished long before their leases end. */
function drain(Row $row, Killer $killer, string $database, float $seconds): void
{
    $until = microtime(true) + $seconds;
    do {
        $workers = array_map($killer->spawn(...), array_fill(0, WORKERS_MAX, false));
        foreach ($workers as $pid) {
            $how = ended_within($pid, 120);
            $row->check($how === 'exit 0', "a worker at the end: $how");
        }
        $left = value($database, "SELECT count(*) FROM mail_queue WHERE status <> 'parked'");
        usleep(100_000);
    } while ($left > 0 && microtime(true) < $until);
}

/**
 * The log must contain what the database recorded: its lines are written before the commit, so a
 * worker killed in between leaves lines that the next one writes again.
 */
function check_log(Row $row, Conditions $conditions, Verdict $verdict): void
{
    $logged = array_count_values(array_column(events("$conditions->directory/log", 'uncertain'), 'reference'));
    $missing = $again = 0;
    foreach ($verdict->noted as $reference => $times) {
        $missing += max(0, $times - ($logged[$reference] ?? 0));
        $again += max(0, ($logged[$reference] ?? 0) - $times);
    }
    $row->count('unlogged', $missing);
    $row->count('logged-again', $again);
    $row->check($missing === 0, "$missing uncertain attempts are not in the log");
    $kills = is_server($conditions->database) ? 6 : 2; // a server's commit takes longer, so more kills come within one
    $allowed = $kills * WORKER_CONNECTIONS + intdiv($verdict->uncertain, 20);
    $row->check($again <= $allowed, "$again uncertain attempts are in the log twice");
}

/**
 * Each token was spent for a recipient that has the mail or may have it, apart from refilled
 * tokens.
 */
function check_kept_tokens(Row $row, string $database, Sink $sink, int $limit, float $seconds): void
{
    $spent = [];
    foreach ($sink->accepted() as $one) {
        $spent["$one[test] $one[to]"] = true;
    }
    $accepted = count($spent);
    foreach (query($database, "SELECT reference, recipients FROM mail_queue WHERE parked_for = 'uncertain'") as $one) {
        foreach (json_decode($one['recipients'], true) as $to) {
            $spent["$one[reference] $to"] = true;
        }
    }
    // Some of the held mails had been deferred before; their tokens came back.
    $least = $limit - count($spent);
    $most = $limit - $accepted + ($seconds + 1) * $limit / 3600;
    $tokens = (float) apart(static fn(): string => queue($database)->config('mailTokens'));
    $row->check($tokens >= $least - 0.001 && $tokens <= $most, "$tokens tokens are left, not $least to $most");
}

/** Exactly the mails under way must be recorded as uncertain.  @param array<int, int> $bodies */
function check_bodies(Row $row, Conditions $conditions, array $bodies): void
{
    $noted = array_column(query($conditions->database, 'SELECT id, sum(uncertain) AS n FROM noted GROUP BY id'), 'n', 'id');
    foreach (array_keys($bodies + $noted) as $id) {
        [$under, $times] = [$bodies[$id] ?? 0, (int) ($noted[$id] ?? 0)];
        $row->check($under === $times, "$conditions->name: the body of mail $id was under way at $under kills, $times of its attempts are noted as uncertain");
    }
}

/** Each uncertain attempt is in the history once: it is written with the row that it tells of.  @param array<int, int> $bodies */
function check_history(Row $row, Conditions $conditions, array $bodies): void
{
    [$name, $database] = [$conditions->name, $conditions->database];
    $row->count('counted', (int) value($database, "SELECT sum(mails) FROM mail_count WHERE event <> 'claimed'"));
    $row->count('in-history', (int) value($database, 'SELECT count(*) FROM mail_log'));
    $uncertain = (int) value($database, "SELECT count(*) FROM mail_log WHERE event = 'uncertain'");
    $row->check($uncertain === array_sum($bodies), "$name: $uncertain uncertain attempts in the history, " . array_sum($bodies) . ' bodies were under way');
}

/** @return array<string, int> phase → mails under way at the kills */
function kill_under(Row $row, Conditions $conditions, int $kills, int $mails): array
{
    $database = $conditions->database;
    putenv("XDG_STATE_HOME=$conditions->directory"); // for the records of a server's queue
    $limit = $conditions->hold ? 2 * $mails : 0;
    prepare($database, $conditions->journal, intdiv($mails, 5));
    apart(static function () use ($database, $limit): void {
        queue($database)->setConfig('mailMaxPerHour', $limit);
        queue($database)->setConfig('mailBurst', $limit ?: null);
    });
    $began = microtime(true);
    $sink = new Sink($conditions->directory, WORKER_KILL_SCRIPT);
    $killer = new Killer($row, $conditions, $sink->dsn());
    kill_loop($row, $killer, $conditions, $kills, $mails);
    drain($row, $killer, $database, 30 + $mails / 50);
    $sink->stop();
    $row->count('mails', $mails);
    $row->count('kills', $killer->kills);
    $verdict = judge($row, $database, $sink, $mails);
    check_done($row, $database, $conditions->hold);
    check_log($row, $conditions, $verdict);
    check_bodies($row, $conditions, $killer->bodies);
    check_history($row, $conditions, $killer->bodies);
    $row->check(records($database) === [], "$conditions->name: records of intent are left over");
    if ($conditions->hold) {
        $row->check($verdict->duplicates === 0, "$verdict->duplicates duplicates, although what is uncertain is held");
        check_kept_tokens($row, $database, $sink, $limit, microtime(true) - $began);
    }
    return $killer->phases;
}

/** @param list<array{Conditions, float}> $parts conditions and their share of kills and mails */
function kill_workers(Row $row, array $parts, int $kills, int $mails): void
{
    $phases = [];
    foreach ($parts as [$conditions, $share]) {
        foreach (kill_under($row, $conditions, (int) round($kills * $share), (int) round($mails * $share)) as $phase => $count) {
            $phases[$phase] = ($phases[$phase] ?? 0) + $count;
        }
    }
    foreach (['begun', 'envelope', 'body', 'accepted'] as $phase) {
        $row->count("in-$phase", $phases[$phase] ?? 0);
    }
    if ($kills >= 50) {
        $row->check(($phases['envelope'] ?? 0) > 0 && ($phases['body'] ?? 0) > 0, 'no kill came while a mail was under way: this run proves nothing');
    }
}

function worker_kill(Row $row): void
{
    $under = static fn(string $name, string $journal, bool $hold = false): Conditions
        => new Conditions($name, "$row->directory/$name", "$row->directory/$name/mail.db", $journal, $hold);
    kill_workers($row, [[$under('wal', 'wal'), 0.4], [$under('truncate', 'truncate'), 0.4], [$under('hold', 'wal', true), 0.2]],
        max(10, $row->options->kills ?? 200), max(500, $row->options->mails ?? 5000));
}

function kill_workers_on(Row $row, object $server): void
{
    $under = static fn(string $name, bool $hold): Conditions
        => new Conditions($name, "$row->directory/$name", $server->schema(), hold: $hold);
    kill_workers($row, [[$under('retry', false), 0.6], [$under('hold', true), 0.4]],
        max(10, $row->options->kills ?? 60), max(500, $row->options->mails ?? 2000));
    $server->stop();
}

function worker_kill_pgsql(Row $row): void
{
    kill_workers_on($row, postgresql());
}

function worker_kill_mysql(Row $row): void
{
    kill_workers_on($row, mariadb());
}
