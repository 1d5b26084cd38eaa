<?php

// Large mails in little memory: 60 of 20 MB with 50 sessions, 150 of 5 MB, the address space limited
// to 600 MB, while another process enqueues a small mail each 10 ms. All are sent, the worker's peak
// is at most 200 MB, and how long those enqueues take is printed, beside the same without a worker.

declare(strict_types=1);

namespace Torture;

use MailQueue;

const ADDRESS_SPACE_KB = 600_000;
const PEAK_MB = 200;

/** Messages of this many bytes, in lines. */
function fill_large(string $path, string $journal, int $mails, int $bytes): void
{
    apart(static function () use ($path, $journal, $mails, $bytes): void {
        $queue = queue($path, $journal);
        $text = str_repeat(str_repeat('x', 76) . "\r\n", intdiv($bytes, 78));
        for ($n = 0; $n < $mails; $n++) {
            $queue->enqueue(message("t$n", 0) . $text, "t$n", envelopeFrom: 'shop@example.org', recipients: ["a$n@example.com"]);
        }
    });
}

/** Enqueues until the file $stop exists. @return list<float> duration of each, ms, ascending */
function enqueue_beside(string $path, string $journal, string $stop): array
{
    return begin(static function () use ($path, $journal, $stop): array {
        $queue = queue($path, $journal);
        $times = [];
        for ($n = 0; !is_file($stop); $n++) {
            $begun = hrtime(true);
            $queue->enqueue(message("s$n", 0), "s$n", envelopeFrom: 'shop@example.org', recipients: ["a$n@example.com"], sendAt: time() + 86_400);
            $times[] = (hrtime(true) - $begun) / 1e6;
            usleep(10_000);
        }
        sort($times);
        return $times;
    });
}

function p99(array $times): int
{
    return (int) round($times[(int) ((count($times) - 1) * 0.99)]);
}

/** The largest resident set of a process before it ends, in MB, and how it ended. */
function watch_peak(int $pid, float $seconds): array
{
    $peak = 0;
    $until = microtime(true) + $seconds;
    while (($how = ended($pid, false)) === '') {
        if (preg_match('/VmHWM:\s+(\d+)/', (string) @file_get_contents("/proc/$pid/status"), $match)) {
            $peak = max($peak, intdiv((int) $match[1], 1000));
        }
        if (microtime(true) > $until) {
            posix_kill($pid, SIGKILL);
            return [$peak, ended($pid) . ", after $seconds s"];
        }
        usleep(10_000);
    }
    return [$peak, $how];
}

function send_large(Row $row, string $journal, int $mails, int $megabytes): void
{
    $name = "$journal-$megabytes";
    $directory = "$row->directory/$name";
    mkdir($directory, 0700);
    $path = "$directory/mail.db";
    fill_large($path, $journal, $mails, $megabytes * 1_000_000);
    $alone = enqueue_beside($path, $journal, "$directory/stop-alone");
    usleep(3_000_000);
    touch("$directory/stop-alone");
    $alone = result($alone);

    $sink = new Sink($directory);
    $beside = enqueue_beside($path, $journal, "$directory/stop");
    $limited = ['/bin/sh', '-c', 'ulimit -v ' . ADDRESS_SPACE_KB . '; exec "$@"', 'sh'];
    $work = command('work', '--database', $path, '--transport', $sink->dsn(), '--connections', '50', '--time-limit', '3600', '--log', "$path.log");
    [$peak, $how] = watch_peak(execute([...$limited, ...$work], "$directory/run"), 120 + $mails * $megabytes / 2);
    touch("$directory/stop");
    $beside = result($beside);
    $sink->stop();

    $row->check($how === 'exit 0', "$name: $how: " . @file_get_contents("$directory/run"));
    $sent = count(array_unique(array_column($sink->accepted(), 'to')));
    $row->check($sent === $mails, "$name: $sent of $mails sent");
    $row->check(count($sink->accepted()) === $mails, "$name: some were sent twice");
    $row->check($peak <= PEAK_MB, "$name: the worker had $peak MB");
    $left = value($path, "SELECT count(*) FROM mail_body WHERE length(content) > 100000");
    $row->check($left === 0, "$name: $left messages are left");
    foreach (['mails' => $mails, 'MB' => $peak, 'p99-ms' => p99($beside), 'alone-ms' => p99($alone), 'max-ms' => (int) end($beside)] as $what => $figure) {
        $row->count("$name-$what", $figure);
    }
    remove_tree($path);
}

function large_mails(Row $row): void
{
    foreach (['wal', 'truncate'] as $journal) {
        send_large($row, $journal, $row->options->mails ?? 60, 20);
        send_large($row, $journal, intdiv(5 * ($row->options->mails ?? 60), 2), 5);
    }
}
