<?php

// Who should have got what, and who did. Every mail's reference is its X-Test-Id.

declare(strict_types=1);

namespace Torture;

/**
 * The recipients of mail $n: most have one, some have three; the sink refuses one of some of those.
 */
function recipients(int $n): array
{
    return match (true) {
        $n % 21 === 0 => ["a$n@example.com", "b$n@refused.example", "c$n@example.com"],
        $n % 7 === 0 => ["a$n@example.com", "b$n@example.com", "c$n@example.com"],
        default => ["a$n@example.com"],
    };
}

/** A complete message of 300 bytes to 60 KB: the large ones take several writes. */
function message(string $test, int $n): string
{
    static $text;
    $text ??= str_repeat("The quick brown fox jumps over the lazy dog, and again it does.\r\n", 920);
    $length = 66 * ($n % 50 === 0 ? 900 : $n % 29);
    return "From: Shop <shop@example.org>\r\nTo: person$n@example.com\r\nSubject: Order $test\r\n"
        . "Date: Sat, 21 Nov 2026 09:35:00 +0000\r\nMessage-ID: <$test.torture@example.org>\r\n"
        . "X-Test-Id: $test\r\n\r\nOrder $n\r\n" . substr($text, 0, $length);
}

/** Stores mails $from … $to − 1. */
function fill(\MailQueue $queue, int $from, int $to): void
{
    $queue->enqueueMany((static function () use ($from, $to): iterable {
        for ($n = $from; $n < $to; $n++) {
            yield ['message' => message("t$n", $n), 'reference' => "t$n", 'envelopeFrom' => 'shop@example.org', 'recipients' => recipients($n)];
        }
    })());
}

/**
 * Creates the queue and notes, in the very transaction that does it, each attempt that becomes
 * uncertain and each change of the state: a kill between commit and log hides nothing.
 */
function prepare(string $path, string $journal, int $mails = 0): void
{
    apart(static function () use ($path, $journal, $mails): void {
        $queue = queue($path, $journal);
        $queue->setConfig('mailHistoryDays', 1);
        $queue->setConfig('mailSlowdown', 0); // refused.example's mail must not wait
        fill($queue, 0, $mails);
        unset($queue);
        note_uncertain($path);
    });
}

/** The counts at the end of a scenario. */
final class Verdict
{
    public int $lost = 0;
    public int $duplicates = 0;
    public int $uncertain = 0;
    /** @var array<string, int> reference → extra copies to one recipient, at most */
    public array $copies = [];
    /** @var array<string, int> reference → attempts noted as uncertain */
    public array $noted = [];
}

/** Rows with the recipients that are still due. @return list<array<string, mixed>> */
function rows(string $path): array
{
    return query($path, 'SELECT id, reference, status, attempts, uncertain, paid, locked_until, locked_by, recipients, refused, last_error FROM mail_queue ORDER BY id');
}

/** The database must be sound, and rows and bodies must belong together. */
function check_database(Row $row, string $path): void
{
    $sound = is_server($path) ? 'ok' : value($path, 'PRAGMA integrity_check');
    $row->check($sound === 'ok', "integrity_check of $path: $sound");
    $bare = value($path, 'SELECT count(*) FROM mail_queue WHERE id NOT IN (SELECT id FROM mail_body)');
    $row->check($bare === 0, "$bare rows without their message in $path");
    $orphans = value($path, 'SELECT count(*) FROM mail_body WHERE id NOT IN (SELECT id FROM mail_queue)');
    $row->check($orphans === 0, "$orphans messages without their row in $path");
}

