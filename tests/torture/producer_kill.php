<?php

// Producers are killed at random moments. What they have printed, with one write(2) after enqueue()
// returned, is there, with its message; nothing is there by half; the pair of a parked mail that
// is enqueued again exists exactly once, the old or the new one.
//
// Seen to fail (tests/torture/mutants): the message stored in a transaction of its own (half-enqueue), the
// parked mail deleted in one of its own (half-replace), ids returned before the commit (early-id).

declare(strict_types=1);

namespace Torture;

const PARKED_PAIRS = 20;
const TOGETHER = 3;

function park_pairs(string $path, string $journal): void
{
    apart(static function () use ($path, $journal): void {
        $queue = queue($path, $journal);
        for ($i = 0; $i < PARKED_PAIRS; $i++) {
            $queue->hold([$queue->enqueue(message("p$i", $i), "p$i", envelopeFrom: 'shop@example.org', recipients: ['a@example.com'])]);
        }
    });
}

/**
 * Enqueues until it is killed. Prints "id reference", or "- first last" for mails that were stored
 * together.
 */
function produce(string $path, string $journal, string $name, string $printed): void
{
    $queue = queue($path, $journal);
    $out = fopen($printed, 'a');
    stream_set_write_buffer($out, 0);
    for ($n = 0;; $n++) {
        $reference = "$name-$n";
        if ($n % 10 === 5) {
            $many = array_map(static fn(int $i): array => ['message' => message("$reference.$i", $i), 'reference' => "$reference.$i",
                'envelopeFrom' => 'shop@example.org', 'recipients' => ['a@example.com']], range(0, 9));
            $queue->enqueueMany($many);
            fwrite($out, "- $reference.0 $reference.9\n");
        } elseif ($n % 10 === 7) {
            $reference = 'p' . mt_rand(0, PARKED_PAIRS - 1);
            $id = $queue->enqueue(message($reference, $n), $reference, envelopeFrom: 'shop@example.org', recipients: ['b@example.com']);
            $id === null || $queue->hold([$id]);
        } else {
            $id = $n % 2 ? $queue->enqueue(['from' => 'shop@example.org', 'to' => 'a@example.com', 'subject' => "Order $reference", 'text' => 'Hello'], $reference)
                : $queue->enqueue(message($reference, $n), $reference, envelopeFrom: 'shop@example.org', recipients: ['a@example.com']);
            fwrite($out, "$id $reference\n");
        }
    }
}

function kill_producers(Row $row, string $path, string $journal, int $kills): void
{
    $producers = [];
    for ($k = 0; $k < $kills; $k++) {
        while (count($producers) < TOGETHER) {
            $name = "$journal" . ($k + count($producers)) . bin2hex(pack('N', mt_rand()));
            $seed = mt_rand();
            $pid = start(static function () use ($path, $journal, $name, $seed): void {
                mt_srand($seed);
                produce($path, $journal, $name, "$path.printed");
            }, "$row->directory/errors");
            $producers[$pid] = microtime(true) + mt_rand(5, 150) / 1000;
        }
        asort($producers);
        $pid = array_key_first($producers);
        $wait = $producers[$pid] - microtime(true);
        $wait > 0 && usleep((int) ($wait * 1e6));
        unset($producers[$pid]);
        posix_kill($pid, SIGKILL);
        $how = ended($pid);
        $row->check($how === 'signal 9', "a producer ended by itself: $how");
    }
    foreach (array_keys($producers) as $pid) {
        posix_kill($pid, SIGKILL);
        ended($pid);
    }
}

/** @return int how many mails were printed */
function check_printed(Row $row, string $path): int
{
    $there = [];
    foreach (query($path, "SELECT q.id, q.reference, CAST(b.content AS TEXT) AS content FROM mail_queue q LEFT JOIN mail_body b ON b.id = q.id") as $one) {
        $there[$one['reference']][] = $one['id'];
        $row->check(str_contains((string) $one['content'], "Order $one[reference]\r\n"), "$one[reference] has not its message");
    }
    $printed = $lost = 0;
    foreach (file("$path.printed", FILE_IGNORE_NEW_LINES) as $line) {
        [$id, $reference, $last] = explode(' ', "$line ");
        for ($i = 0; $i < ($last === '' ? 1 : 10); $i++) {
            $printed++;
            $one = $last === '' ? $reference : substr($reference, 0, -1) . $i;
            $found = isset($there[$one]) && ($last !== '' || $there[$one] === [(int) $id]);
            $lost += !$found;
            $row->check($found, "printed and not there: $one");
        }
    }
    for ($i = 0; $i < PARKED_PAIRS; $i++) {
        $row->check(count($there["p$i"] ?? []) === 1, "the pair of p$i is there " . count($there["p$i"] ?? []) . ' times');
    }
    $row->count('lost', $lost);
    $row->count('unprinted', array_sum(array_map('count', $there)) - PARKED_PAIRS - $printed);
    return $printed;
}

function producer_kill(Row $row): void
{
    $kills = max(2, $row->options->kills ?? 100);
    foreach (['wal', 'truncate'] as $journal) {
        $path = "$row->directory/$journal.db";
        prepare($path, $journal);
        park_pairs($path, $journal);
        kill_producers($row, $path, $journal, intdiv($kills, 2));
        $row->count('mails', check_printed($row, $path));
        $row->count('kills', intdiv($kills, 2));
        check_database($row, $path);
    }
}
