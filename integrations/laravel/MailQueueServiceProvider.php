<?php

declare(strict_types=1);

namespace MailQueue\Bridge\Laravel;

use Illuminate\Mail\MailManager;
use Illuminate\Support\ServiceProvider;
use MailQueue\Bridge\Symfony\MailQueueTransportFactory;
use MailQueue\Enqueuer;
use Psr\EventDispatcher\EventDispatcherInterface;
use Symfony\Component\Mailer\Transport\Dsn;
use Symfony\Component\Mailer\Transport\TransportInterface;

/**
 * Adds the transport "mailqueue" to Laravel, for the mailers of config/mail.php. It stores mail in
 * the container's MailQueue\Enqueuer if one is bound, otherwise in the ini setting's queue. A bound
 * PSR-14 dispatcher gets the events. "log_channel" in the mailer's configuration names the log.
 */
final class MailQueueServiceProvider extends ServiceProvider
{
    public function boot(): void
    {
        $this->callAfterResolving('mail.manager', function (MailManager $manager): void {
            $manager->extend('mailqueue', $this->transport(...));
        });
    }

    /** @param array<string, mixed> $config of the mailer */
    private function transport(array $config): TransportInterface
    {
        $channel = $config['log_channel'] ?? null;
        $factory = new MailQueueTransportFactory(
            $this->bound(EventDispatcherInterface::class),
            null,
            $channel === null ? null : $this->app->make('log')->channel($channel),
            $this->bound(Enqueuer::class),
        );
        return $factory->create(new Dsn('mailqueue', 'default', options: $config));
    }

    /**
     * @template T of object
     * @param class-string<T> $interface
     * @return T|null
     */
    private function bound(string $interface): ?object
    {
        return $this->app->bound($interface) ? $this->app->make($interface) : null;
    }
}
