--TEST--
DatabaseException and MessageException, as an application's tests throw them
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
use MailQueue\DatabaseException;
use MailQueue\MessageException;

final class Locked extends DatabaseException
{
    protected $message = 'its own';
}
final class Fake implements MailQueue\Enqueuer
{
    public function enqueue(array|string|object|null $message = null, ?string $reference = null, string $type = 'mail', int $priority = 0, DateTimeInterface|int|null $sendAt = null, DateTimeInterface|int|null $expiresAt = null, ?int $maxAttempts = null, ?string $envelopeFrom = null, ?array $recipients = null, ?array $dsn = null, ?string $relay = null, ?string $list = null): ?int
    {
        echo get_debug_type($message), ' ', json_encode($dsn), "\n";
        throw new DatabaseException('locked', reason: 'busy');
    }
    public function enqueueMany(iterable $messages): int
    {
        throw new MessageException('to: no address', field: 'to');
    }
}
function show(MailQueue\Exception $e): void
{
    echo get_class($e), ': ', json_encode([$e->getMessage(), $e->getCode(), $e->getPrevious()?->getMessage(), $e->reason ?? $e->field, $e->getFile() === __FILE__]), "\n";
}
function caught(callable $f): void
{
    try {
        $f();
    } catch (MailQueue\Exception $e) {
        show($e);
    }
}
/* Code that takes a queue accepts the fake, with all of a queue's arguments. */
$send = fn(MailQueue\Enqueuer $queue) => $queue->enqueue(new ArrayObject(), dsn: ['notify' => 'failure']);
caught(fn() => $send(new Fake()));
caught(fn() => (new Fake())->enqueueMany([]));

$previous = new LogicException('before');
foreach ([new DatabaseException(), new DatabaseException('text'), new DatabaseException('text', 7, $previous, 'full'), new Locked(reason: 'io'),
    new MessageException(), new MessageException('text', 3, $previous, 'attachments[0]')] as $e) {
    show($e);
    show(unserialize(serialize($e)));
}
foreach ([
    'a reason that is not a string' => fn() => new DatabaseException('x', reason: []),
    'writing' => function () { $e = new DatabaseException('x'); $e->reason = 'y'; },
    'twice' => fn() => (new DatabaseException('x'))->__construct('y', reason: 'z'),
    'a clone' => fn() => clone new DatabaseException('x'),
    'no constructor' => fn() => (new ReflectionClass(DatabaseException::class))->newInstanceWithoutConstructor()->reason,
] as $what => $deed) {
    echo "$what: ", strtok(thrown($deed), ':'), "\n";   // the engine's wording differs by version
}
echo "a real one: ";
$queue = new MailQueue(database());
try {
    $queue->enqueue(['to' => 'nobody'] + mail_fields());
} catch (MessageException $e) {
    show(unserialize(serialize($e)));
}
?>
--EXPECT--
ArrayObject {"notify":"failure"}
MailQueue\DatabaseException: ["locked",0,null,"busy",true]
MailQueue\MessageException: ["to: no address",0,null,"to",true]
MailQueue\DatabaseException: ["",0,null,"database",true]
MailQueue\DatabaseException: ["",0,null,"database",true]
MailQueue\DatabaseException: ["text",0,null,"database",true]
MailQueue\DatabaseException: ["text",0,null,"database",true]
MailQueue\DatabaseException: ["text",7,"before","full",true]
MailQueue\DatabaseException: ["text",7,"before","full",true]
Locked: ["its own",0,null,"io",true]
Locked: ["its own",0,null,"io",true]
MailQueue\MessageException: ["",0,null,"message",true]
MailQueue\MessageException: ["",0,null,"message",true]
MailQueue\MessageException: ["text",3,"before","attachments[0]",true]
MailQueue\MessageException: ["text",3,"before","attachments[0]",true]
a reason that is not a string: TypeError
writing: Error
twice: Error
a clone: Error
no constructor: Error
a real one: MailQueue\MessageException: ["to: the address \"nobody\" has no \"@\"; write it as name@example.org, and a name that has a comma in double quotes",0,null,"to",true]
