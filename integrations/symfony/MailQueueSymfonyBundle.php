<?php

declare(strict_types=1);

namespace MailQueue\Bridge\Symfony;

use MailQueue\Enqueuer;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\ContainerInterface;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\HttpKernel\Bundle\Bundle;

/**
 * Registers the scheme "mailqueue" with Symfony Mailer: MAILER_DSN=mailqueue://default then works
 * with the application's events and log. A DSN without a database uses the application's service
 * MailQueue\Enqueuer if there is one.
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
