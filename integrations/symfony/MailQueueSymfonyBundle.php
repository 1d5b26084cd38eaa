<?php

declare(strict_types=1);

namespace MailQueue\Bridge\Symfony;

use MailQueue\Enqueuer;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\ContainerInterface;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\HttpKernel\Bundle\Bundle;

/**
 * Makes the scheme "mailqueue" known to Symfony Mailer: MAILER_DSN=mailqueue://default works, with
 * the application's events and its log. Where the application has a service MailQueue\Enqueuer,
 * DSNs without a database use it.
 */
final class MailQueueSymfonyBundle extends Bundle
{
    public function build(ContainerBuilder $container): void
    {
        $optional = static fn (string $id): Reference
            => new Reference($id, ContainerInterface::NULL_ON_INVALID_REFERENCE);
        $container->register(MailQueueTransportFactory::class)
            ->setArguments([$optional('event_dispatcher'), null, $optional('logger'),
                $optional(Enqueuer::class)])
            ->addTag('mailer.transport_factory')
            ->addTag('monolog.logger', ['channel' => 'mailer']);
    }
}
