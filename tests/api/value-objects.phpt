--TEST--
Job, Stats, Report and Backoff are final and readonly, and only the extension makes them
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
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $queue->enqueue(mail_fields(), 'order 7', 'invoice', 5, maxAttempts: 3, expiresAt: time() + 3600);
    $objects = [
        $queue,
        $queue->job(1),
        $queue->stats(),
        $queue->runWorker('null://null', log: ''),
        MailQueue\Backoff::steps(),
    ];
    foreach ($objects as $object) {
        $class = new ReflectionClass($object);
        echo $class->getName(), $class->isFinal() ? ' final' : '', "\n";
        foreach (['a constructor from outside' => fn() => $object instanceof MailQueue ?: new ($class->getName())(),
            'no constructor' => fn() => $class->newInstanceWithoutConstructor(),
            'clone' => fn() => clone $object,
            'serialize' => fn() => serialize($object),
            'unserialize' => fn() => unserialize('O:' . strlen($class->getName()) . ':"' . $class->getName() . '":0:{}'),
            'a property of its own' => function () use ($object) { $object->nonsense = 1; },
            'writing' => function () use ($object, $class) {
                foreach ($class->getProperties() as $property) {
                    $object->{$property->getName()} = $property->getValue($object);
                }
            },
            'unset' => function () use ($object, $class) {
                foreach ($class->getProperties() as $property) {
                    unset($object->{$property->getName()});
                }
            },
        ] as $what => $deed) {
            echo "  $what: ", strtok(thrown($deed), ':'), "\n";   // the engine's wording differs by version
        }
        foreach ($class->getProperties() as $property) {
            $value = $property->getValue($object);
            $type = $property->getType();
            $fits = $value === null ? $type->allowsNull()
                : ($value instanceof UnitEnum ? $value::class : get_debug_type($value)) === $type->getName();
            if (!$property->isReadOnly() || !$fits) {
                echo "  $property is ", get_debug_type($value), "\n";
            }
        }
    }
    echo "again constructed: ", thrown(fn() => $queue->__construct(database())), "\n";
});
?>
--EXPECT--
MailQueue final
  a constructor from outside: nothing
  no constructor: ReflectionException
  clone: Error
  serialize: Exception
  unserialize: Exception
  a property of its own: Error
  writing: nothing
  unset: nothing
MailQueue\Job final
  a constructor from outside: Error
  no constructor: ReflectionException
  clone: Error
  serialize: Exception
  unserialize: Exception
  a property of its own: Error
  writing: Error
  unset: Error
MailQueue\Stats final
  a constructor from outside: Error
  no constructor: nothing
  clone: nothing
  serialize: Exception
  unserialize: Exception
  a property of its own: Error
  writing: Error
  unset: Error
MailQueue\Report final
  a constructor from outside: Error
  no constructor: nothing
  clone: nothing
  serialize: Exception
  unserialize: Exception
  a property of its own: Error
  writing: Error
  unset: Error
MailQueue\Backoff final
  a constructor from outside: Error
  no constructor: nothing
  clone: nothing
  serialize: Exception
  unserialize: Exception
  a property of its own: Error
  writing: Error
  unset: Error
again constructed: Error: The MailQueue object is constructed already
