--TEST--
enqueueMany(): chunks of 100, generators, and the message that an error is about
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

function stored(MailQueue $queue): int
{
    return count($queue->jobs(limit: 10000));
}

function mails(int $count, ?callable $at = null): Generator
{
    for ($i = 0; $i < $count; $i++) {
        yield ($at ? $at($i) : null) ?? ['message' => mail_fields(subject: "mail $i"), 'reference' => "r$i"];
    }
}

final class Both implements IteratorAggregate
{
    public function getIterator(): Iterator { return new ArrayIterator([['reference' => 'c']]); }
}

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->another()->queue();
    var_dump($queue->enqueueMany([]), $queue->enqueueMany(new ArrayIterator()));
    var_dump($queue->enqueueMany(mails(250)), $queue->enqueueMany(mails(255)), stored($queue));
    var_dump($queue->enqueueMany(['x' => ['type' => 'a', 'sendAt' => new DateTime('@4102444800'), 'priority' => 3, 'maxAttempts' => 2, 'expiresAt' => 4102444900,
        'envelopeFrom' => '', 'recipients' => ['a@example.net'], 'message' => "Subject: x\n\nx", 'reference' => null]]));
    $last = array_slice($queue->jobs(limit: 10000), -1)[0];
    echo "$last->type $last->nextAttemptAt $last->expiresAt $last->priority $last->maxAttempts '$last->envelopeFrom' ", implode(',', $last->recipients), "\n";

    echo "order of pulling and storing:\n";
    $queue = $backend->another()->queue();
    $queue->enqueueMany(mails(201, function (int $i) use ($queue) {
        if ($i % 100 === 0) {
            echo "  at $i stored ", stored($queue), "\n";   // no transaction is open, so this same object can be used
        }
        return null;
    }));

    echo "errors:\n";
    foreach ([
        'no array' => 'text',
        'unknown key' => ['mesage' => null],
        'a NUL in a key' => ['recipients' => ["a@example.net"], "recipients\0" => ["b@example.net"]],
        'a number as key' => [null],
        'bad field' => ['message' => mail_fields(to: 'nobody')],
        'bad type' => ['reference' => 7],
        'bad priority' => ['priority' => 1000],
        'bad time' => ['sendAt' => 'now'],
        'bad recipients' => ['recipients' => 'a@example.net'],
        'no envelope' => ['message' => "Subject: x\n\n"],
    ] as $what => $bad) {
        $queue = $backend->another()->queue();
        echo "  $what: ", thrown(fn() => $queue->enqueueMany(mails(250, fn($i) => $i === 133 ? $bad : null))), ' / stored ', stored($queue), "\n";
    }
    $queue = $backend->another()->queue();
    echo '  thrown by the generator: ', thrown(fn() => $queue->enqueueMany(mails(250, fn($i) => $i === 205 ? throw new LogicException('enough') : null))),
        ' / stored ', stored($queue), "\n";
    $queue = $backend->another()->queue();
    echo '  a used generator: ', thrown(function () use ($queue) { $g = mails(3); foreach ($g as $_); $queue->enqueueMany($g); }), "\n";
    echo '  not iterable: ', strtok(thrown(fn() => $queue->enqueueMany(5)), ':'), "\n";

    echo "strange iterables:\n";
    $array = [['reference' => 'a'], ['reference' => 'b']];
    $array[0]['reference'] = &$array[1]['reference'];
    var_dump($queue->enqueueMany($array));
    var_dump($queue->enqueueMany(new Both()));
});

/* A database that fails between two chunks. */
$path = database();
$queue = new MailQueue($path, busyTimeout: 50);
$lock = new PDO("sqlite:$path");
$until = static fn(int $at): Generator => mails(250, function (int $i) use ($at, $lock) {
    $i === $at && $lock->exec('BEGIN IMMEDIATE');
    return null;
});
$said = static fn(int $at): string => preg_replace('/^.*\[busy\]: [^;]*;[^;]*;[^;]*/', '%', thrown(fn() => $queue->enqueueMany($until($at))));
echo 'busy: ', $said(150);
$lock->exec('ROLLBACK');
echo ' / stored ', stored($queue), "\n";
$queue = new MailQueue($path = database(), busyTimeout: 50);
$lock = new PDO("sqlite:$path");
echo 'busy at once: ', $said(50), "\n";
?>
--EXPECT--
int(0)
int(0)
int(250)
int(5)
int(255)
int(1)
a 4102444800 4102444900 3 2 '' a@example.net
order of pulling and storing:
  at 0 stored 0
  at 100 stored 100
  at 200 stored 200
errors:
  no array: MailQueue\MessageException [messages]: message 133: must be an array keyed by the names of enqueue()'s parameters, string given; the first 100 mails were stored before / stored 100
  unknown key: MailQueue\MessageException [mesage]: message 133: mesage: unknown key; known are message, reference, type, priority, sendAt, expiresAt, maxAttempts, envelopeFrom, recipients, dsn, relay and list; the first 100 mails were stored before / stored 100
  a NUL in a key: MailQueue\MessageException [recipients?]: message 133: recipients?: unknown key; known are message, reference, type, priority, sendAt, expiresAt, maxAttempts, envelopeFrom, recipients, dsn, relay and list; the first 100 mails were stored before / stored 100
  a number as key: MailQueue\MessageException [0]: message 133: 0: unknown key; known are message, reference, type, priority, sendAt, expiresAt, maxAttempts, envelopeFrom, recipients, dsn, relay and list; the first 100 mails were stored before / stored 100
  bad field: MailQueue\MessageException [to]: message 133: to: the address "nobody" has no "@"; write it as name@example.org, and a name that has a comma in double quotes; the first 100 mails were stored before / stored 100
  bad type: MailQueue\MessageException [reference]: message 133: reference: must be a string or null, int given; the first 100 mails were stored before / stored 100
  bad priority: ValueError: message 133: priority must be -100 … 100, not 1000; the first 100 mails were stored before / stored 100
  bad time: MailQueue\MessageException [sendAt]: message 133: sendAt: must be a DateTimeInterface, an int or null, string given; the first 100 mails were stored before / stored 100
  bad recipients: MailQueue\MessageException [recipients]: message 133: recipients: must be a list of strings or null, string given; the first 100 mails were stored before / stored 100
  no envelope: MailQueue\MessageException [envelopeFrom]: message 133: envelopeFrom: missing, and the message has no From to take it from; give envelopeFrom: "a@example.org", or "" for none; the first 100 mails were stored before / stored 100
  thrown by the generator: LogicException: enough / stored 200
  a used generator: Exception: Cannot traverse an already closed generator
  not iterable: TypeError
strange iterables:
int(1)
int(1)
busy: %; the first 100 mails were stored before / stored 100
busy at once: %
