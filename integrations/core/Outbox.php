<?php

declare(strict_types=1);

namespace MailQueue\Bridge;

use MailQueue\DatabaseException;
use MailQueue\Enqueuer;
use MailQueue\Exception;
use Psr\EventDispatcher\EventDispatcherInterface;
use Psr\Log\LoggerInterface;

/**
 * What all bridges do with a complete message: hand it to the queue with its envelope, and tell the
 * application's log and listeners.
 */
final class Outbox
{
    /** option => parameter of MailQueue's constructor */
    private const QUEUE_OPTIONS = [
        'table' => 'table',
        'config_table' => 'configTable',
        'reference_column' => 'referenceColumn',
        'orphan_check' => 'orphanCheck',
        'journal' => 'journal',
        'durability' => 'durability',
        'busy_timeout' => 'busyTimeout',
    ];
    /** option => parameter of enqueue() for messages without that X-MailQueue- field */
    private const MESSAGE_OPTIONS = [
        'type' => 'type',
        'priority' => 'priority',
        'max_attempts' => 'maxAttempts',
    ];
    private const NUMBERS = ['busy_timeout', 'priority', 'max_attempts'];

    private ?Enqueuer $queue;
    /** @var (\Closure(): Enqueuer)|null */
    private ?\Closure $open;

    /**
     * @param Enqueuer|(\Closure(): Enqueuer) $queue the queue, or a function that opens
     *        it at its first use
     * @param array<string, mixed> $defaults parameters of enqueue() for messages without the
     *        X-MailQueue- field of that name: "type", "priority", "maxAttempts"
     */
    public function __construct(
        Enqueuer|\Closure $queue,
        private array $defaults = [],
        private ?LoggerInterface $logger = null,
        private ?EventDispatcherInterface $dispatcher = null,
    ) {
        $this->queue = $queue instanceof Enqueuer ? $queue : null;
        $this->open = $queue instanceof \Closure ? $queue : null;
    }

    /**
     * Makes an outbox from the options of a DSN or a configuration array. Ignores other keys.
     *
     * @param array<string, mixed> $options database, table, config_table, reference_column,
     *        orphan_check, journal, durability, busy_timeout: for MailQueue's constructor;
     *        type, priority, max_attempts: for messages without that X-MailQueue- field
     * @param Enqueuer|null $queue used without a database in $options; null: then the queue of
     *        the ini setting mailqueue.database
     * @throws Exception for an option without a good value
     */
    public static function fromOptions(
        array $options,
        ?LoggerInterface $logger = null,
        ?EventDispatcherInterface $dispatcher = null,
        ?Enqueuer $queue = null,
    ): self {
        $options = array_filter($options, static fn ($value) => $value !== null);
        $arguments = self::queueArguments($options);
        $open = match (true) {
            $arguments !== [] => static fn () => new \MailQueue(...$arguments),
            default => $queue ?? \MailQueue::default(...),
        };
        $defaults = self::named($options, self::MESSAGE_OPTIONS);
        return new self($open, $defaults, $logger, $dispatcher);
    }

    /**
     * Opens the queue that $options name.
     *
     * @param array<string, mixed> $options as fromOptions() takes them
     * @throws Exception for an option without a good value, or a database that cannot be opened
     */
    public static function queue(array $options): \MailQueue
    {
        $given = array_filter($options, static fn ($value) => $value !== null);
        $arguments = self::queueArguments($given);
        return $arguments === [] ? \MailQueue::default() : new \MailQueue(...$arguments);
    }

    /** A database as pages and logs may show it: a server's DSN can have a password in it. */
    public static function shown(string $database): string
    {
        return preg_match('~^/|^[^:]*$~', $database) === 1 ? $database
            : strtok($database, ':') . ':…';
    }

