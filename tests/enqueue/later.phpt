--TEST--
enqueue(): without a message; references, priorities, times
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';

final class Clock extends DateTimeImmutable
{
    public function getTimestamp(): int { return 4102444800; }
}

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $now = time();

    $bare = $queue->job($queue->enqueue());
    var_dump($bare->message, $bare->recipients, $bare->envelopeFrom, $bare->reference, $bare->type, $bare->priority,
        $bare->maxAttempts, $bare->expiresAt, $bare->status, abs($bare->nextAttemptAt - $now) < 100, str_ends_with($bare->messageId, '@localhost>'));
    $addressed = $queue->job($queue->enqueue(null, 'R1', recipients: ['a@example.net', 'a@EXAMPLE.net', 'A@example.net', 'a@example.net'], envelopeFrom: 'me@example.org'));
    echo implode(' ', $addressed->recipients), " $addressed->envelopeFrom ", strstr($addressed->messageId, '@'), "\n";

    echo "the same reference:\n";
    var_dump($queue->enqueue(null, 'R1'), $queue->enqueue(null, 'R1', 'other') > 0, $queue->enqueue(null, 'r1') > 0);
    $parked = $queue->enqueue(null, 'R2');
    $queue->hold([$parked]);
    $again = $queue->enqueue(null, 'R2');
    var_dump($again > $parked, $queue->job($parked));

    $soon = $now + 1000;
    foreach ([$soon, new DateTime("@$soon"), new DateTimeImmutable('2050-01-01 12:00', new DateTimeZone('Europe/Berlin')), new Clock(), 0, null] as $time) {
        $expires = is_object($time) ? (clone $time)->modify('+1 day') : ($time ? $time + 10 : null);
        $expires = $time instanceof Clock ? 4102444801 : $expires;
        $job = $queue->job($queue->enqueue(null, sendAt: $time, expiresAt: $expires));
        $show = fn(?int $at): string => $at === null ? 'never' : ($at > $now + 90000 ? gmdate('c', $at) : ($at - $now < 100 ? 'now' : 'now + ' . $at - $now));
        echo get_debug_type($time), ': from ', $show($job->nextAttemptAt), ' to ', $show($job->expiresAt), "\n";
    }
});
?>
--EXPECT--
NULL
NULL
NULL
NULL
string(4) "mail"
int(0)
NULL
NULL
enum(MailQueue\Status::Pending)
bool(true)
bool(true)
a@example.net A@example.net me@example.org @example.org>
the same reference:
NULL
bool(true)
bool(true)
bool(true)
NULL
int: from now + 1000 to now + 1010
DateTime: from now + 1000 to now + 87400
DateTimeImmutable: from 2050-01-01T11:00:00+00:00 to 2050-01-02T11:00:00+00:00
Clock: from 2100-01-01T00:00:00+00:00 to 2100-01-01T00:00:01+00:00
int: from now to never
null: from now to never
