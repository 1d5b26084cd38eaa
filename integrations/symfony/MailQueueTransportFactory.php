<?php

declare(strict_types=1);

namespace MailQueue\Bridge\Symfony;

use MailQueue\Bridge\Outbox;
use MailQueue\Enqueuer;
use Psr\EventDispatcher\EventDispatcherInterface;
use Psr\Log\LoggerInterface;
use Symfony\Component\Mailer\Exception\InvalidArgumentException;
use Symfony\Component\Mailer\Exception\UnsupportedSchemeException;
use Symfony\Component\Mailer\Transport\AbstractTransportFactory;
use Symfony\Component\Mailer\Transport\Dsn;
use Symfony\Component\Mailer\Transport\TransportInterface;
use Symfony\Contracts\HttpClient\HttpClientInterface;

/**
 * Creates the transport for "mailqueue://default", which uses the ini setting mailqueue.database,
 * and for "mailqueue://default?database=/path/app.sqlite&table=mail_queue". The options are those
 * of MailQueue\Bridge\Outbox::fromOptions().
 */
final class MailQueueTransportFactory extends AbstractTransportFactory
{
    private const OPTIONS = ['database', 'table', 'config_table', 'reference_column',
        'orphan_check', 'journal', 'durability', 'busy_timeout', 'type', 'priority',
        'max_attempts'];

    /** @param Enqueuer|null $queue for DSNs without a database; null: the ini setting's queue */
    public function __construct(
        ?EventDispatcherInterface $dispatcher = null,
        ?HttpClientInterface $client = null,
        ?LoggerInterface $logger = null,
        private ?Enqueuer $queue = null,
    ) {
        parent::__construct($dispatcher, $client, $logger);
    }

    public function create(Dsn $dsn): TransportInterface
    {
        if (!$this->supports($dsn)) {
            throw new UnsupportedSchemeException($dsn, 'mailqueue', $this->getSupportedSchemes());
        }
        if ($dsn->getHost() !== 'default') {
            throw new InvalidArgumentException('The host of a mailqueue DSN is "default": '
                . 'mailqueue://default?database=/path/of/the.sqlite');
        }
        $options = [];
        foreach (self::OPTIONS as $name) {
            $options[$name] = $dsn->getOption($name);
        }
        $options = array_filter($options, static fn ($value) => $value !== null);
        try {
            $outbox = Outbox::fromOptions($options, $this->logger, $this->dispatcher, $this->queue);
        } catch (\MailQueue\Exception $e) {
            throw new InvalidArgumentException("mailqueue DSN: {$e->getMessage()}", 0, $e);
        }
        return new MailQueueTransport(
            $outbox,
            $this->dispatcher,
            $this->logger,
            self::name($options)
        );
    }

    /** @return list<string> */
    protected function getSupportedSchemes(): array
    {
        return ['mailqueue'];
    }

    /** @param array<string, mixed> $options */
    private static function name(array $options): string
    {
        $database = is_string($options['database'] ?? null) ? $options['database'] : null;
        return 'mailqueue://default'
            . ($database === null ? '' : '?database=' . Outbox::shown($database));
    }
}