    /**
     * Queues a message.
     *
     * @param string $message complete (RFC 5322); its X-MailQueue- fields are taken out and obeyed
     * @param string $from sender of the envelope
     * @param array<string> $recipients of the envelope
     * @param bool $cutLines cut lines of the body that are longer than SMTP allows
     * @return int|null the job's id; null: a mail with this reference and type was queued already
     * @throws Exception nothing of the message is stored
     */
    public function put(
        string $message,
        string $from,
        array $recipients,
        bool $cutLines = false,
    ): ?int {
        try {
            [$message, $options] = MessageText::takeOptions($message);
            $options += $this->defaults;
            $message = MessageText::cutLongLines($message, $cutLines);
            $id = $this->enqueue($message, $options
                + ['envelopeFrom' => $from, 'recipients' => array_values($recipients)]);
        } catch (Exception | \ValueError $e) {
            $error = $e instanceof Exception ? $e : new Exception($e->getMessage(), 0, $e);
            $this->failed($error, $from, $recipients);
            throw $error;
        }
        $this->done($id, $options, $from, $recipients);
        return $id;
    }

    /** @param array<string, mixed> $arguments */
    private function enqueue(string $message, array $arguments): ?int
    {
        $opened = $this->queue === null && $this->open !== null;
        try {
            $this->queue = $opened ? ($this->open)() : $this->queue;
            return $this->queue?->enqueue($message, ...$arguments);
        } catch (DatabaseException $e) {
            if ($this->open === null) {
                throw $e;
            }
            $this->queue = null;
            // "replaced": the file was restored or renamed during a long-lived process. What was
            // written to the old file is not in the queue, so open the new one and try again.
            if ($opened || $e->reason !== 'replaced') {
                throw $e;
            }
        }
        return $this->enqueue($message, $arguments);
    }

    /**
     * @param array<string, mixed> $options
     * @param array<string> $recipients
     */
    private function done(?int $id, array $options, string $from, array $recipients): void
    {
        $type = $options['type'] ?? 'mail';
        $reference = $options['reference'] ?? null;
        self::tell('logger', fn () => $this->logger?->info(
            $id === null ? 'Mail "{reference}" of type {type} was queued already'
                : 'Mail queued as job {id} for {recipients} recipients',
            ['id' => $id, 'type' => $type, 'reference' => $reference,
                'recipients' => count($recipients)],
        ));
        self::tell('event dispatcher', fn () => $this->dispatcher?->dispatch(
            new MessageQueued($id, $type, $reference, $from, array_values($recipients)),
        ));
    }

    /** @param array<string> $recipients */
    private function failed(Exception $error, string $from, array $recipients): void
    {
        self::tell('logger', fn () => $this->logger?->error(
            'Mail not queued: {error}',
            ['error' => $error->getMessage(), 'recipients' => count($recipients),
                'exception' => $error]
        ));
        self::tell('event dispatcher', fn () => $this->dispatcher?->dispatch(
            new MessageNotQueued($error, $from, array_values($recipients)),
        ));
    }

    /**
     * Calls the application's log or listeners. What they throw goes to PHP's error log only: it
     * must neither make queued mail look unqueued nor hide why a mail was not queued.
     */
    private static function tell(string $whom, \Closure $call): void
    {
        try {
            $call();
        } catch (\Throwable $e) {
            error_log("mailqueue: the $whom threw " . $e::class . ": {$e->getMessage()} "
                . "({$e->getFile()}:{$e->getLine()})");
        }
    }

    /**
     * Arguments of MailQueue's constructor; empty if $options has no database.
     *
     * @param array<string, mixed> $options
     * @return array<string, mixed>
     */
    private static function queueArguments(array $options): array
    {
        $arguments = self::named($options, self::QUEUE_OPTIONS);
        if (!isset($options['database']) && $arguments) {
            throw new Exception(key(array_intersect_key(self::QUEUE_OPTIONS, $options))
                . ': belongs to a database; give the option "database" too');
        }
        return isset($options['database']) ? ['database' => $options['database']] + $arguments : [];
    }

    /**
     * The values of the given options, keyed by the names of their parameters.
     *
     * @param array<string, mixed> $options
     * @param array<string, string> $names
     * @return array<string, mixed>
     */
    private static function named(array $options, array $names): array
    {
        $arguments = [];
        foreach (array_intersect_key($names, $options) as $option => $parameter) {
            $value = $options[$option];
            if (in_array($option, self::NUMBERS, true)) {
                $value = filter_var($value, FILTER_VALIDATE_INT);
                if ($value === false) {
                    throw new Exception("$option: not a number; give a whole one");
                }
            }
            $arguments[$parameter] = $value;
        }
        return $arguments;
    }
}
