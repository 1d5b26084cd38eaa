--TEST--
Comparing objects: queues by identity, backoffs by their arguments, jobs and figures by their properties
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
use MailQueue\Backoff;
$path = database();
$queue = new MailQueue($path);
$same = $queue;
$queue->enqueue(mail_fields());
foreach ([
    'a queue and itself' => [$queue, $same],
    'of one file' => [$queue, new MailQueue($path)],
    'of two files' => [$queue, new MailQueue(database())],
    'and true' => [$queue, true],
    'and null' => [$queue, null],
    'and another object' => [$queue, new stdClass()],
    'another object and it' => [new stdClass(), $queue],
    'steps' => [Backoff::steps(), Backoff::steps()],
    'other steps' => [Backoff::steps(), Backoff::steps(3)],
    'fixed' => [Backoff::fixed(15, 10), Backoff::fixed(15, 10)],
    'fixed, another delay' => [Backoff::fixed(15, 10), Backoff::fixed(16, 10)],
    'exponential, another jitter' => [Backoff::exponential(jitter: 0.1), Backoff::exponential(jitter: 0.2)],
    'exponential, another base' => [Backoff::exponential(10), Backoff::exponential(20)],
    'exponential, another maximum' => [Backoff::exponential(10, 20), Backoff::exponential(10, 30)],
    'two policies' => [Backoff::steps(5), Backoff::exponential()],
    'a backoff and another object' => [Backoff::steps(), new stdClass()],
    'a backoff and true' => [Backoff::steps(), true],
    'a job twice' => [$queue->job(1), $queue->job(1)],
    'two jobs' => [$queue->job(1), $queue->job($queue->enqueue(mail_fields()))],
    'figures' => [$queue->stats(), $queue->stats()],
] as $what => [$a, $b]) {
    echo "$what: ", var_export($a == $b, true), ' ', var_export($b == $a, true), "\n";
}
var_dump(in_array(new MailQueue(database()), [$queue]), array_search($same, [new MailQueue(database()), $queue]));
?>
--EXPECT--
a queue and itself: true true
of one file: false false
of two files: false false
and true: true true
and null: false false
and another object: false false
another object and it: false false
steps: true true
other steps: false false
fixed: true true
fixed, another delay: false false
exponential, another jitter: false false
exponential, another base: false false
exponential, another maximum: false false
two policies: false false
a backoff and another object: false false
a backoff and true: true true
a job twice: true true
two jobs: false false
figures: true true
bool(false)
int(1)
