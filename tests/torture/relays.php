<?php

// Two relays take mail in turn; one dies, comes back, throttles, and recovers. Meanwhile the other
// one goes on at its own rate, and nothing is parked:
//
//   dead       the relay's process is killed, and started again
//   throttles  the relay defers each mail and names a time (450 4.7.1 try again in 30 seconds)
//
// In the end each mail is accounted for: nothing is lost, and a copy needs an uncertain attempt.
//
// Both relays answer each mail after DOT_MS, so their rate is that of their sessions.

declare(strict_types=1);

namespace Torture;

const RELAY_SESSIONS = 4;
const DOT_MS = 100;
const FAULT_S = 60;    // by then the healthy relay has 80 % of its own rate
const RECOVERY_S = 120; // by then both have 80 % of theirs
const WINDOW_S = 10;
const HEALTHY = 'at dot delay-ms=' . DOT_MS . "\n";
const THROTTLED = "at mail reply=\"450 4.7.1 try again in 30 seconds\"\n";

/** Mails a second that the relays accepted within the last seconds. @param list<Sink> $sinks */
function rate(array $sinks, float $seconds = WINDOW_S): float
{
    $since = microtime(true) - $seconds;
    $count = 0;
    foreach ($sinks as $sink) {
        $count += count(array_filter($sink->times(), static fn(float $at): bool => $at >= $since));
    }
    return $count / $seconds;
}

/** Waits until the rate is there. @return float how long that took */
function reaches(Row $row, string $what, array $sinks, float $rate, float $most): float
{
    $begun = microtime(true);
    sleep(WINDOW_S);
    while (rate($sinks) < $rate && microtime(true) - $begun < $most) {
        usleep(500_000);
    }
    $is = rate($sinks);
    $row->check($is >= $rate, sprintf('%s: %.1f mails a second after %d s, not %.1f', $what, $is, $most, $rate));
    return microtime(true) - $begun;
}

/** One fault of the first relay, and its end. @param list<Sink> $sinks */
function fault(Row $row, string $name, float $healthy, Sink $second, array &$firsts, callable $begin, callable $end): void
{
    $begin();
    $after = reaches($row, "$name: the healthy relay", [$second], 0.8 * $healthy / 2, FAULT_S);
    sleep((int) max(0, FAULT_S - $after)); // the fault lasts a minute
    $row->check(rate([$second]) >= 0.8 * $healthy / 2, "$name: the healthy relay does not keep its rate");
    $end();
    $back = reaches($row, "$name: both relays", [...$firsts, $second], 0.8 * $healthy, RECOVERY_S);
    $row->count("$name: healthy after s", (int) ceil($after - WINDOW_S));
    $row->count("$name: both after s", (int) ceil($back - WINDOW_S));
}

function relays(Row $row): void
{
    $path = "$row->directory/mail.db";
    $mails = $row->options->mails ?? 40_000;
    prepare($path, 'wal');
    apart(static function () use ($path, $mails): void {
        fill(queue($path), 1, $mails);
    });
    foreach (['first', 'again', 'second'] as $name) {
        mkdir("$row->directory/$name", 0700);
    }
    $firsts = [new Sink("$row->directory/first", HEALTHY)];
    $second = new Sink("$row->directory/second", HEALTHY);
    $port = $firsts[0]->port;
    $transport = "roundrobin(smtp://127.0.0.1:$port smtp://127.0.0.1:$second->port)";
    $worker = execute(
        command('work', '--daemon', '--connections', (string) RELAY_SESSIONS, '--log', "$path.log"),
        "$row->directory/output",
        ['MAILQUEUE_DATABASE' => $path, 'MAILQUEUE_TRANSPORT' => $transport]
    );
    wait_until('mail', static fn(): bool => rate([$second], 1) > 0);
    sleep(2 * WINDOW_S);
    $healthy = rate([$firsts[0], $second]);
    $row->count('mails a second', (int) $healthy);
    fault($row, 'dead', $healthy, $second, $firsts, static fn() => $firsts[0]->stop(), static function () use ($row, $port, &$firsts): void {
        $firsts[] = new Sink("$row->directory/again", HEALTHY, $port);
    });
    fault($row, 'throttles', $healthy, $second, $firsts, static fn() => $firsts[1]->rules(THROTTLED), static fn() => $firsts[1]->rules(HEALTHY));
    posix_kill($worker, SIGTERM);
    $row->check(ended_within($worker, 60) === 'exit 0', 'the worker does not end in order');
    foreach (rows($path) as $job) {
        if ($job['status'] === 'parked' || $job['attempts'] > 2) {
            $row->problem("mail $job[id] is $job[status] after $job[attempts] attempts: $job[last_error]");
        }
    }
    $row->check(value($path, 'SELECT count(*) FROM mail_queue') > 0, 'the mail did not suffice: give more with --mails');
    told($row, "$path.log", $port, $second->port);
    $firsts[1]->stop();
    $second->stop();
    judge($row, $path, [...$firsts, $second], $mails - 1, 1);
}

/** The log tells which relay failed, why, and for how long it was left out. */
function told(Row $row, string $log, int $first, int $second): void
{
    $reasons = $relays = [];
    foreach (events($log, 'relay_trouble') as $event) {
        $reasons[] = $event['reply'];
        $relays[] = parse_url($event['relay'], PHP_URL_PORT);
        $row->check(($event['next_attempt_at'] ?? '') !== '', 'an entry does not say until when');
    }
    $row->count('pauses', count($reasons));
    $row->check(array_unique($relays) === [$first], 'paused: ' . implode(' ', $relays));
    foreach (['/connect|refused/i' => 'dead', '/450 4\.7\.1 try again in 30 seconds/' => 'throttles'] as $reason => $fault) {
        $row->check(preg_grep($reason, $reasons) !== [], "the log does not say that it $fault: " . implode('; ', array_unique($reasons)));
    }
}