/** Hour, type and event → "mails to recipients". @return array<string, string> */
function sums(string $database, string $table): array
{
    $sums = [];
    foreach (query($database, "SELECT hour, mail_type, event, sum(mails) AS mails, sum(recipients) AS recipients
        FROM $table WHERE event <> 'claimed' GROUP BY hour, mail_type, event") as $one) {
        $sums["$one[hour] $one[mail_type] $one[event]"] = "$one[mails] to $one[recipients]";
    }
    return $sums;
}

/**
 * The hourly counters equal the history's rows, kills included; both were written with the rows that
 * they tell of. On a server a counter has several parts.
 */
function check_counters(Row $row, string $path): void
{
    $counted = sums($path, 'mail_count');
    $logged = sums($path, '(SELECT at - at % 3600 AS hour, mail_type, event, 1 AS mails, recipients FROM mail_log) AS history');
    foreach ($counted + $logged as $what => $_) {
        [$one, $other] = [$counted[$what] ?? 'none', $logged[$what] ?? 'none'];
        $row->check($one === $other, "$path: $what is counted as $one, the history has $other");
    }
}

/** Recipients that the queue still has: "test recipient" → true. @return array<string, true> */
function kept(string $path): array
{
    $kept = [];
    foreach (rows($path) as $one) {
        $addresses = [...json_decode($one['recipients'] ?? '[]', true), ...array_keys(json_decode($one['refused'] ?? '[]', true))];
        foreach ($addresses as $address) {
            $kept["$one[reference] $address"] = true;
        }
    }
    return $kept;
}

/**
 * @param list<Sink> $sinks
 *
 * @return array<string, int> "test recipient" → how often it was accepted, by all of them
 */
function accepted(Row $row, array $sinks): array
{
    $counts = $hashes = [];
    foreach (array_merge(...array_map(static fn(Sink $sink): array => $sink->accepted(), $sinks)) as $one) {
        $counts["$one[test] $one[to]"] = ($counts["$one[test] $one[to]"] ?? 0) + 1;
        $hashes[$one['test']][$one['hash']] = true;
    }
    foreach ($hashes as $test => $different) {
        $row->check(count($different) === 1, "copies of $test differ");
    }
    foreach (array_merge(...array_map(static fn(Sink $sink): array => $sink->violations(), $sinks)) as $violation) {
        $row->problem("on the wire: $violation");
    }
    return $counts;
}

/**
 * lost: neither delivered nor in the queue. duplicates: further copies; each needs an attempt of
 * that mail that was recorded as uncertain.
 *
 * @param Sink|list<Sink> $sinks
 */
function judge(Row $row, string $path, Sink|array $sinks, int $mails, int $first = 0): Verdict
{
    $verdict = new Verdict();
    $counts = accepted($row, is_array($sinks) ? $sinks : [$sinks]);
    $kept = kept($path);
    $known = [];
    for ($n = $first; $n < $first + $mails; $n++) {
        foreach (recipients($n) as $to) {
            $known["t$n $to"] = true;
            if (!isset($counts["t$n $to"]) && !isset($kept["t$n $to"])) {
                $verdict->lost++;
                $row->problem("lost: t$n to $to");
            }
        }
    }
    foreach (array_keys(array_diff_key($counts, $known)) as $stranger) {
        $row->problem("nobody enqueued $stranger");
    }
    foreach (query($path, 'SELECT reference, uncertain FROM noted') as $one) {
        $verdict->noted[$one['reference']] = ($verdict->noted[$one['reference']] ?? 0) + $one['uncertain'];
        $verdict->uncertain += $one['uncertain'];
    }
    foreach ($counts as $key => $count) {
        if ($count > 1) {
            $test = strtok($key, ' ');
            $verdict->duplicates += $count - 1;
            $verdict->copies[$test] = max($verdict->copies[$test] ?? 0, $count - 1);
        }
    }
    foreach ($verdict->copies as $test => $extra) {
        $noted = $verdict->noted[$test] ?? 0;
        $row->check($extra <= $noted, "$test: $extra extra copies, $noted uncertain attempts");
    }
    check_database($row, $path);
    check_counters($row, $path);
    $row->count('lost', $verdict->lost);
    $row->count('duplicates', $verdict->duplicates);
    $row->count('mails-twice', count($verdict->copies));
    $row->count('uncertain', $verdict->uncertain);
    return $verdict;
}

/** Nothing waits, and nothing is under way. */
function check_done(Row $row, string $path, bool $hold = false): void
{
    foreach (query($path, "SELECT status, count(*) AS n FROM mail_queue WHERE status <> 'parked' GROUP BY status") as $left) {
        $row->problem("$left[n] mails are still $left[status]");
    }
    $why = $hold ? "('refused', 'uncertain')" : "('refused')";
    $parked = value($path, "SELECT count(*) FROM mail_queue WHERE status = 'parked' AND parked_for NOT IN $why");
    $row->check($parked === 0, "$parked mails are parked that nobody refused");
}
