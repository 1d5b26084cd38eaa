<?php

// A relay that allows fewer sessions than are configured: what 50 reach of the rate of the number
// that it allows, and how soon all 50 work after it allows them. It says 421 to connections that
// are too many, or 432 to their mails, as Exchange Online does.

declare(strict_types=1);

namespace Bench;

use MailQueue;

const TOO_MANY = [
    'connect' => 'at connect open=%d- reply="421 4.7.0 too many connections"',
    // The youngest connections are those that are too many.
    'dot' => 'at dot open=%d- reply="432 4.3.2 Concurrent connections limit exceeded"',
];

/**
 * Sends mails with this many sessions; `$then` runs in the parent meanwhile.
 *
 * @return array{rate: float, again: ?float, attempts: int}
 */
function limited_run(int $count, int $sessions, int $port, ?callable $then = null): array
{
    $path = filled('wal', $count);
    $child = start(static function () use ($path, $sessions, $port, $count): array {
        $again = null;
        $attempts = 0;
        $report = (new MailQueue($path))->runWorker(
            "smtp://127.0.0.1:$port?pipelining=1",
            connections: $sessions,
            batch: 100,
            log: '',
            onEvent: static function (array $event) use (&$again, &$attempts): void {
                $attempts += (int) in_array($event['event'], ['try_later', 'uncertain'], true);
                $isAll = $event['event'] === 'relay_sessions'
                    && str_ends_with($event['reply'], 'again');
                $again ??= $isAll ? microtime(true) : null;
            },
        );
        if ($report->sent !== $count) {
            $why = "$report->end $report->reason";
            throw new \RuntimeException("only $report->sent of $count were sent: $why");
        }
        return ['rate' => $count / $report->seconds, 'again' => $again, 'attempts' => $attempts];
    });
    $then === null || $then();
    $got = result($child);
    remove($path);
    return $got;
}

function bench_sessions(Results $results, bool $quick): void
{
    [$allowed, $count] = [10, $quick ? 1500 : 3000];
    foreach (TOO_MANY as $at => $rule) {
        file_put_contents($script = directory() . '/script', '');
        $sink = new Sink('--delay-dot-ms', '200', '--script', $script);
        $limit = static function (?int $most) use ($sink, $script, $rule): void {
            file_put_contents($script, $most === null ? '' : sprintf($rule, $most + 1));
            $sink->signal(SIGHUP);
        };
        $ten = limited_run($count, $allowed, $sink->port);
        $limit($allowed);
        $fifty = limited_run($count, 50, $sink->port);
        $name = $at === 'connect' ? '421 at the connect' : '432 at the dot';
        $results->ratio("50 sessions where 10 are allowed, $name", $fifty['rate'] / $ten['rate'],
            atLeast: 0.9, detail: ['10 sessions, mails/s' => $ten['rate'],
                '50 sessions, mails/s' => $fifty['rate']]);
        $raised = 0.0;
        $third = limited_run(12_000, 50, $sink->port,
            static function () use ($limit, &$raised): void {
                sleep(40); // by then the number rises only every half minute
                $limit(null);
                $raised = microtime(true);
            });
        $results->ratio('  all 50 again after so many seconds', $third['again'] === null ? INF
            : $third['again'] - $raised, atMost: 120);
        $results->ratio('  attempts that were counted', $fifty['attempts'] + $third['attempts'],
            atMost: 0);
        $sink->stop();
    }
}
